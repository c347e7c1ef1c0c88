package server

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"time"
)

// quota bounds what is held at a time, in all and by one caller: calls,
// subscriptions, bytes. Who waits for room is served in the order of what its
// caller holds, the least first.
type quota struct {
	each  int64 // of one caller
	bytes bool  // a caller's own bound of bytes is each for it
	near  int64 // of one address, whoever it says to be: it can invent names
	queue int64 // may wait in all, so many times what may be held; of one caller so many times its share

	mu      sync.Mutex
	all     usage
	callers map[string]*usage
	origins map[string]*usage
	waiting waitList
	closed  bool
	empty   chan struct{} // closed when nothing is held; nil: nobody waits for that
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
	q.all.most, q.each, q.queue = all, min(each, all), 1
	q.near = max(q.each, all-all/8)
	q.callers, q.origins = map[string]*usage{}, map[string]*usage{}
}

// share is n as it counts: what is larger than a caller's share takes all of it.
func (q *quota) share(c account, n int64) int64 {
	if c.key == "" {
		return min(n, q.all.most)
	}
	return min(n, q.ofCaller(c))
}

// ofCaller is the share of a caller.
func (q *quota) ofCaller(c account) int64 {
	switch own := c.allowance.Bytes; {
	case !q.bytes || own == 0:
		return q.each
	case own < 0:
		return q.all.most
	default:
		return min(own, q.all.most)
	}
}

// usages are those of an account.
func (q *quota) usages(c account) (caller, origin *usage) {
	caller = usageOf(q.callers, c.key, q.ofCaller(c))
	if q.bytes && c.key != "" {
		caller.most = q.ofCaller(c) // it may have changed
	}
	return caller, usageOf(q.origins, c.origin, q.near)
}

// changed has those who wait ranked anew after the tallies of an account changed.
func (q *quota) changed(caller, origin *usage) {
	q.waiting.rank(caller, origin)
	caller.keep(q.callers)
	origin.keep(q.origins)
}

// hasCapacity reports whether there is capacity for w, apart from who else waits.
func (q *quota) hasCapacity(w *waiter) bool {
	caller, origin := q.usages(w.account)
	return caller.fits(w) && origin.fits(w) && q.all.fits(w)
}

// grant gives w what it waits for.
func (q *quota) grant(w *waiter) {
	if w.holding != nil {
		w.holding.took += w.n
	}
	q.hold(w.account, w.n, w.holding != nil && w.holding.reads())
}

// hold counts n, which may be negative; reading: of a call that may take more.
// The lock is held.
func (q *quota) hold(c account, n int64, reading bool) {
	caller, origin := q.usages(c)
	for _, t := range []*usage{&q.all, caller, origin} {
		t.used += n
		if reading {
			t.reading += n
		}
	}
	q.changed(caller, origin)
}

// try takes n where there is capacity at once, and returns what is to be given back.
func (q *quota) try(c account, n int64) (took int64, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.tryLocked(&waiter{account: c, n: q.share(c, n)})
}

func (q *quota) tryLocked(w *waiter) (took int64, ok bool) {
	if q.closed || !q.hasCapacity(w) || q.next() != nil {
		return 0, false
	}
	q.grant(w)
	return w.n, true
}

// maxWaiting bounds those who wait.
const maxWaiting = 2048

// next is who gets capacity first of those whose shares are not used up; nil: nobody
// waits but for others of its own caller or address.
func (q *quota) next() *waiter {
	if h := q.all.stuck(); h != nil && len(h.waiters) > 0 { // all wait for each other
		return h.waiters[0]
	}
	return q.waiting.next()
}

// wait puts w among those who wait.
func (q *quota) wait(w *waiter) {
	w.granted = make(chan struct{})
	caller, origin := q.usages(w.account)
	q.waiting.add(w, caller, origin)
	q.changed(caller, origin)
}

// leave takes w from those who wait, and reports whether it was among them.
func (q *quota) leave(w *waiter) bool {
	caller, origin := q.usages(w.account)
	was := q.waiting.remove(w)
	q.changed(caller, origin)
	return was
}

