//go:build amd64 || arm64

// Package engine reads and writes JSON in the memory of a QuickJS engine and
// replaces some of its functions by faster ones.
//
// It does not know programs, realms or workers, and never decides what code may
// do. Whatever it does not handle it leaves to JSON.parse, JSON.stringify and
// the engine's own functions, so that results are the same without it.
//
// The sandbox creates an [Engine] for each realm; the arguments of a call are
// parsed by [Engine.Parse], its result is written by [Engine.AppendJSON].
package engine

import (
	"bytes"
	"math"
	"sync"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
	"modernc.org/quickjs"
)

// MaxResult limits the JSON of a result, in bytes.
const MaxResult = 64 << 20

// Engine accesses the engine below its Go wrapper, whose conversions between Go
// and JavaScript use text. It is valid as long as the wrapper's VM.
type Engine struct {
	vm  *quickjs.VM
	tls *libc.TLS
	ctx uintptr

	toJSON                  lib.TJSAtom
	objectProto, arrayProto uintptr

	spare   pending // buffers for the next text
	fastMap native  // referenced from the engine's memory, which Go's collector does not scan
}

// New returns the engine below vm, or nil where the libraries are not those whose
// layouts were verified; then all values are converted by text.
func New(vm *quickjs.VM) *Engine { return newEngine(vm, layoutError()) }

func newEngine(vm *quickjs.VM, wrong error) *Engine {
	if wrong != nil {
		return nil
	}
	e := &Engine{vm: vm}
	e.ctx, e.tls = access(vm)
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
	if !e.sameStrings() {
		return nil
	}
	e.recordRefusals()
	return e
}

// wrapped has the layout of a [quickjs.Value].
type wrapped struct {
	vm *quickjs.VM
	v  lib.TJSValue
}

func (e *Engine) wrap(v lib.TJSValue) quickjs.Value {
	w := wrapped{e.vm, v}
	return *(*quickjs.Value)(unsafe.Pointer(&w)) //nolint:gosec // checkLayouts checked the layout
}

func unwrap(v quickjs.Value) lib.TJSValue {
	return (*wrapped)(unsafe.Pointer(&v)).v //nolint:gosec // as above
}

// newASCII makes a string of nonempty ASCII.
func (e *Engine) newASCII(text []byte) lib.TJSValue {
	const head = unsafe.Sizeof(lib.TJSString{})
	size := lib.Tsize_t(head) + lib.Tsize_t(len(text)) + 1
	made := lib.Xjs_malloc(e.tls, e.ctx, size)
	if made == 0 {
		return tagged(lib.EJS_TAG_EXCEPTION, 0)
	}
	headerOf(made).Fref_count = 1
	at[lib.TJSString](made, 1)[0] = lib.TJSString{F__ccgo0: uint32(len(text))} //nolint:gosec // limited by the size of a frame
	buf := at[byte](made+head, len(text)+1)
	buf[copy(buf, text)] = 0
	return tagged(lib.EJS_TAG_STRING, uint64(made))
}

// copyIn copies a text into the engine's memory, to be freed by take: C must not
// hold addresses of Go's heap. It returns 0 with a pending exception where
// memory is exhausted.
func (e *Engine) copyIn(text []byte) uintptr {
	buf := lib.Xjs_malloc(e.tls, e.ctx, lib.Tsize_t(len(text))+1)
	if buf != 0 {
		copy(at[byte](buf, len(text)), text)
	}
	return buf
}

func (e *Engine) freeCopy(buf uintptr) { lib.Xjs_free(e.tls, e.ctx, buf) }

// newString makes a string of UTF-8.
func (e *Engine) newString(text []byte) lib.TJSValue {
	buf := e.copyIn(text)
	if buf == 0 {
		return tagged(lib.EJS_TAG_EXCEPTION, 0)
	}
	defer e.freeCopy(buf)
	return lib.XJS_NewStringLen(e.tls, e.ctx, buf, lib.Tsize_t(len(text)))
}

// headerOf returns the header with the reference count of a value.
func headerOf(address uintptr) *lib.TJSMallocBlockHeader {
	return &at[lib.TJSMallocBlockHeader](address-unsafe.Sizeof(lib.TJSMallocBlockHeader{}), 1)[0]
}

// sameStrings reports whether the engine's strings have the layout that characters
// writes.
func (e *Engine) sameStrings() bool {
	const head = unsafe.Sizeof(lib.TJSString{})
	text := []byte("tenon")
	theirs, ours := e.newString(text), e.newASCII(text)
	defer e.free(theirs)
	defer e.free(ours)
	a, b := uintptr(theirs.Fu.Fuint641), uintptr(ours.Fu.Fuint641)
	return theirs.Ftag == ours.Ftag && headerOf(a).Fref_count == headerOf(b).Fref_count &&
		bytes.Equal(at[byte](a, int(head)+len(text)+1), at[byte](b, int(head)+len(text)+1))
}

func (e *Engine) free(v lib.TJSValue) { lib.XFreeValue(e.tls, e.ctx, v) }

// addRef increments the reference count of v.
func addRef(v lib.TJSValue) {
	if tagOf(v) < 0 { // a reference into the engine's memory
		headerOf(uintptr(v.Fu.Fuint641)).Fref_count++
	}
}

