package sandbox

import (
	"context"
	"slices"
	"sync"
)

// turns hands out the right to run a worker, to so many at a time. Who waits is
// served by program: the one with the fewest calls under way comes first, so
// that the calls of one program do not make those of another wait for all of
// them.
type turns struct {
	mu      sync.Mutex
	free    int
	running map[string]int
	waiting []*turn // in the order in which they came
}

type turn struct {
	key  string
	come chan struct{}
}

func newTurns(n int) *turns { return &turns{free: n, running: map[string]int{}} }

// wait returns when the call of a program may run; it must be ended then.
func (t *turns) wait(ctx context.Context, key string) error {
	t.mu.Lock()
	if t.free > 0 {
		t.free--
		t.running[key]++
		t.mu.Unlock()
		return nil
	}
	mine := &turn{key, make(chan struct{})}
	t.waiting = append(t.waiting, mine)
	t.mu.Unlock()
	select {
	case <-mine.come:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	i := slices.Index(t.waiting, mine)
	if i >= 0 {
		t.waiting = slices.Delete(t.waiting, i, i+1)
	}
	t.mu.Unlock()
	if i < 0 { // it had come already
		t.end(key)
	}
	return ctx.Err()
}

// end gives a turn on.
func (t *turns) end(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running[key]--; t.running[key] == 0 {
		delete(t.running, key)
	}
	if len(t.waiting) == 0 {
		t.free++
		return
	}
	next := 0
	for i, w := range t.waiting {
		if t.running[w.key] < t.running[t.waiting[next].key] {
			next = i
		}
	}
	w := t.waiting[next]
	t.waiting = slices.Delete(t.waiting, next, next+1)
	t.running[w.key]++
	close(w.come)
}
