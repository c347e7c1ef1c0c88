package main

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

// TestGC: a small heap may grow to five times what lives, a large one as Go
// lets it, and what the operator has set stays.
func TestGC(t *testing.T) {
	const own = 123 // what Go would do, so that it is known again
	before := debug.SetGCPercent(own)
	defer debug.SetGCPercent(before)
	defer debug.SetMemoryLimit(math.MaxInt64)
	becomes := func(name string, getenv func(string) (string, bool), want int) {
		t.Helper()
		runtime.GC()
		setGC(env{getenv: getenv})
		if got := debug.SetGCPercent(own); got != want {
			t.Errorf("%s: GOGC is %d, want %d", name, got, want)
		}
	}
	nothing := func(string) (string, bool) { return "", false }
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		becomes(name+" is set", func(n string) (string, bool) { return "", n == name }, own)
	}
	large := make([]byte, 2*smallHeap)
	becomes("a large heap", nothing, own)
	runtime.KeepAlive(large)
	runtime.GC()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	if metrics.Read(live); live[0].Value.Uint64() < smallHeap/2 { // other tests have left little
		becomes("a small heap", nothing, 400)
	}
}
