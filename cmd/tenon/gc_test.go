package main

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
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

// TestGiveBackWhenIdle: free memory is given back once after each busy time, when
// nothing happens any more.
func TestGiveBackWhenIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		var given atomic.Int32
		go giveBackWhenIdle(ctx, time.Minute, func() { given.Add(1) })
		var busy []byte
		for round, want := range []int32{0, 1, 1, 1, 2, 2} {
			if round == 3 {
				busy = make([]byte, 2*little)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			if n := given.Load(); n != want {
				t.Errorf("round %d: given back %d times, want %d", round, n, want)
			}
		}
		runtime.KeepAlive(busy)
		stop()
		synctest.Wait()
	})
}
