package server

import (
	"context"
	"errors"
	"sync"
	"time"
)

// quota bounds what is held at a time, in all and by one caller: calls,
// subscriptions, bytes. Who waits for room is served in the order of what its
// caller holds, the least first.
type quota struct {
	all   int64 // in all
	each  int64 // of one caller
	near  int64 // of one address, whoever it says to be: it can invent names
	queue int64 // may wait in all, so many times what may be held; of one caller so many times its share

	mu      sync.Mutex
	used    int64
	by      map[string]int64 // by caller
	at      map[string]int64 // by address
	waiting []*waiter        // the oldest first
	readers []*holding       // who may take more, see grow; the oldest first
	closed  bool
	empty   chan struct{} // closed when nothing is held; nil: nobody waits for that
}

type waiter struct {
	account account
	n       int64
	holding *holding      // that grows by it; nil: none
	room    chan struct{} // closed when it has what it waits for
}

var (
	errBusy   = errors.New("too many calls at once")
	errClosed = errors.New("the server shuts down")
)

// init sets the bounds: all, of which one caller may hold each; 0: half.
func (q *quota) init(all, each int64) {
	if each <= 0 {
		each = max(1, all/2)
	}
	each = min(each, all)
	q.all, q.each, q.near, q.queue = all, each, max(each, all-all/8), 1
	q.by, q.at = map[string]int64{}, map[string]int64{}
}

// share is n as it counts: what is larger than a caller's share takes all of it.
func (q *quota) share(c account, n int64) int64 {
	if c.key == "" {
		return min(n, q.all)
	}
	return min(n, q.each)
}

// within reports whether the shares of w's caller and address have room.
func (q *quota) within(w *waiter) bool {
	c := w.account
	switch {
	case c.key == "":
		return true
	case q.by[c.key]+w.n > q.each && !q.first(w, q.by[c.key], func(o account) bool { return o.key == c.key }):
		return false
	}
	return c.origin == "" || q.at[c.origin]+w.n <= q.near || q.first(w, q.at[c.origin], func(o account) bool { return o.key != "" && o.origin == c.origin })
}

// roomFor reports whether there is room for w, be it that others wait.
func (q *quota) roomFor(w *waiter) bool {
	return q.within(w) && (q.used+w.n <= q.all || q.stuck(w))
}

// grant gives w what it waits for.
func (q *quota) grant(w *waiter) {
	q.hold(w.account, w.n)
	if w.holding != nil {
		w.holding.took += w.n
	}
}

// hold counts n, which may be negative. The lock is held.
func (q *quota) hold(c account, n int64) {
	q.used += n
	if c.key == "" {
		return
	}
	count(q.by, c.key, n)
	if c.origin != "" {
		count(q.at, c.origin, n)
	}
}

func count[N int | int64](m map[string]N, key string, n N) {
	if sum := m[key] + n; sum != 0 {
		m[key] = sum
	} else {
		delete(m, key)
	}
}

// try takes n where there is room at once, and returns what is to be given back.
func (q *quota) try(c account, n int64) (took int64, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.tryLocked(&waiter{account: c, n: q.share(c, n)})
}

func (q *quota) tryLocked(w *waiter) (took int64, ok bool) {
	if q.closed || !q.roomFor(w) || q.next() != nil {
		return 0, false
	}
	q.grant(w)
	return w.n, true
}

// maxWaiting bounds those who wait, who are looked at one by one.
const maxWaiting = 2048

// next is who gets room first of those whose share is not used up; nil: nobody
// waits but for others of its own caller.
func (q *quota) next() (first *waiter) {
	for _, w := range q.waiting {
		if q.stuck(w) { // all wait for each other
			return w
		}
		if q.within(w) && (first == nil || q.by[w.account.key] < q.by[first.account.key]) {
			first = w
		}
	}
	return first
}

// take takes n as soon as there is room. It fails where too many wait already,
// unless it is patient, and when ctx or the time to wait is over; 0: there is
// no such time.
func (q *quota) take(ctx context.Context, c account, n int64, patient bool, wait time.Duration) (took int64, err error) {
	n = q.share(c, n)
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return 0, errClosed
	}
	w := &waiter{account: c, n: n}
	if took, ok := q.tryLocked(w); ok {
		q.mu.Unlock()
		return took, nil
	}
	if !patient && !q.mayWait(c, n) {
		q.mu.Unlock()
		return 0, errBusy
	}
	w.room = make(chan struct{})
	q.waiting = append(q.waiting, w)
	q.mu.Unlock()
	return q.await(ctx, w, wait)
}

// await waits until w has what it waits for.
func (q *quota) await(ctx context.Context, w *waiter, wait time.Duration) (took int64, err error) {
	var late <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-w.room:
	case <-ctx.Done():
		err = ctx.Err()
	case <-late:
		err = errBusy
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, other := range q.waiting {
		if other == w {
			q.waiting = append(q.waiting[:i], q.waiting[i+1:]...)
			q.serve() // who came later may have waited for this one
			return 0, err
		}
	}
	if err != nil && w.holding == nil { // there was room in the same moment
		q.giveLocked(w.account, w.n)
	}
	return w.n, err
}

func (q *quota) mayWait(c account, n int64) bool {
	var all, own int64
	mine := 0
	for _, w := range q.waiting {
		all += w.n
		if w.account.key == c.key {
			own += w.n
			mine++
		}
	}
	switch {
	case all+n > q.all*q.queue, len(q.waiting) >= maxWaiting:
		return false
	case c.key == "":
		return true
	}
	return own+n <= max(n, q.each*q.queue) && mine < maxWaiting/2
}

// give gives back what was taken.
func (q *quota) give(c account, n int64) {
	if n == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.giveLocked(c, n)
}

func (q *quota) giveLocked(c account, n int64) {
	q.hold(c, -n)
	q.serve()
	if q.used == 0 && q.empty != nil && len(q.waiting) == 0 {
		close(q.empty)
		q.empty = nil
	}
}

// serve gives room to those who wait.
func (q *quota) serve() {
	for {
		w := q.next()
		if w == nil || !q.roomFor(w) {
			return
		}
		q.grant(w)
		for i, other := range q.waiting {
			if other == w {
				q.waiting = append(q.waiting[:i], q.waiting[i+1:]...)
				break
			}
		}
		close(w.room)
	}
}

// held is what is held in all.
func (q *quota) held() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.used
}

// shut lets nobody in any more.
func (q *quota) shut() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
}

// close lets nobody in any more, and waits until all is given back by those who
// are, or wait to be, or ctx ends.
func (q *quota) close(ctx context.Context) error {
	q.mu.Lock()
	q.closed = true
	if q.used == 0 && len(q.waiting) == 0 {
		q.mu.Unlock()
		return nil
	}
	if q.empty == nil {
		q.empty = make(chan struct{})
	}
	empty := q.empty
	q.mu.Unlock()
	select {
	case <-empty:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
