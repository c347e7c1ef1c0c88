package server

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/jsonrpc"
)

// enter takes a place among the calls, which is given back when the answer was
// written. Who does not read his answers has no further calls made: nothing
// would become of them.
func (s *Server) enter(ctx context.Context, q *request, a *answer) error {
	took, err := s.calls.take(ctx, q.account, 1, q.waits, 0)
	if err != nil {
		return err
	}
	a.owes = append(a.owes, debt{quota: &s.calls, account: q.account, n: took})
	if q.joint {
		return nil
	}
	took, err = s.outgoing.take(ctx, q.account, 1, true, s.options.Load().WriteTimeout)
	s.outgoing.give(q.account, took)
	return err
}

// share lets somebody else hold what the answer holds, too: it is given back when
// both are done.
func (a *answer) share() (leave func()) {
	for i := range a.owes {
		a.owes[i].holders = new(atomic.Int32)
		a.owes[i].holders.Store(2)
	}
	held := slices.Clone(a.owes)
	return func() {
		for _, d := range held {
			d.settle()
		}
	}
}

// leave gives the place of a call back before its answer is written.
func (a *answer) leave(s *Server) {
	for i, d := range a.owes {
		if d.quota == &s.calls {
			d.settle()
			a.owes = slices.Delete(a.owes, i, i+1)
			return
		}
	}
}

// reserveResult counts the bytes of an answer, which waits for room, and reports
// whether there is any.
func (s *Server) reserveResult(ctx context.Context, q *request, a *answer) bool {
	n := a.holds()
	if n < large {
		q.reservation.settle(n)
		return true
	}
	if err := q.reservation.Reach(ctx, n); err != nil {
		q.reservation.settle(0)
		return false
	}
	q.reservation.settle(n)
	return true
}

// undeliveredResult is the result of a call whose response exceeds the budget.
// Its _meta has executed.
func undeliveredResult(bytes int64) *tenon.Result {
	text := "The call was made, but its answer of " + strconv.FormatInt(bytes, 10) + " bytes cannot be delivered: too many bytes wait for clients that read slowly. " +
		"Whether it was executed, and may be made again, is in _meta. Read the answers under way, or ask for less."
	return &tenon.Result{IsError: true, Code: tenon.CodeInternal, Message: text, Content: []tenon.Content{{Text: []byte(text)}}}
}

// busy is the response when a limit is reached or the server shuts down.
func busy(err error) *jsonrpc.Error {
	if errors.Is(err, errClosed) {
		return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "the server shuts down; nothing was executed", Status: 503}
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "too many calls at once; try again later", Status: 503}
}

// memoryReleaser returns memory to the system once a burst of large messages and
// answers is over: the runtime would keep it for minutes, and what was left over
// from making an answer as long as nothing else is allocated.
type memoryReleaser struct {
	mu    sync.Mutex
	bytes int64       // that were taken since memory was last given back
	timer *time.Timer // nil: too little was
}

const (
	muchTaken = 32 << 20
	quietTime = 2 * time.Second
)

// saw counts bytes that were reserved or released.
func (t *memoryReleaser) saw(n int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch t.bytes += n; {
	case t.bytes < muchTaken:
	case t.timer == nil:
		t.timer = time.AfterFunc(quietTime, t.free)
	default:
		t.timer.Reset(quietTime)
	}
}

func (t *memoryReleaser) free() {
	t.mu.Lock()
	t.bytes, t.timer = 0, nil
	t.mu.Unlock()
	debug.FreeOSMemory()
}
