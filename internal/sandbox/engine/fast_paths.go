//go:build amd64 || arm64

package engine

import (
	"strconv"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
	"modernc.org/quickjs"
)

// native is a function of the engine, callable from JavaScript.
type native = func(tls *libc.TLS, ctx uintptr, this lib.TJSValue, argc int32, argv uintptr, magic int32) lib.TJSValue

// EnableFastPaths replaces functions in which handlers spend their time by faster ones
// for the common case. Other cases are passed to the engine's function; the
// function object visible to JavaScript stays the same. It must be called after
// the intrinsics are frozen, because the fast paths rely on them.
func (e *Engine) EnableFastPaths() {
	if e == nil {
		return
	}
	for _, name := range []string{"map", "filter", "forEach", "some", "every"} {
		e.replace("Array.prototype."+name, lib.EJS_CFUNC_generic_magic, e.arrayMethod)
	}
	e.replace("String.prototype.concat", lib.EJS_CFUNC_generic, e.concat)
}

// replace replaces the engine's function at path by way(function).
func (e *Engine) replace(path string, kind uint8, way func(own native) native) {
	v, err := e.vm.EvalValue(path, quickjs.EvalGlobal)
	if err != nil {
		return
	}
	defer v.Free()
	if tagOf(unwrap(v)) != lib.EJS_TAG_OBJECT || objectOf(unwrap(v)).Fclass_id != lib.EJS_CLASS_C_FUNCTION {
		return
	}
	function := union(&objectOf(unwrap(v)).Fu.Fcfunc)
	if function.Fcproto != kind {
		return
	}
	place := (*uintptr)(unsafe.Pointer(&function.Fc_function)) //nolint:gosec // a function pointer
	own := *place
	faster := way(*(*native)(unsafe.Pointer(&own))) //nolint:gosec // the engine's calling convention
	e.natives = append(e.natives, &faster)
	*place = *(*uintptr)(unsafe.Pointer(&faster)) //nolint:gosec // as above; e keeps it
}

func threw(v lib.TJSValue) bool { return tagOf(v) == lib.EJS_TAG_EXCEPTION }

func truth(ok bool) lib.TJSValue {
	if ok {
		return tagged(lib.EJS_TAG_BOOL, 1)
	}
	return tagged(lib.EJS_TAG_BOOL, 0)
}

func exception() lib.TJSValue { return tagged(lib.EJS_TAG_EXCEPTION, 0) }

func undefined() lib.TJSValue { return tagged(lib.EJS_TAG_UNDEFINED, 0) }

// concat implements template literals for short Latin-1 strings and integers;
// long strings are ropes in the engine, without copying.
func (e *Engine) concat(own native) native {
	return func(tls *libc.TLS, ctx uintptr, this lib.TJSValue, argc int32, argv uintptr, magic int32) lib.TJSValue {
		const longest = 512
		var buf [longest + 32]byte
		out, ok := appendPlain(buf[:0], this, longest)
		for _, v := range at[lib.TJSValue](argv, int(argc)) {
			if !ok {
				break
			}
			out, ok = appendPlain(out, v, longest)
		}
		if !ok || len(out) == 0 || tagOf(this) != lib.EJS_TAG_STRING {
			return own(tls, ctx, this, argc, argv, magic)
		}
		return e.newASCII(out)
	}
}

// appendPlain appends a short Latin-1 string or an integer.
func appendPlain(dst []byte, v lib.TJSValue, longest int) ([]byte, bool) {
	switch tagOf(v) {
	case lib.EJS_TAG_STRING:
		text, ok := latin1(v)
		if !ok || len(dst)+len(text) > longest {
			return dst, false
		}
		dst = append(dst, text...)
	case lib.EJS_TAG_INT:
		dst = strconv.AppendInt(dst, intOf(v), 10)
	default:
		return dst, false
	}
	return dst, len(dst) <= longest
}

