//go:build amd64 || arm64

package sandbox

import (
	"strconv"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
	"modernc.org/quickjs"
)

// native is a function of the engine, as JavaScript calls it.
type native = func(tls *libc.TLS, ctx uintptr, this lib.TJSValue, argc int32, argv uintptr, magic int32) lib.TJSValue

// hasten puts faster ways before functions that handlers spend their time in.
// Each takes the plain case alone and leaves every other to the engine's own,
// which stands behind it; the function that JavaScript sees stays the same
// object. It is called when nobody can change the intrinsics any more, for the
// ways rely on what those are.
func (e *engine) hasten() {
	if e == nil {
		return
	}
	for _, name := range []string{"map", "filter", "forEach", "some", "every"} {
		e.replace("Array.prototype."+name, lib.EJS_CFUNC_generic_magic, e.each)
	}
	e.replace("String.prototype.concat", lib.EJS_CFUNC_generic, e.concat)
}

// replace puts what way makes of the engine's function in its place.
func (e *engine) replace(path string, kind uint8, way func(own native) native) {
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
	place := (*uintptr)(unsafe.Pointer(&function.Fc_function)) //nolint:gosec // a pointer to a function, whatever its kind
	own := *place
	faster := way(*(*native)(unsafe.Pointer(&own))) //nolint:gosec // that is how the engine calls it
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

// concat is what a template literal calls. It takes short texts of one byte a
// character, and numbers; long ones the engine puts together without copying.
func (e *engine) concat(own native) native {
	return func(tls *libc.TLS, ctx uintptr, this lib.TJSValue, argc int32, argv uintptr, magic int32) lib.TJSValue {
		const longest = 512
		var room [longest + 32]byte
		out, ok := appendPlain(room[:0], this, longest)
		for _, v := range at[lib.TJSValue](argv, int(argc)) {
			if !ok {
				break
			}
			out, ok = appendPlain(out, v, longest)
		}
		if !ok || len(out) == 0 || tagOf(this) != lib.EJS_TAG_STRING {
			return own(tls, ctx, this, argc, argv, magic)
		}
		return e.characters(out)
	}
}

// appendPlain appends the characters of a value that is a short text of one
// byte a character, or a number.
func appendPlain(dst []byte, v lib.TJSValue, longest int) ([]byte, bool) {
	switch tagOf(v) {
	case lib.EJS_TAG_STRING:
		text, ok := narrow(v)
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

// narrow is a string of the engine that has one byte a character.
func narrow(v lib.TJSValue) ([]byte, bool) {
	const wide = 1 << 31
	address := uintptr(v.Fu.Fuint641)
	length := at[lib.TJSString](address, 1)[0].F__ccgo0
	if length&wide != 0 {
		return nil, false
	}
	return at[byte](address+unsafe.Sizeof(lib.TJSString{}), length), true
}
