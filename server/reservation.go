package server

import (
	"cmp"
	"container/list"
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenon-mcp/tenon/internal/inflight"
)

// reservation is what one call holds of the bytes of answers: more and more while its
// source reads, then what is written.
type reservation struct {
	server  *Server
	account account
	joint   bool // others of its batch hold what it would wait for
	used    atomic.Bool
	holding holding
}

// Take is that of [inflight.Reservation].
func (r *reservation) Take(ctx context.Context, n int64) error {
	return r.grow(ctx, func(held int64) int64 { return held + n })
}

// Reach is that of [inflight.Reservation].
func (r *reservation) Reach(ctx context.Context, n int64) error {
	return r.grow(ctx, func(int64) int64 { return n })
}

// Caller is that of [inflight.Reservation].
func (r *reservation) Caller() inflight.Caller {
	return inflight.Caller{Key: r.account.key, Origin: r.account.origin}
}

func (r *reservation) grow(ctx context.Context, to func(held int64) int64) error {
	r.used.Store(true)
	wait := r.server.options.Load().WriteTimeout
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
func (r *reservation) settle(n int64) {
	if r.used.Load() {
		r.server.thrift.saw(r.server.outgoing.settle(&r.holding, n))
	}
}

// counting is ctx with the room of q, which its answer gives back.
func (s *Server) counting(ctx context.Context, q *request, a *answer) context.Context {
	q.reservation.server, q.reservation.account, q.reservation.joint = s, q.account, q.joint
	q.reservation.holding.account = q.account
	a.owes = append(a.owes, debt{reservation: &q.reservation})
	return inflight.With(ctx, &q.reservation)
}

// holding is what one call has of a quota. It is guarded by the quota's mutex.
type holding struct {
	account account
	took    int64
	over    bool             // it takes no more
	waiters []*waiter        // that wait to add to it
	in      [3]*list.Element // of the readers of all, of its caller and of its address; nil: it does not read
}

func (h *holding) reads() bool { return h.in[0] != nil }

// read lets h take more from now on.
func (q *quota) read(h *holding) {
	caller, origin := q.usages(h.account)
	for i, t := range []*usage{&q.all, caller, origin} {
		h.in[i] = t.readers.PushBack(h)
		t.reading += h.took
	}
	q.changed(caller, origin)
}

// rest lets h take nothing more.
func (q *quota) rest(h *holding) {
	h.over = true
	if !h.reads() {
		return
	}
	caller, origin := q.usages(h.account)
	for i, t := range []*usage{&q.all, caller, origin} {
		t.readers.Remove(h.in[i])
		h.in[i] = nil
		t.reading -= h.took
	}
	q.changed(caller, origin)
}

// grow takes what h misses of to, waiting for it until ctx or the time to wait is
// over; 0: not at all. What is larger than the share of its caller counts as the
// share.
func (q *quota) grow(ctx context.Context, h *holding, to func(held int64) int64, wait time.Duration) error {
	q.mu.Lock()
	switch {
	case q.closed && h.took == 0 && !h.reads():
		q.mu.Unlock()
		return errClosed
	case h.over:
		q.mu.Unlock()
		return nil
	case !h.reads():
		q.read(h)
	}
	n := q.share(h.account, to(h.took)) - h.took
	if n <= 0 {
		q.mu.Unlock()
		return nil
	}
	w := &waiter{account: h.account, n: n, holding: h}
	if q.hasCapacity(w) && (q.next() == nil || q.all.stuck() == h) {
		q.grant(w)
		q.mu.Unlock()
		return nil
	}
	if wait <= 0 || h.took == 0 && !q.mayWait(h.account, n) {
		q.mu.Unlock()
		return errBusy
	}
	q.wait(w)
	q.mu.Unlock()
	_, err := q.await(ctx, w, wait)
	return err
}

// settle leaves h with n, after which it takes no more, and returns what it had.
func (q *quota) settle(h *holding, n int64) (had int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	had = h.took
	q.rest(h)
	if n = min(n, h.took); n < h.took {
		less := h.took - n
		h.took = n
		q.giveLocked(h.account, less)
	} else {
		q.serve() // another one is the first of those that read
	}
	return had
}

// intake is what the bytes of a message hold of the quota until its request is
// over; nil: so little that it is not counted.
type intake struct {
	server  *Server
	account account

	mu   sync.Mutex
	took int64
	kept bool // the request outlives the exchange that it came with
}

// uncounted is the size of a message that costs no more than its headers may.
const uncounted = 16 << 10

// reserve makes room for a message, waiting for others to be done. It
// is asked for once, with all that the message may have: of two that wait for
// each other's bytes neither would ever be read.
func (s *Server) reserve(r *http.Request, limit int64) (*intake, error) {
	n := limit
	if r.ContentLength >= 0 {
		n = r.ContentLength
	}
	in := &intake{server: s, account: s.accountOf(cmp.Or(callerOf(r), first(r.Header, headerSession)), r)}
	took, err := s.incoming.take(r.Context(), in.account, n, false, s.options.Load().ReadTimeout)
	in.took = took
	s.thrift.saw(took)
	return in, err
}

// settle gives back what the message did not need.
func (in *intake) settle(n int64) {
	if in == nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.took > n {
		in.server.incoming.give(in.account, in.took-n)
		in.took = n
	}
}

// keep lets what was taken outlive the exchange; the returned function gives it
// back.
func (in *intake) keep() (done func()) {
	if in == nil {
		return func() {}
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.kept = true
	return in.giveBack
}

// done ends the exchange.
func (in *intake) done() {
	if in == nil {
		return
	}
	in.mu.Lock()
	kept := in.kept
	in.mu.Unlock()
	if !kept {
		in.giveBack()
	}
}

func (in *intake) giveBack() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.server.incoming.give(in.account, in.took)
	in.took = 0
}
