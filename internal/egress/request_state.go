package egress

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"sync"
)

// RequestState is how far a request got.
type RequestState uint8

// The states of a request, in order.
const (
	NotSent        RequestState = iota // no byte was sent
	SentNoResponse                     // at least one byte was sent, and no complete response arrived
	Responded                          // a response arrived, with any status
)

// String names the state.
func (p RequestState) String() string {
	switch p {
	case NotSent:
		return "not sent"
	case SentNoResponse:
		return "sent, no response"
	case Responded:
		return "responded"
	}
	return "unknown state"
}

// tracker observes one request. It is also the request's context, which saves
// an allocation.
//
// It counts bytes on the connection: the transport's trace reports when headers
// are written into its buffer, not when they are sent. If a connection carries
// several concurrent requests (HTTP/2), bytes of others count too, so the
// result may be too careful but never too optimistic.
type tracker struct {
	context.Context //nolint:containedctx // it is one
	trace           httptrace.ClientTrace
	first           *http.Response // a redirect that arrived before c.Do was called; nil: none
	inUse           bool           // in use by a request

	mu     sync.Mutex
	conn   *conn // the current connection; nil: none yet
	start  int64 // its byte count before the request
	sent   bool  // something was sent on an earlier connection, or may have been
	status int   // of the last redirect that was followed; 0: none
	header http.Header
}

type trackerKey struct{}

// Tracked returns a context for one request under ctx. [Do] need not copy a
// request with this context.
func Tracked(ctx context.Context) context.Context {
	t := &tracker{Context: ctx}
	t.trace.GotConn = t.gotConn
	return httptrace.WithClientTrace(t, &t.trace)
}

// track returns a tracker for r, and r with its context. If the transport does
// not report connections, the request counts as sent.
func track(r *http.Request, reports bool) (*tracker, *http.Request) {
	t := trackerOf(r.Context())
	if t == nil || t.inUse {
		r = r.WithContext(Tracked(r.Context()))
		t = trackerOf(r.Context()) //nolint:contextcheck // based on the context of r
	}
	t.inUse, t.sent = true, !reports
	return t, r
}

// Value returns the tracker itself, or values of the parent context.
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
// anything is written to it.
func (t *tracker) gotConn(info httptrace.GotConnInfo) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sent = t.wroteBytes()
	t.conn = countingConn(info.Conn)
	if t.conn == nil {
		t.sent = true
		return
	}
	t.start = t.conn.written.Load()
}

// sentBefore reports whether the transport has sent the request on an earlier
// connection, which was lost before a response.
func (t *tracker) sentBefore() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sent && t.status == 0
}

func (t *tracker) wroteBytes() bool {
	return t.sent || t.conn != nil && t.conn.written.Load() > t.start
}

// redirected records a redirect that is followed.
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

// noResponse returns the result of a request without a response. If a redirect
// was followed before, the request itself had a response.
func (t *tracker) noResponse(r *http.Request, err error) (Response, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	got := Response{Status: t.status, Header: t.header, State: NotSent}
	switch {
	case t.status != 0:
		got.State = Responded
	case t.wroteBytes():
		got.State = SentNoResponse
	}
	e := newError(r, err, got.State)
	if t.status != 0 {
		e.reason = "after a redirect: " + e.reason
	}
	return got, e
}
