package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

// TestMinHeap: a small heap gets room, a large one no more than Go gives, nor
// one in which nothing happens; and what the operator has set stays.
func TestMinHeap(t *testing.T) {
	now := func() int {
		p := debug.SetGCPercent(100)
		debug.SetGCPercent(p)
		return p
	}
	becomes := func(want func() int) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); now() != want(); runtime.GC() {
			if time.Now().After(end) {
				t.Fatalf("GOGC is %d, want %d", now(), want())
			}
		}
	}
	few := func() int { return 100 }
	// What other tests have left alive decides how small the heap can be here.
	rest := func() int {
		runtime.GC()
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		return growthOf(live[0].Value.Uint64())
	}
	before := now()
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		stop := setMinHeap(env{getenv: func(n string) (string, bool) { return "", n == name }}, 0)
		if now() != before {
			t.Errorf("GOGC is %d although %s is set", now(), name)
		}
		stop()
	}
	stop := setMinHeap(env{getenv: func(string) (string, bool) { return "", false }}, time.Hour)
	if now() != 400 {
		t.Errorf("GOGC is %d at the start", now())
	}
	large := make([]byte, 2*minHeap)
	becomes(few)
	runtime.KeepAlive(large)
	becomes(rest)
	stop()
	stop = setMinHeap(env{getenv: func(string) (string, bool) { return "", false }}, 0)
	becomes(few)
	stop()
	if now() != before {
		t.Errorf("GOGC is %d after the end, was %d", now(), before)
	}
}

func TestGrowthOf(t *testing.T) {
	for live, want := range map[uint64]int{0: 400, 4 << 20: 400, 5 << 20: 200, 8 << 20: 200, 9 << 20: 100, 1 << 30: 100} {
		if got := growthOf(live); got != want {
			t.Errorf("%d MiB live: %d, want %d", live>>20, got, want)
		}
	}
}
