//go:build amd64 || arm64

package engine

import (
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
	"modernc.org/quickjs"
)

// native is a function of the engine, callable from JavaScript.
type native = func(tls *libc.TLS, ctx uintptr, this lib.TJSValue, argc int32, argv uintptr, magic int32) lib.TJSValue

// EnableFastMap gives Array.prototype.map, in which handlers spend their time, a
// fast path for dense lists. Other lists are passed to the engine's function; the
// function object visible to JavaScript stays the same. It must be called after
// the intrinsics are frozen, because the fast path relies on them.
func (e *Engine) EnableFastMap() {
	if e == nil {
		return
	}
	v, err := e.vm.EvalValue("Array.prototype.map", quickjs.EvalGlobal)
	if err != nil {
		return
	}
	defer v.Free()
	if tagOf(unwrap(v)) != lib.EJS_TAG_OBJECT || objectOf(unwrap(v)).Fclass_id != lib.EJS_CLASS_C_FUNCTION {
		return
	}
	function := union(&objectOf(unwrap(v)).Fu.Fcfunc)
	if function.Fcproto != lib.EJS_CFUNC_generic_magic || int32(function.Fmagic) != lib.Mspecial_map {
		return
	}
	place := (*uintptr)(unsafe.Pointer(&function.Fc_function)) //nolint:gosec // a function pointer
	own := *place
	e.fastMap = e.mapOr(*(*native)(unsafe.Pointer(&own))) //nolint:gosec // the engine's calling convention
	*place = *(*uintptr)(unsafe.Pointer(&e.fastMap))      //nolint:gosec // as above; e keeps it
}

// mapOr implements map for dense lists, and passes other values to own. The
// callback may modify the list.
func (e *Engine) mapOr(own native) native {
	return func(tls *libc.TLS, ctx uintptr, this lib.TJSValue, argc int32, argv uintptr, magic int32) lib.TJSValue {
		n, ok := e.plainList(this)
		if !ok || argc < 1 || n == 0 {
			return own(tls, ctx, this, argc, argv, magic)
		}
		given := at[lib.TJSValue](argv, int(argc))
		if lib.XJS_IsFunction(tls, ctx, given[0]) == 0 {
			return own(tls, ctx, this, argc, argv, magic)
		}
		m := mapping{Engine: e, list: this, n: n, f: given[0], self: tagged(lib.EJS_TAG_UNDEFINED, 0)}
		if argc > 1 {
			m.self = given[1]
		}
		return m.run()
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

// mapping is one call of map.
type mapping struct {
	*Engine

	list, f, self lib.TJSValue
	n             int          // number of elements at the start
	result        lib.TJSValue // not yet visible to code
}

func threw(v lib.TJSValue) bool { return tagOf(v) == lib.EJS_TAG_EXCEPTION }

func (m *mapping) run() lib.TJSValue {
	const size = 3 * int(unsafe.Sizeof(lib.TJSValue{}))
	args := m.tls.Alloc(size)
	defer m.tls.Free(size)
	addRef(m.list)
	defer m.release(m.list)
	if m.result = m.allocate(); threw(m.result) {
		return m.result
	}
	for k := range m.n {
		if !m.step(k, args) {
			m.release(m.result)
			return tagged(lib.EJS_TAG_EXCEPTION, 0)
		}
	}
	if count := len(elementsOf(objectOf(m.result))); count < m.n && !m.setLength() {
		m.release(m.result)
		return tagged(lib.EJS_TAG_EXCEPTION, 0)
	}
	return m.result
}

// allocate makes an empty list with capacity for all elements.
func (m *mapping) allocate() lib.TJSValue {
	v := lib.XJS_NewArray(m.tls, m.ctx)
	if threw(v) {
		return v
	}
	values := lib.Xjs_malloc(m.tls, m.ctx, lib.Tsize_t(m.n)*lib.Tsize_t(unsafe.Sizeof(lib.TJSValue{}))) //nolint:gosec // as many as are in memory already
	if values == 0 {
		m.release(v)
		return tagged(lib.EJS_TAG_EXCEPTION, 0)
	}
	list := union(&objectOf(v).Fu.Farray)
	list.Fu.Fvalues, list.Fu1.Fsize = values, uint32(m.n) //nolint:gosec // a count of the engine
	return v
}

// step calls the callback with an element, if it still exists, and stores what it
// returns; false: an exception is pending.
func (m *mapping) step(k int, args uintptr) bool {
	v, there := m.element(k)
	if !there || threw(v) {
		return !there
	}
	given := at[lib.TJSValue](args, 3)
	given[0], given[1], given[2] = v, newInt(int32(k)), m.list //nolint:gosec // a count of the engine
	made := lib.XJS_Call(m.tls, m.ctx, m.f, m.self, 3, args)
	ok := !threw(made) && m.put(k, made)
	m.release(v)
	return ok
}

// element returns the element at k with a reference, an exception, or false.
func (m *mapping) element(k int) (v lib.TJSValue, there bool) {
	if all := elementsOf(objectOf(m.list)); k < len(all) {
		addRef(all[k])
		return all[k], true
	}
	name := lib.XJS_NewAtomUInt32(m.tls, m.ctx, uint32(k)) //nolint:gosec // a count of the engine
	defer lib.XJS_FreeAtom(m.tls, m.ctx, name)
	switch found := lib.XJS_HasProperty(m.tls, m.ctx, m.list, name); {
	case found < 0:
		return tagged(lib.EJS_TAG_EXCEPTION, 0), true
	case found == 0:
		return v, false
	}
	return lib.XJS_GetPropertyInternal(m.tls, m.ctx, m.list, name, m.list, 0), true
}

// put appends an element, which it takes over, to the result. Any other
// position is left to the engine.
func (m *mapping) put(k int, v lib.TJSValue) bool {
	list := union(&objectOf(m.result).Fu.Farray)
	if k != int(list.Fcount) || k >= m.n {
		return lib.XJS_DefinePropertyValueInt64(m.tls, m.ctx, m.result, int64(k), v, lib.MJS_PROP_C_W_E|lib.MJS_PROP_THROW) >= 0
	}
	at[lib.TJSValue](list.Fu.Fvalues, m.n)[k] = v
	list.Fcount++
	slots(objectOf(m.result), 1)[0].Fu.Fvalue = newInt(int32(k + 1)) //nolint:gosec // as above
	return true
}

// setLength gives the result the length of the list, whose end was deleted.
func (m *mapping) setLength() bool {
	return lib.XJS_SetPropertyInternal(m.tls, m.ctx, m.result, lib.EJS_ATOM_length, newInt(int32(m.n)), m.result, lib.MJS_PROP_THROW) >= 0 //nolint:gosec // a count of the engine
}