// take takes n as soon as there is capacity. It fails if too many wait already,
// unless mustWait, and when ctx or the time to wait is over; 0: there is
// no such time.
func (q *quota) take(ctx context.Context, c account, n int64, mustWait bool, wait time.Duration) (took int64, err error) {
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
	if !mustWait && !q.mayWait(c, n) {
		q.mu.Unlock()
		return 0, errBusy
	}
	q.wait(w)
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
	case <-w.granted:
	case <-ctx.Done():
		err = ctx.Err()
	case <-late:
		err = errBusy
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.leave(w) {
		q.serve() // who came later may have waited for this one
		return 0, err
	}
	if err != nil && w.holding == nil { // there was capacity in the same moment
		q.giveLocked(w.account, w.n)
	}
	return w.n, err
}

func (q *quota) mayWait(c account, n int64) bool {
	each := q.ofCaller(c)
	all, own := q.waiting.total, usageOf(q.callers, c.key, each).queued
	switch {
	case all.n+n > q.all.most*q.queue, all.waiters >= maxWaiting:
		return false
	case c.key == "":
		return true
	}
	return own.n+n <= max(n, each*q.queue) && own.waiters < maxWaiting/2
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
	q.hold(c, -n, false)
	q.serve()
	if q.all.used == 0 && q.empty != nil && q.waiting.total.waiters == 0 {
		close(q.empty)
		q.empty = nil
	}
}

// serve gives capacity to those who wait.
func (q *quota) serve() {
	for w := q.next(); w != nil && q.hasCapacity(w); w = q.next() {
		q.leave(w)
		q.grant(w)
		close(w.granted)
	}
}

// held is what is held in all.
func (q *quota) held() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.all.used
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
	if q.all.used == 0 && q.waiting.total.waiters == 0 {
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

// usage is what of a quota is held by all, by one caller or by one address.
type usage struct {
	name    string
	most    int64
	used    int64
	reading int64     // of it, by calls that may take more
	readers list.List // those calls, each a *holding, the oldest first

	queued queued   // of a caller: who waits
	at     []*queue // of a caller: one for each address

	queues ranking // of an address: one for each caller
	place  place   // of an address: among all
}

// usageOf is that of a name, which need not be in all. No name has no bound.
func usageOf(all map[string]*usage, name string, most int64) *usage {
	if t := all[name]; t != nil {
		return t
	}
	if name == "" {
		most = 1<<63 - 1
	}
	t := &usage{name: name, most: most}
	t.place = place{index: -1, first: t.next}
	return t
}

// keep has t in all as long as it counts something.
func (t *usage) keep(all map[string]*usage) {
	if t.used == 0 && t.readers.Len() == 0 && len(t.at) == 0 && len(t.queues) == 0 {
		delete(all, t.name)
	} else {
		all[t.name] = t
	}
}

// fits reports whether there is room for w.
//
// Calls that hold something and wait for more could wait for each other for
// ever. So the one that began first gets what it wants, room or not, as long as
// nobody but others like it holds anything: the bound is passed by one answer.
func (t *usage) fits(w *waiter) bool {
	return w.n <= t.most-t.used || w.holding != nil && t.stuck() == w.holding
}

// stuck is the call that began to read first, where only such calls hold
// anything; nil: it is otherwise.
func (t *usage) stuck() *holding {
	if front := t.readers.Front(); front != nil && t.reading == t.used {
		return front.Value.(*holding) //nolint:errcheck,forcetypeassert // grow puts nothing else there
	}
	return nil
}

// next is who is next at an address; nil: nobody.
func (t *usage) next() *waiter {
	if h := t.stuck(); h != nil && len(h.waiters) > 0 && h.waiters[0].queue.caller.fits(h.waiters[0]) {
		return h.waiters[0]
	}
	if len(t.queues) == 0 {
		return nil
	}
	return t.queues[0].first()
}