// release is free with a fast path for values that have other references.
func (e *Engine) release(v lib.TJSValue) {
	if tagOf(v) >= 0 {
		return
	}
	if count := headerOf(uintptr(v.Fu.Fuint641)); count.Fref_count > 1 {
		count.Fref_count--
		return
	}
	e.free(v)
}

// discardException discards the pending exception.
func (e *Engine) discardException() { e.free(lib.XJS_GetException(e.tls, e.ctx)) }

func tagOf(v lib.TJSValue) int32 { return int32(v.Ftag) } //nolint:gosec // the tag is an int32

func tagged(tag int64, n uint64) lib.TJSValue {
	v := lib.TJSValue{Ftag: tag}
	v.Fu.Fuint641 = n
	return v
}

func newNumber(f float64) lib.TJSValue { return tagged(lib.EJS_TAG_FLOAT64, math.Float64bits(f)) }

func newInt(n int32) lib.TJSValue { return tagged(lib.EJS_TAG_INT, uint64(uint32(n))) } //nolint:gosec // its bits

func intOf(v lib.TJSValue) int64 { return int64(int32(v.Fu.Fuint641)) } //nolint:gosec // it is an int32

// pointer converts an address of the engine's memory, which Go's collector
// neither scans nor moves.
func pointer(at uintptr) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&at)) //nolint:gosec // the engine is C
}

// at returns n values in the engine's memory.
func at[T any, N ~int | ~uint32 | ~uint64](address uintptr, n N) []T {
	return unsafe.Slice((*T)(pointer(address)), n) //nolint:gosec // the engine is C
}

// union returns a member of a C union, which the Go translation declares as an
// array of length 0.
func union[T any](member *[0]T) *T { return (*T)(unsafe.Pointer(member)) } //nolint:gosec // the engine is C

func objectOf(v lib.TJSValue) *lib.TJSObject { return &at[lib.TJSObject](uintptr(v.Fu.Fuint641), 1)[0] }

func shapeOf(o *lib.TJSObject) *lib.TJSShape { return &at[lib.TJSShape](o.Fshape, 1)[0] }

// slots returns the property values of an object.
func slots(o *lib.TJSObject, n int) []lib.TJSProperty { return at[lib.TJSProperty](o.Fprop, n) }

// elementsOf returns the elements of a dense list, and none for other lists.
func elementsOf(o *lib.TJSObject) []lib.TJSValue {
	list := union(&o.Fu.Farray)
	return at[lib.TJSValue](list.Fu.Fvalues, list.Fcount)
}

// The engine throws null, or an error without a message, where it has no memory
// for the error itself, and code can do the same. So its two functions that
// allocate are replaced by ones that record a refusal. The engine divides what
// they return into small blocks by itself and calls them rarely.
var (
	allocator     sync.Once                                                           //nolint:gochecknoglobals // all engines have the same functions
	ownAllocate   func(tls *libc.TLS, state uintptr, size lib.Tsize_t) uintptr        //nolint:gochecknoglobals // written once
	ownReallocate func(tls *libc.TLS, state, block uintptr, size lib.Tsize_t) uintptr //nolint:gochecknoglobals // written once

	allocate   = recordAllocate   //nolint:gochecknoglobals // the engine keeps its address
	reallocate = recordReallocate //nolint:gochecknoglobals // the engine keeps its address
)

// recordRefusals replaces the functions of this engine.
func (e *Engine) recordRefusals() {
	functions := &e.runtime().Fmalloc_ctx.Fmf
	allocator.Do(func() {
		ownAllocate = *(*func(*libc.TLS, uintptr, lib.Tsize_t) uintptr)(unsafe.Pointer(&functions.Fjs_malloc))             //nolint:gosec // the engine's calling convention
		ownReallocate = *(*func(*libc.TLS, uintptr, uintptr, lib.Tsize_t) uintptr)(unsafe.Pointer(&functions.Fjs_realloc)) //nolint:gosec // as above
	})
	functions.Fjs_malloc = *(*uintptr)(unsafe.Pointer(&allocate))    //nolint:gosec // a static function
	functions.Fjs_realloc = *(*uintptr)(unsafe.Pointer(&reallocate)) //nolint:gosec // as above
}

func recordAllocate(tls *libc.TLS, state uintptr, size lib.Tsize_t) uintptr {
	block := ownAllocate(tls, state, size)
	if block == 0 {
		refuse(state)
	}
	return block
}

func recordReallocate(tls *libc.TLS, state, block uintptr, size lib.Tsize_t) uintptr {
	block = ownReallocate(tls, state, block, size)
	if block == 0 && size != 0 {
		refuse(state)
	}
	return block
}

// refuse records a refusal in a field that the engine reserves for its
// embedder's allocator.
func refuse(state uintptr) { at[lib.TJSMallocState](state, 1)[0].Fopaque = 1 }

func (e *Engine) runtime() *lib.TJSRuntime {
	return &at[lib.TJSRuntime](lib.XJS_GetRuntime(e.tls, e.ctx), 1)[0]
}

// Refused reports whether the engine refused memory since the last
// [Engine.ForgetRefusals].
func (e *Engine) Refused() bool {
	return e != nil && e.runtime().Fmalloc_ctx.Fmalloc_state.Fopaque != 0
}

// ForgetRefusals begins a new record of refusals.
func (e *Engine) ForgetRefusals() {
	if e != nil {
		e.runtime().Fmalloc_ctx.Fmalloc_state.Fopaque = 0
	}
}
