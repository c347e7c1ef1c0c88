//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"math"
	"reflect"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
	"modernc.org/quickjs"
)

// engine reaches below the wrapper of the engine, whose own ways between Go
// and JavaScript go over text. It is used where the wrapper's VM is.
type engine struct {
	vm  *quickjs.VM
	tls *libc.TLS
	ctx uintptr

	toJSON                  lib.TJSAtom
	objectProto, arrayProto uintptr

	spare   pending   // room for the next text
	natives []*native // that stand in the engine's memory, where Go does not see them
}

// newEngine finds what stands below vm; nil: the wrapper is not the one that
// this was written for, and everything goes over text.
func newEngine(vm *quickjs.VM) *engine {
	v := reflect.ValueOf(vm).Elem()
	ctx, runtime := v.FieldByName("cContext"), v.FieldByName("runtime")
	if ctx.Kind() != reflect.Uintptr || runtime.Kind() != reflect.Pointer || runtime.IsNil() {
		return nil
	}
	tls := runtime.Elem().FieldByName("tls")
	if tls.Kind() != reflect.Pointer || tls.Type() != reflect.TypeFor[*libc.TLS]() || !sameValue() {
		return nil
	}
	e := &engine{vm: vm, ctx: uintptr(ctx.Uint()), tls: (*libc.TLS)(tls.UnsafePointer())}
	var err error
	if e.toJSON, err = vm.NewAtom("toJSON"); err != nil {
		return nil
	}
	for text, to := range map[string]*uintptr{"Object.prototype": &e.objectProto, "Array.prototype": &e.arrayProto} {
		v, err := vm.EvalValue(text, quickjs.EvalGlobal)
		if err != nil {
			return nil
		}
		*to = uintptr(unwrap(v).Fu.Fuint641)
		v.Free()
	}
	if !e.sameText() {
		return nil
	}
	return e
}

// wrapped has the members of a [quickjs.Value].
type wrapped struct {
	vm *quickjs.VM
	v  lib.TJSValue
}

func sameValue() bool {
	theirs, ours := reflect.TypeFor[quickjs.Value](), reflect.TypeFor[wrapped]()
	if theirs.NumField() != ours.NumField() {
		return false
	}
	for i := range ours.NumField() {
		if a, b := theirs.Field(i), ours.Field(i); a.Type != b.Type || a.Offset != b.Offset {
			return false
		}
	}
	return true
}

func (e *engine) wrap(v lib.TJSValue) quickjs.Value {
	w := wrapped{e.vm, v}
	return *(*quickjs.Value)(unsafe.Pointer(&w)) //nolint:gosec // sameValue said that they are the same
}

func unwrap(v quickjs.Value) lib.TJSValue {
	return (*wrapped)(unsafe.Pointer(&v)).v //nolint:gosec // as above
}

// characters makes a string of ASCII, which is not empty.
func (e *engine) characters(text []byte) lib.TJSValue {
	const head = unsafe.Sizeof(lib.TJSString{})
	size := lib.Tsize_t(head) + lib.Tsize_t(len(text)) + 1
	made := lib.Xjs_malloc(e.tls, e.ctx, size)
	if made == 0 {
		return tagged(lib.EJS_TAG_EXCEPTION, 0)
	}
	countOf(made).Fref_count = 1
	at[lib.TJSString](made, 1)[0] = lib.TJSString{F__ccgo0: uint32(len(text))} //nolint:gosec // a part of a frame
	room := at[byte](made+head, len(text)+1)
	room[copy(room, text)] = 0
	return tagged(lib.EJS_TAG_STRING, uint64(made))
}

// lend copies a text into the engine's memory, where take frees it: C must not
// calculate with addresses of Go's heap. 0: there is no room, and an exception
// is pending.
func (e *engine) lend(text []byte) uintptr {
	room := lib.Xjs_malloc(e.tls, e.ctx, lib.Tsize_t(len(text))+1)
	if room != 0 {
		copy(at[byte](room, len(text)), text)
	}
	return room
}

func (e *engine) take(room uintptr) { lib.Xjs_free(e.tls, e.ctx, room) }

