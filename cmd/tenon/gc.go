package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// minHeap is how much a server allocates between two collections where its
// heap is small. With Go's own setting a catalog of a few MiB is gone over
// after as much again, a few hundred calls; docs/decisions/0058 has the numbers.
const minHeap = 16 << 20

// idleTime without a collection makes a server an idle one: Go collects every
// two minutes whatever happens.
const idleTime = 100 * time.Second

// setMinHeap sets how often garbage is collected until stop is called; after
// idle without a collection the room is given back, and with it the pages of the
// program that were read. An operator who sets GOGC or GOMEMLIMIT has decided
// that already.
func setMinHeap(e env, idle time.Duration) (stop func()) {
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		if _, set := e.getenv(name); set {
			return func() {}
		}
	}
	before := debug.SetGCPercent(growthOf(0))
	done := new(atomic.Bool)
	(&collection{percent: growthOf(0), idle: idle, before: time.Now(), done: done}).watch()
	return func() {
		done.Store(true)
		debug.SetGCPercent(before)
	}
}

// collection is garbage from the start: its finalizer runs with each
// collection, and what was found to live then says when the next one is due.
type collection struct {
	percent int
	idle    time.Duration
	before  time.Time // of the last collection
	done    *atomic.Bool
	given   bool // back, since nothing happens
}

func (c *collection) watch() { runtime.SetFinalizer(c, (*collection).ended) }

func (c *collection) ended() {
	if c.done.Load() {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	percent := growthOf(live[0].Value.Uint64())
	idle := time.Since(c.before) >= c.idle
	if idle {
		percent = 100
	}
	if percent != c.percent {
		c.percent = percent
		debug.SetGCPercent(percent)
	}
	if idle && !c.given { // also where the heap was too large for any room
		debug.FreeOSMemory()
		giveBackProgram()
	}
	c.given = idle
	c.before = time.Now()
	c.watch()
}

// growthOf is GOGC for a heap in which so many bytes live: minHeap, where that
// is more than what Go would give. It has few values, because a new one stops
// the program for a moment.
func growthOf(live uint64) int {
	switch {
	case live <= minHeap/4:
		return 400
	case live <= minHeap/2:
		return 200
	}
	return 100
}
