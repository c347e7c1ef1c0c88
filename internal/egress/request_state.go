package egress

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"sync"
)

// RequestState of a request.
type RequestState uint8

// The stages of a request, in their order.
const (
	NotSent      RequestState = iota // no byte of it left
	SentNoAnswer                     // at least one byte left, no complete answer came back
	Answered                         // an answer came back, whatever it said
)

// String names the stage.
func (p RequestState) String() string {
	switch p {
	case NotSent:
		return "not sent"
	case SentNoAnswer:
		return "sent, no answer"
	case Answered:
		return "answered"
	}
	return "unknown progress"
}

// tracker watches one request. It is the request's context, too, which spares
// an allocation.
//
// What counts is bytes on the connection: the transport's own trace says when
// headers went into its buffer, not when they left. Where one connection
// carries several requests at once (HTTP/2), another request's bytes count as
// well, so that the answer can be too careful but not too bold.
type tracker struct {
	context.Context //nolint:containedctx // it is one
	trace           httptrace.ClientTrace
	first           *http.Response // a redirect that came before the client was asked; nil: none
	taken           bool           // it watches a request

	mu     sync.Mutex
	conn   *conn // the connection in use; nil: none yet
	start  int64 // what had been written on it before
	sent   bool  // something left on an earlier connection, or cannot be ruled out
	status int   // of the redirect that was followed last; 0: none
	header http.Header
}

type trackerKey struct{}

// Tracked returns a context for one request under ctx. [Do] needs no copy of a
// request that is made with it.
func Tracked(ctx context.Context) context.Context {
	t := &tracker{Context: ctx}
	t.trace.GotConn = t.gotConn
	return httptrace.WithClientTrace(t, &t.trace)
}

// track returns a tracker for r, and r in its context. With a transport that
// reports no connections it must be assumed that the request left.
func track(r *http.Request, reports bool) (*tracker, *http.Request) {
	t := trackerOf(r.Context())
	if t == nil || t.taken {
		r = r.WithContext(Tracked(r.Context()))
		t = trackerOf(r.Context()) //nolint:contextcheck // it stands on the context of r
	}
	t.taken, t.sent = true, !reports
	return t, r
}

// Value finds the tracker itself and what is in the context around it.
func (t *tracker) Value(key any) any {
	if _, ok := key.(trackerKey); ok {
		return t
	}
	return t.Context.Value(key)
}

func trackerOf(ctx context.Context) *tracker {
	t, ok := ctx.Value(trackerKey{}).(*tracker)
	if !ok {
		return nil
	}
	return t
}

// gotConn is called for each connection that the request is tried on, before
// anything is written there.
func (t *tracker) gotConn(info httptrace.GotConnInfo) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sent = t.left()
	t.conn = counted(info.Conn)
	if t.conn == nil {
		t.sent = true
		return
	}
	t.start = t.conn.written.Load()
}

func (t *tracker) left() bool {
	return t.sent || t.conn != nil && t.conn.written.Load() > t.start
}

// redirected notes that the request was answered and that another one is made
// for what the answer points at.
func (t *tracker) redirected(answer *http.Response) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.status, t.header = answer.StatusCode, answer.Header
}

func (t *tracker) wasRedirected() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.status != 0
}

// noAnswer is the end of a request that has no answer. A redirect may have
// come before, and then the request itself was answered.
func (t *tracker) noAnswer(r *http.Request, err error) (Response, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	got := Response{Status: t.status, Header: t.header, Progress: NotSent}
	switch {
	case t.status != 0:
		got.Progress = Answered
	case t.left():
		got.Progress = SentNoAnswer
	}
	e := newError(r, err, got.Progress)
	if t.status != 0 {
		e.why = "after a redirect: " + e.why
	}
	return got, e
}
