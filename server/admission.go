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
)

// enter takes a place among the calls, which is given back when the answer was
// written. Who does not read his answers has no further calls made: nothing
// would become of them.
func (s *Server) enter(ctx context.Context, q *request, a *answer) error {
	took, err := s.calls.take(ctx, q.account, 1, q.patient || s.lax(ruleBusy), 0)
	if err != nil {
		return err
	}
	a.owes = append(a.owes, debt{quota: &s.calls, account: q.account, n: took})
	if q.joint {
		return nil
	}
	took, err = s.outgoing.take(ctx, q.account, 1, true, s.options.WriteTimeout)
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

// afford counts the bytes of an answer, which waits for room, and reports
// whether there is any.
func (s *Server) afford(ctx context.Context, q *request, a *answer) bool {
	n := a.holds()
	if n < large {
		q.room.settle(n)
		return true
	}
	if err := q.room.Reach(ctx, n); err != nil {
		q.room.settle(0)
		return false
	}
	q.room.settle(n)
	return true
}

// undelivered is the result of a call whose answer found no room. What was
// executed stands in its _meta.
func undelivered(bytes int64) *tenon.Result {
	text := "The call was made, but its answer of " + strconv.FormatInt(bytes, 10) + " bytes cannot be delivered: too many bytes wait for clients that read slowly. " +
		"Whether it was executed, and may be made again, is in _meta. Read the answers under way, or ask for less."
	return &tenon.Result{IsError: true, Code: tenon.CodeInternal, Message: text, Content: []tenon.Content{{Text: []byte(text)}}}
}

// busy is the answer where there is no room, or none any more.
func busy(err error) *rpcError {
	if errors.Is(err, errClosed) {
		return &rpcError{code: codeInternal, message: "the server shuts down; nothing was executed", status: 503}
	}
	return &rpcError{code: codeInternal, message: "too many calls at once; try again later", status: 503}
}

// thrift gives memory back to the system once a burst of large messages and
// answers is over: the runtime would keep it for minutes, and what was left over
// from making an answer as long as nothing else is allocated.
type thrift struct {
	mu    sync.Mutex
	bytes int64       // that were taken since memory was last given back
	timer *time.Timer // nil: too little was
}

const (
	muchTaken = 32 << 20
	quietTime = 2 * time.Second
)

// saw notes that so many bytes were taken or given back.
func (t *thrift) saw(n int64) {
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

func (t *thrift) free() {
	t.mu.Lock()
	t.bytes, t.timer = 0, nil
	t.mu.Unlock()
	debug.FreeOSMemory()
}
