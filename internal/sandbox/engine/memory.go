//go:build amd64 || arm64

package engine

import (
	"sync"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

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
