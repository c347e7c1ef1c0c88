package server

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/tenon-mcp/tenon/internal/inflight"
)

// room is what one call holds of the bytes of answers: more and more while its
// source reads, then what is written.
type room struct {
	server  *Server
	account account
	joint   bool // others of its batch hold what it would wait for
	used    atomic.Bool
	holding holding
}

// Take is that of [inflight.Room].
func (r *room) Take(ctx context.Context, n int64) error {
	return r.grow(ctx, func(held int64) int64 { return held + n })
}

// Reach is that of [inflight.Room].
func (r *room) Reach(ctx context.Context, n int64) error {
	return r.grow(ctx, func(int64) int64 { return n })
}

// Caller is that of [inflight.Room].
func (r *room) Caller() inflight.Caller {
	return inflight.Caller{Key: r.account.key, Origin: r.account.origin}
}

func (r *room) grow(ctx context.Context, to func(held int64) int64) error {
	r.used.Store(true)
	wait := r.server.options.WriteTimeout
	if r.joint {
		wait = 0
	}
	err := r.server.outgoing.grow(ctx, &r.holding, to, wait)
	if err != nil && ctx.Err() == nil {
		err = inflight.ErrFull
	}
	return err
}

// settle leaves the call with n bytes, after which it takes no more.
func (r *room) settle(n int64) {
	if r.used.Load() {
		r.server.thrift.saw(r.server.outgoing.settle(&r.holding, n))
	}
}

// counting is ctx with the room of q, which its answer gives back.
func (s *Server) counting(ctx context.Context, q *request, a *answer) context.Context {
	q.room.server, q.room.account, q.room.joint = s, q.account, q.joint
	q.room.holding.account = q.account
	a.owes = append(a.owes, debt{room: &q.room})
	return inflight.With(ctx, &q.room)
}

// holding is what one call has of a quota. It is guarded by the quota's mutex.
type holding struct {
	account account
	took    int64
	reads   bool // it may take more
	over    bool // it takes no more
}

// grow takes what h misses of to, waiting for it until ctx or the time to wait is
// over; 0: not at all. What is larger than the share of its caller counts as the
// share.
//
// Calls that hold something and wait for more could wait for each other for
// ever. So the one that began first gets what it wants, room or not, as long as
// nobody but others like it holds anything: the bound is passed by one answer.
func (q *quota) grow(ctx context.Context, h *holding, to func(held int64) int64, wait time.Duration) error {
	q.mu.Lock()
	switch {
	case q.closed && h.took == 0 && !h.reads:
		q.mu.Unlock()
		return errClosed
	case h.over:
		q.mu.Unlock()
		return nil
	case !h.reads:
		h.reads = true
		q.readers = append(q.readers, h)
	}
	n := q.share(h.account, to(h.took)) - h.took
	if n <= 0 {
		q.mu.Unlock()
		return nil
	}
	w := &waiter{account: h.account, n: n, holding: h, room: make(chan struct{})}
	if q.roomFor(w) && (q.next() == nil || q.stuck(w)) {
		q.grant(w)
		q.mu.Unlock()
		return nil
	}
	if wait <= 0 || h.took == 0 && !q.mayWait(h.account, n) {
		q.mu.Unlock()
		return errBusy
	}
	q.waiting = append(q.waiting, w)
	q.mu.Unlock()
	_, err := q.await(ctx, w, wait)
	return err
}

// settle leaves h with n, after which it takes no more, and returns what it had.
func (q *quota) settle(h *holding, n int64) (had int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	h.over, had = true, h.took
	if h.reads {
		h.reads = false
		for i, other := range q.readers {
			if other == h {
				q.readers = append(q.readers[:i], q.readers[i+1:]...)
				break
			}
		}
	}
	if n = min(n, h.took); n < h.took {
		less := h.took - n
		h.took = n
		q.giveLocked(h.account, less)
	} else {
		q.serve() // another one is the first of those that read
	}
	return had
}

// stuck reports whether w is the first of those that read, and all that is held
// is held by those.
func (q *quota) stuck(w *waiter) bool {
	return q.first(w, q.used, func(account) bool { return true })
}

// first reports whether w is the first reader among its like, who together hold
// all of held.
func (q *quota) first(w *waiter, held int64, like func(account) bool) bool {
	if w.holding == nil {
		return false
	}
	first := true
	for _, h := range q.readers {
		if !like(h.account) {
			continue
		}
		if first && h != w.holding {
			return false
		}
		first = false
		held -= h.took
	}
	return !first && held == 0
}
