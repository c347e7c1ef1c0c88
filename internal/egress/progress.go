package egress

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"sync"
)

// Progress of a request.
type Progress uint8

// The stages of a request, in their order.
const (
	NotSent      Progress = iota // no byte of it left
	SentNoAnswer                 // at least one byte left, no complete answer came back
	Answered                     // an answer came back, whatever it said
)

// String names the stage.
func (p Progress) String() string {
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
	context.Context
	trace httptrace.ClientTrace

	mu     sync.Mutex
	conn   *conn // the connection in use; nil: none yet
	start  int64 // what had been written on it before
	sent   bool  // something left on an earlier connection, or cannot be ruled out
	status int   // of the redirect that was followed last; 0: none
	header http.Header
}

type trackerKey struct{}

// newTracker returns a tracker for a request under ctx. With a transport that
// reports no connections it must be assumed that the request left.
func newTracker(ctx context.Context, reports bool) *tracker {
	t := &tracker{Context: ctx, sent: !reports}
	t.trace.GotConn = t.gotConn
	return t
}

func (t *tracker) traced() context.Context { return httptrace.WithClientTrace(t, &t.trace) }

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

// response is what is known when no answer came: a redirect may have come
// before, and then the request itself was answered.
func (t *tracker) response() Response {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.status != 0:
		return Response{Status: t.status, Header: t.header, Progress: Answered}
	case t.left():
		return Response{Progress: SentNoAnswer}
	}
	return Response{Progress: NotSent}
}

// afterAnswer is the progress of a request whose answer's body could not be
// read. A body that is too large did come; one that broke off is half an
// answer, and the far side may have failed as well.
func (t *tracker) afterAnswer(k Kind) Progress {
	t.mu.Lock()
	defer t.mu.Unlock()
	if k == TooLarge || t.status != 0 {
		return Answered
	}
	return SentNoAnswer
}
