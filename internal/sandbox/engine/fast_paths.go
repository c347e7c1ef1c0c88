//go:build amd64 || arm64

package sandbox

import (
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

// each is map, filter, forEach, some and every for a list whose elements stand
// together. The function that it calls may change the list.
func (e *engine) each(own native) native {
	return func(tls *libc.TLS, ctx uintptr, this lib.TJSValue, argc int32, argv uintptr, magic int32) lib.TJSValue {
		n, ok := e.plainList(this)
		if !ok || argc < 1 || n == 0 {
			return own(tls, ctx, this, argc, argv, magic)
		}
		given := at[lib.TJSValue](argv, int(argc))
		if lib.XJS_IsFunction(tls, ctx, given[0]) == 0 {
			return own(tls, ctx, this, argc, argv, magic)
		}
		w := walk{engine: e, list: this, n: n, f: given[0], self: undefined(), kind: magic}
		if argc > 1 {
			w.self = given[1]
		}
		return w.whole()
	}
}

// plainList tells how many elements a list has that stand together; false: it
// is no such list, or not one of Array alone.
func (e *engine) plainList(v lib.TJSValue) (n int, ok bool) {
	if tagOf(v) != lib.EJS_TAG_OBJECT {
		return 0, false
	}
	o := objectOf(v)
	if o.Fclass_id != lib.EJS_CLASS_ARRAY {
		return 0, false
	}
	if shape := shapeOf(o); shape.Fproto != e.arrayProto || shape.Fprop_count != 1 {
		return 0, false
	}
	length, elements := slots(o, 1)[0].Fu.Fvalue, elementsOf(o)
	return len(elements), tagOf(length) == lib.EJS_TAG_INT && uint64(len(elements)) == length.Fu.Fuint641
}

// walk is one call of such a function.
type walk struct {
	*engine

	list, f, self lib.TJSValue
	n             int   // elements when it began
	kind          int32 // the engine's number of the function

	made   lib.TJSValue // the list that map and filter make; nobody else has it yet
	stairs []lib.TJSValue
}

func (w *walk) whole() lib.TJSValue {
	const size = 3 * int(unsafe.Sizeof(lib.TJSValue{}))
	args := w.tls.Alloc(size)
	defer w.tls.Free(size)
	hold(w.list)
	defer w.leave()
	w.made = undefined()
	if w.kind == lib.Mspecial_map || w.kind == lib.Mspecial_filter {
		if w.made = w.room(); threw(w.made) {
			return w.made
		}
	}
	for k := range w.n {
		ends, ok := w.step(k, args)
		switch {
		case !ok:
			w.release(w.made)
			return exception()
		case ends:
			return truth(w.kind == lib.Mspecial_some)
		}
	}
	return w.end()
}

func (w *walk) leave() {
	for _, o := range w.stairs {
		w.release(o)
	}
	w.release(w.list)
}

// room makes a list that has room for all and no elements.
func (w *walk) room() lib.TJSValue {
	v := lib.XJS_NewArray(w.tls, w.ctx)
	if threw(v) {
		return v
	}
	values := lib.Xjs_malloc(w.tls, w.ctx, lib.Tsize_t(w.n)*lib.Tsize_t(unsafe.Sizeof(lib.TJSValue{}))) //nolint:gosec // as many as stand in memory already
	if values == 0 {
		w.release(v)
		return exception()
	}
	list := union(&objectOf(v).Fu.Farray)
	list.Fu.Fvalues, list.Fu1.Fsize = values, uint32(w.n) //nolint:gosec // a count of the engine
	return v
}

// step calls the function with an element, if it is still there. ends: there
// is no need to go on.
func (w *walk) step(k int, args uintptr) (ends, ok bool) {
	v, there := w.element(k)
	if !there || threw(v) {
		return false, !there
	}
	given := at[lib.TJSValue](args, 3)
	given[0], given[1], given[2] = v, newInt(int32(k)), w.list //nolint:gosec // a count of the engine
	result := lib.XJS_Call(w.tls, w.ctx, w.f, w.self, 3, args)
	ok = !threw(result)
	switch {
	case !ok:
	case w.kind == lib.Mspecial_map:
		if k == 0 && w.n > fewSteps {
			w.stairs = w.engine.stairs(result)
		}
		ok = w.put(k, result)
	case w.kind == lib.Mspecial_forEach:
		w.release(result)
	default:
		yes := w.truthy(result)
		w.release(result)
		switch {
		case w.kind != lib.Mspecial_filter:
			ends = yes == (w.kind == lib.Mspecial_some)
		case yes:
			return false, w.put(len(elementsOf(objectOf(w.made))), v)
		}
	}
	w.release(v)
	return ends, ok
}

// element is that at k, held; an exception, or not there.
func (w *walk) element(k int) (v lib.TJSValue, there bool) {
	if all := elementsOf(objectOf(w.list)); k < len(all) {
		hold(all[k])
		return all[k], true
	}
	name := lib.XJS_NewAtomUInt32(w.tls, w.ctx, uint32(k)) //nolint:gosec // a count of the engine
	defer lib.XJS_FreeAtom(w.tls, w.ctx, name)
	switch found := lib.XJS_HasProperty(w.tls, w.ctx, w.list, name); {
	case found < 0:
		return exception(), true
	case found == 0:
		return v, false
	}
	return lib.XJS_GetPropertyInternal(w.tls, w.ctx, w.list, name, w.list, 0), true
}

// put gives the list that is made an element, which it takes over. One that
// does not stand behind all others is the engine's to put.
func (w *walk) put(k int, v lib.TJSValue) bool {
	list := union(&objectOf(w.made).Fu.Farray)
	if k != int(list.Fcount) || k >= w.n {
		return lib.XJS_DefinePropertyValueInt64(w.tls, w.ctx, w.made, int64(k), v, lib.MJS_PROP_C_W_E|lib.MJS_PROP_THROW) >= 0
	}
	at[lib.TJSValue](list.Fu.Fvalues, w.n)[k] = v
	list.Fcount++
	slots(objectOf(w.made), 1)[0].Fu.Fvalue = newInt(int32(k + 1)) //nolint:gosec // as above
	return true
}

func (w *walk) truthy(v lib.TJSValue) bool {
	if tagOf(v) == lib.EJS_TAG_BOOL {
		return v.Fu.Fuint641 != 0
	}
	return lib.XJS_ToBool(w.tls, w.ctx, v) != 0
}

// end is what the function returns when it has seen all elements.
func (w *walk) end() lib.TJSValue {
	switch w.kind {
	case lib.Mspecial_every, lib.Mspecial_some:
		return truth(w.kind == lib.Mspecial_every)
	case lib.Mspecial_filter:
		w.shrink()
	case lib.Mspecial_map:
		count := len(elementsOf(objectOf(w.made)))
		if count < w.n && lib.XJS_SetPropertyInternal(w.tls, w.ctx, w.made, lib.EJS_ATOM_length, newInt(int32(w.n)), w.made, lib.MJS_PROP_THROW) < 0 { //nolint:gosec // as above
			w.release(w.made)
			return exception()
		}
	}
	return w.made
}

// shrink gives back the room that a list does not need, where it is most of it.
func (w *walk) shrink() {
	list := union(&objectOf(w.made).Fu.Farray)
	need := max(list.Fcount, 1)
	if int(need) > w.n/2 {
		return
	}
	if values := lib.Xjs_realloc(w.tls, w.ctx, list.Fu.Fvalues, lib.Tsize_t(need)*lib.Tsize_t(unsafe.Sizeof(lib.TJSValue{}))); values != 0 {
		list.Fu.Fvalues, list.Fu1.Fsize = values, need
	}
}