// latin1 returns the bytes of a string with one byte per character.
func latin1(v lib.TJSValue) ([]byte, bool) {
	const wide = 1 << 31
	address := uintptr(v.Fu.Fuint641)
	length := at[lib.TJSString](address, 1)[0].F__ccgo0
	if length&wide != 0 {
		return nil, false
	}
	return at[byte](address+unsafe.Sizeof(lib.TJSString{}), length), true
}

// arrayMethod implements map, filter, forEach, some and every for dense lists. The
// callback may modify the list.
func (e *Engine) arrayMethod(own native) native {
	return func(tls *libc.TLS, ctx uintptr, this lib.TJSValue, argc int32, argv uintptr, magic int32) lib.TJSValue {
		n, ok := e.plainList(this)
		if !ok || argc < 1 || n == 0 {
			return own(tls, ctx, this, argc, argv, magic)
		}
		given := at[lib.TJSValue](argv, int(argc))
		if lib.XJS_IsFunction(tls, ctx, given[0]) == 0 {
			return own(tls, ctx, this, argc, argv, magic)
		}
		w := walk{Engine: e, list: this, n: n, f: given[0], self: undefined(), kind: magic}
		if argc > 1 {
			w.self = given[1]
		}
		return w.run()
	}
}

// plainList returns the number of elements of a dense list; false for other
// values and for lists with other properties.
func (e *Engine) plainList(v lib.TJSValue) (n int, ok bool) {
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

// walk is one call of such a method.
type walk struct {
	*Engine

	list, f, self lib.TJSValue
	n             int   // number of elements at the start
	kind          int32 // the engine's number of the method

	result lib.TJSValue // the result of map and filter, not yet visible to code
	chain  []lib.TJSValue
}

func (w *walk) run() lib.TJSValue {
	const size = 3 * int(unsafe.Sizeof(lib.TJSValue{}))
	args := w.tls.Alloc(size)
	defer w.tls.Free(size)
	addRef(w.list)
	defer w.freeAll()
	w.result = undefined()
	if w.kind == lib.Mspecial_map || w.kind == lib.Mspecial_filter {
		if w.result = w.allocate(); threw(w.result) {
			return w.result
		}
	}
	for k := range w.n {
		ends, ok := w.step(k, args)
		switch {
		case !ok:
			w.release(w.result)
			return exception()
		case ends:
			return truth(w.kind == lib.Mspecial_some)
		}
	}
	return w.end()
}

func (w *walk) freeAll() {
	for _, o := range w.chain {
		w.release(o)
	}
	w.release(w.list)
}

// allocate makes an empty list with capacity for all elements.
func (w *walk) allocate() lib.TJSValue {
	v := lib.XJS_NewArray(w.tls, w.ctx)
	if threw(v) {
		return v
	}
	values := lib.Xjs_malloc(w.tls, w.ctx, lib.Tsize_t(w.n)*lib.Tsize_t(unsafe.Sizeof(lib.TJSValue{}))) //nolint:gosec // as many as are in memory already
	if values == 0 {
		w.release(v)
		return exception()
	}
	list := union(&objectOf(v).Fu.Farray)
	list.Fu.Fvalues, list.Fu1.Fsize = values, uint32(w.n) //nolint:gosec // a count of the engine
	return v
}

// step calls the callback with an element, if it still exists; ends reports
// whether the iteration is over.
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
		if k == 0 && w.n > minChained {
			w.chain = w.shapeChain(result)
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
			return false, w.put(len(elementsOf(objectOf(w.result))), v)
		}
	}
	w.release(v)
	return ends, ok
}

