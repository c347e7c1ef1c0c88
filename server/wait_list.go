package server

import (
	"container/heap"
	"container/list"
	"slices"
)

// waiter is a caller that waits for capacity of a quota.
type waiter struct {
	account account
	n       int64
	holding *holding      // that grows by it; nil: none
	granted chan struct{} // closed when it has what it waits for

	queue *queue // nil: it does not wait, or no more
	in    *list.Element
	turn  uint64 // the number of waiters before it
}

// waitList is the waiting callers, in the order in which they get capacity: by caller within
// each address, and by address. The first of all is found without a look at the
// others.
type waitList struct {
	origins ranking // addresses with waiters
	turn    uint64
	total   queued
}

// queued is how many wait, and for how much.
type queued struct {
	waiters int
	n       int64
}

// queue is who waits of one caller at one address, the oldest first.
type queue struct {
	caller, origin *usage
	waiters        list.List // of *waiter
	place          place
}

// place is where a queue or an address is in a ranking.
type place struct {
	full  bool  // its share is used up
	held  int64 // by the caller of its first waiter
	turn  uint64
	index int
	first func() *waiter
}

// ranking is a heap, the next to get capacity at the top.
type ranking []*place

func (r ranking) Len() int { return len(r) }

func (r ranking) Less(i, j int) bool {
	a, b := r[i], r[j]
	switch {
	case a.full != b.full:
		return b.full
	case a.held != b.held:
		return a.held < b.held
	}
	return a.turn < b.turn
}

func (r ranking) Swap(i, j int) {
	r[i], r[j] = r[j], r[i]
	r[i].index, r[j].index = i, j
}

// Push is that of [heap.Interface].
func (r *ranking) Push(p any) {
	last := p.(*place) //nolint:errcheck,forcetypeassert // put pushes nothing else
	last.index = len(*r)
	*r = append(*r, last)
}

// Pop is that of [heap.Interface].
func (r *ranking) Pop() any {
	last := (*r)[len(*r)-1]
	*r = (*r)[:len(*r)-1]
	last.index = -1
	return last
}

// put moves p to where its first waiter belongs; without one it goes.
func (r *ranking) put(p *place, w *waiter, full bool) {
	if w == nil {
		if p.index >= 0 {
			heap.Remove(r, p.index)
		}
		return
	}
	p.full, p.held, p.turn = full, w.queue.caller.used, w.turn
	if p.index < 0 {
		heap.Push(r, p)
	} else {
		heap.Fix(r, p.index)
	}
}

// add lets w wait. The tallies of its account are to be ranked after it.
func (l *waitList) add(w *waiter, caller, origin *usage) {
	i := slices.IndexFunc(caller.at, func(of *queue) bool { return of.origin == origin })
	if i < 0 {
		i = len(caller.at)
		caller.at = append(caller.at, newQueue(caller, origin))
	}
	w.queue, w.turn = caller.at[i], l.turn
	w.in = w.queue.waiters.PushBack(w)
	l.turn++
	l.count(w, 1)
}

func newQueue(caller, origin *usage) *queue {
	of := &queue{caller: caller, origin: origin}
	of.place = place{index: -1, first: of.first}
	return of
}

// remove takes w out, and reports whether it was there. The tallies of its
// account are to be ranked after it.
func (l *waitList) remove(w *waiter) bool {
	if w.queue == nil {
		return false
	}
	l.count(w, -1)
	w.queue.waiters.Remove(w.in)
	w.queue = nil
	return true
}

func (l *waitList) count(w *waiter, by int) {
	for _, c := range []*queued{&l.total, &w.queue.caller.queued} {
		c.waiters += by
		c.n += int64(by) * w.n
	}
	if h := w.holding; h != nil && by > 0 {
		h.waiters = append(h.waiters, w)
	} else if h != nil {
		h.waiters = slices.DeleteFunc(h.waiters, func(other *waiter) bool { return other == w })
	}
}

// rank moves the queues of a caller and an address to their places.
func (l *waitList) rank(caller, origin *usage) {
	for _, of := range caller.at {
		w := of.first()
		of.origin.queues.put(&of.place, w, w != nil && !caller.fits(w))
		if of.origin != origin {
			l.rankOrigin(of.origin)
		}
	}
	l.rankOrigin(origin)
	caller.at = slices.DeleteFunc(caller.at, func(of *queue) bool { return of.waiters.Len() == 0 })
}

func (l *waitList) rankOrigin(t *usage) {
	w := t.next()
	l.origins.put(&t.place, w, w != nil && (!t.fits(w) || !w.queue.caller.fits(w)))
}

// next is who gets room first of those whose shares are not used up; nil: nobody
// waits but for others of its own caller or address.
func (l *waitList) next() *waiter {
	if len(l.origins) == 0 || l.origins[0].full {
		return nil
	}
	return l.origins[0].first()
}

// first is who is next in a queue; nil: nobody.
func (of *queue) first() *waiter {
	if h := of.caller.stuck(); h != nil && len(h.waiters) > 0 && h.waiters[0].queue == of {
		return h.waiters[0]
	}
	if front := of.waiters.Front(); front != nil {
		return front.Value.(*waiter) //nolint:errcheck,forcetypeassert // add puts nothing else there
	}
	return nil
}
