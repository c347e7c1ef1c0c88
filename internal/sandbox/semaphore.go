package sandbox

import (
	"context"
	"slices"
	"sync"
)

// semaphore is a semaphore for workers that is fair among programs: the waiting
// program with the fewest running calls is served first.
type semaphore struct {
	mu      sync.Mutex
	free    int
	running map[string]int
	waiting []*waiter // in order of arrival
}

type waiter struct {
	key     string
	granted chan struct{}
}

func newSemaphore(n int) *semaphore { return &semaphore{free: n, running: map[string]int{}} }

// acquire blocks until a call of the program may run; it must be followed by end.
func (t *semaphore) acquire(ctx context.Context, key string) error {
	t.mu.Lock()
	if t.free > 0 {
		t.free--
		t.running[key]++
		t.mu.Unlock()
		return nil
	}
	mine := &waiter{key, make(chan struct{})}
	t.waiting = append(t.waiting, mine)
	t.mu.Unlock()
	select {
	case <-mine.granted:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	i := slices.Index(t.waiting, mine)
	if i >= 0 {
		t.waiting = slices.Delete(t.waiting, i, i+1)
	}
	t.mu.Unlock()
	if i < 0 { // it was granted meanwhile
		t.release(key)
	}
	return ctx.Err()
}

// release passes the turn on.
func (t *semaphore) release(key string) {
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
	close(w.granted)
}