// element returns the element at k with a reference, an exception, or false.
func (w *walk) element(k int) (v lib.TJSValue, there bool) {
	if all := elementsOf(objectOf(w.list)); k < len(all) {
		addRef(all[k])
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

// put appends an element, which it takes over, to the result. Any other
// position is left to the engine.
func (w *walk) put(k int, v lib.TJSValue) bool {
	list := union(&objectOf(w.result).Fu.Farray)
	if k != int(list.Fcount) || k >= w.n {
		return lib.XJS_DefinePropertyValueInt64(w.tls, w.ctx, w.result, int64(k), v, lib.MJS_PROP_C_W_E|lib.MJS_PROP_THROW) >= 0
	}
	at[lib.TJSValue](list.Fu.Fvalues, w.n)[k] = v
	list.Fcount++
	slots(objectOf(w.result), 1)[0].Fu.Fvalue = newInt(int32(k + 1)) //nolint:gosec // as above
	return true
}

func (w *walk) truthy(v lib.TJSValue) bool {
	if tagOf(v) == lib.EJS_TAG_BOOL {
		return v.Fu.Fuint641 != 0
	}
	return lib.XJS_ToBool(w.tls, w.ctx, v) != 0
}

// end returns the result after the last element.
func (w *walk) end() lib.TJSValue {
	switch w.kind {
	case lib.Mspecial_every, lib.Mspecial_some:
		return truth(w.kind == lib.Mspecial_every)
	case lib.Mspecial_filter:
		w.shrink()
	case lib.Mspecial_map:
		count := len(elementsOf(objectOf(w.result)))
		if count < w.n && lib.XJS_SetPropertyInternal(w.tls, w.ctx, w.result, lib.EJS_ATOM_length, newInt(int32(w.n)), w.result, lib.MJS_PROP_THROW) < 0 { //nolint:gosec // as above
			w.release(w.result)
			return exception()
		}
	}
	return w.result
}

// shrink releases unused capacity, where it is more than half.
func (w *walk) shrink() {
	list := union(&objectOf(w.result).Fu.Farray)
	need := max(list.Fcount, 1)
	if int(need) > w.n/2 {
		return
	}
	if values := lib.Xjs_realloc(w.tls, w.ctx, list.Fu.Fvalues, lib.Tsize_t(need)*lib.Tsize_t(unsafe.Sizeof(lib.TJSValue{}))); values != 0 {
		list.Fu.Fvalues, list.Fu1.Fsize = values, need
	}
}

// Shape chains are kept for objects of at most maxChained members, in lists of
// at least minChained.
const (
	maxChained = 16
	minChained = 32
)

// shapeChain returns objects that keep the shapes alive that lead from the empty
// object to that of o. The engine extends the shape of {a} in place to {a, b}
// where nothing else uses it, and would build the chain again for every object
// of a list. The caller must release the result.
func (e *Engine) shapeChain(o lib.TJSValue) (kept []lib.TJSValue) {
	if tagOf(o) != lib.EJS_TAG_OBJECT || objectOf(o).Fclass_id != lib.EJS_CLASS_OBJECT {
		return nil
	}
	shape := shapeOf(objectOf(o))
	if shape.Fproto != e.objectProto || shape.Fis_hashed == 0 || shape.Fdeleted_prop_count != 0 || shape.Fprop_count > maxChained {
		return nil
	}
	const size = 2 * int(unsafe.Sizeof(uintptr(0)))
	buf := e.tls.Alloc(size)
	defer e.tls.Free(size)
	list, length := buf, buf+unsafe.Sizeof(uintptr(0))
	if lib.XJS_GetOwnPropertyNames(e.tls, e.ctx, list, length, o, lib.MJS_GPN_STRING_MASK|lib.MJS_GPN_ENUM_ONLY) < 0 {
		e.discardException()
		return nil
	}
	names, count := at[uintptr](list, 1)[0], at[uint32](length, 1)[0]
	defer lib.XJS_FreePropertyEnum(e.tls, e.ctx, names, count)
	all := at[lib.TJSPropertyEnum](names, count)
	for i := range all {
		step, ok := e.withMembers(all[:i])
		if !ok {
			break
		}
		kept = append(kept, step)
	}
	return kept
}

// withMembers makes an object with members of these names.
func (e *Engine) withMembers(names []lib.TJSPropertyEnum) (lib.TJSValue, bool) {
	o := lib.XJS_NewObject(e.tls, e.ctx)
	if threw(o) {
		e.discardException()
		return o, false
	}
	for _, n := range names {
		if lib.XJS_DefinePropertyValue(e.tls, e.ctx, o, n.Fatom, undefined(), lib.MJS_PROP_C_W_E) < 0 {
			e.discardException()
			e.release(o)
			return o, false
		}
	}
	return o, true
}
