package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// smallHeap is how many bytes live at most in a server whose heap may grow to
	// five times that. With Go's own setting a catalog of a few MiB is gone over
	// after as much garbage again, a few hundred calls; docs/decisions/0058 has the
	// numbers. A large heap is gone over seldom anyway.
	smallHeap = 16 << 20

	// heapLimit is from where on garbage is collected more often than that. It is
	// well above what --max-bytes-in-flight admits by default.
	heapLimit = 512 << 20
)

// setGC sets how often garbage is collected, for a server that has read its
// descriptions. An operator who sets GOGC or GOMEMLIMIT has decided that already.
func setGC(e env) {
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		if _, set := e.getenv(name); set {
			return
		}
	}
	// As the last collection found it: none has run where little was read.
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	if metrics.Read(live); live[0].Value.Uint64() <= smallHeap {
		debug.SetGCPercent(400)
		debug.SetMemoryLimit(heapLimit)
	}
}

// idleTime is how long a server has nothing to do, at least, before it gives back the
// memory that calls have left.
const idleTime = 45 * time.Second

// little is how many bytes an idle server allocates in that time.
const little = 1 << 20

// giveBackWhenIdle returns free memory to the system when the program has
// allocated little for a time, until ctx ends. Go keeps what the heap may grow to.
func giveBackWhenIdle(ctx context.Context, idle time.Duration, giveBack func()) {
	made := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	look := time.NewTicker(idle)
	defer look.Stop()
	for before, given := uint64(0), false; ; {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		metrics.Read(made)
		now := made[0].Value.Uint64()
		quiet := now-before < little
		if quiet && !given {
			giveBack()
		}
		before, given = now, quiet
	}
}