// text makes a string of any UTF-8.
func (e *engine) text(text []byte) lib.TJSValue {
	room := e.lend(text)
	if room == 0 {
		return tagged(lib.EJS_TAG_EXCEPTION, 0)
	}
	defer e.take(room)
	return lib.XJS_NewStringLen(e.tls, e.ctx, room, lib.Tsize_t(len(text)))
}

// countOf is where the engine counts who holds what stands at an address.
func countOf(address uintptr) *lib.TJSMallocBlockHeader {
	return &at[lib.TJSMallocBlockHeader](address-unsafe.Sizeof(lib.TJSMallocBlockHeader{}), 1)[0]
}

// sameText reports whether the engine's own strings are as characters makes
// them.
func (e *engine) sameText() bool {
	const head = unsafe.Sizeof(lib.TJSString{})
	text := []byte("tenon")
	theirs, ours := e.text(text), e.characters(text)
	defer e.free(theirs)
	defer e.free(ours)
	a, b := uintptr(theirs.Fu.Fuint641), uintptr(ours.Fu.Fuint641)
	return theirs.Ftag == ours.Ftag && countOf(a).Fref_count == countOf(b).Fref_count &&
		bytes.Equal(at[byte](a, int(head)+len(text)+1), at[byte](b, int(head)+len(text)+1))
}

func (e *engine) free(v lib.TJSValue) { lib.XFreeValue(e.tls, e.ctx, v) }

// hold counts one who holds v more.
func hold(v lib.TJSValue) {
	if tagOf(v) < 0 { // it stands in the engine's memory
		countOf(uintptr(v.Fu.Fuint641)).Fref_count++
	}
}

// release is free for values that others mostly hold, too.
func (e *engine) release(v lib.TJSValue) {
	if tagOf(v) >= 0 {
		return
	}
	if count := countOf(uintptr(v.Fu.Fuint641)); count.Fref_count > 1 {
		count.Fref_count--
		return
	}
	e.free(v)
}

// drop takes the pending exception away.
func (e *engine) drop() { e.free(lib.XJS_GetException(e.tls, e.ctx)) }

func tagOf(v lib.TJSValue) int32 { return int32(v.Ftag) } //nolint:gosec // that is where it stands

func tagged(tag int64, n uint64) lib.TJSValue {
	v := lib.TJSValue{Ftag: tag}
	v.Fu.Fuint641 = n
	return v
}

func newNumber(f float64) lib.TJSValue { return tagged(lib.EJS_TAG_FLOAT64, math.Float64bits(f)) }

func newInt(n int32) lib.TJSValue { return tagged(lib.EJS_TAG_INT, uint64(uint32(n))) } //nolint:gosec // its bits

func intOf(v lib.TJSValue) int64 { return int64(int32(v.Fu.Fuint641)) } //nolint:gosec // an int32 stands there

// pointer is an address of the engine's memory, which Go's collector neither
// knows nor moves.
func pointer(at uintptr) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&at)) //nolint:gosec // the engine is C
}

// at is n values of the engine's memory.
func at[T any, N ~int | ~uint32 | ~uint64](address uintptr, n N) []T {
	return unsafe.Slice((*T)(pointer(address)), n) //nolint:gosec // the engine is C
}

// union is a member of a union of C, which Go has as an array of none.
func union[T any](member *[0]T) *T { return (*T)(unsafe.Pointer(member)) } //nolint:gosec // the engine is C

func objectOf(v lib.TJSValue) *lib.TJSObject { return &at[lib.TJSObject](uintptr(v.Fu.Fuint641), 1)[0] }

func shapeOf(o *lib.TJSObject) *lib.TJSShape { return &at[lib.TJSShape](o.Fshape, 1)[0] }

// slots are the places of an object's members.
func slots(o *lib.TJSObject, n int) []lib.TJSProperty { return at[lib.TJSProperty](o.Fprop, n) }

// elementsOf are those of a list that the engine keeps together; none: it does
// not.
func elementsOf(o *lib.TJSObject) []lib.TJSValue {
	list := union(&o.Fu.Farray)
	return at[lib.TJSValue](list.Fu.Fvalues, list.Fcount)
}
