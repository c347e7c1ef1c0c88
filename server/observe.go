package server

import (
	"context"
	"net/http"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/jsonrpc"
)

// Observer is told of every request and of sessions that end. Its methods are called
// in the goroutine of the request and must not block.
type Observer interface {
	// BeginRequest is called before a request is served, with what is known of it
	// then. The request goes on in the context that it returns.
	BeginRequest(context.Context, *RequestRecord) context.Context
	// EndRequest is called when the answer is made and before it is written, with
	// the context of BeginRequest.
	EndRequest(context.Context, *RequestRecord)
	// EndSession is called when a session of a client before 2026-07-28 ends.
	EndSession(SessionRecord)
}

// RequestRecord is a request to a [Server]. It is valid until the method returns
// that it is given to.
type RequestRecord struct {
	Method   string // as it was sent
	Known    bool   // the server has a method of this name
	ID       []byte // JSON-RPC id as it was sent, a string or an integer
	Name     string // params.name of tools/call and prompts/get
	URI      string // params.uri of the methods about resources
	Revision string // of the protocol, which the server knows; empty: none was named yet
	Session  string // hash of the id, which alone would open the session; empty: there is none
	Peer     string // address of the client without port, of IPv6 the network; empty: stdio
	Proto    string // such as HTTP/1.1; empty: stdio

	// What params._meta says of the trace, and the header of the HTTP request that
	// carried the message. Nothing of it was checked.
	TraceParent, TraceState, Baggage string
	Header                           http.Header // nil: stdio

	Began    time.Time
	Duration time.Duration // until the answer was made

	// How it ended; valid in EndRequest.
	Code       int    // of the JSON-RPC error; 0: there is a result
	Message    string // of that error
	ToolFailed bool   // the result of a tool has isError
}

// RefusalRecord is what a client sent and was refused before it was a call: who may
// ask, from where, in which form and how much, and calls for which there is no room.
type RefusalRecord struct {
	Status int    // of the response
	Reason string // as the client was told: text for people, which may quote a header in part, and never a credential
	Peer   string // as in RequestRecord
	Method string // as in RequestRecord; empty: it was refused before it was a request
	Name   string // as there

	Subject tenon.Subject // as in the calls of who sent it; empty: nobody is known
}

// SessionRecord is a session that has ended.
type SessionRecord struct {
	Revision string // of the protocol
	Stdio    bool
	Duration time.Duration
}

// Usage is what a server holds at a moment.
type Usage struct {
	Calls         int64 // under way, until their results are written
	IncomingBytes int64 // of messages that are read
	OutgoingBytes int64 // of answers, from the first byte of the upstream's
	Sessions      int64
	Tasks         int64 // that can be asked for
	Streams       int64 // subscriptions and standing streams
}

// Usage tells what the server holds.
func (s *Server) Usage() Usage {
	return Usage{
		Calls: s.calls.held(), IncomingBytes: s.incoming.held(), OutgoingBytes: s.outgoing.held(),
		Sessions: s.sessions.number(), Tasks: s.tasks.count.held(), Streams: s.listeners.held() + s.standers.held(),
	}
}

// number is how many sessions live.
func (ss *sessions) number() int64 {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	return int64(len(ss.by))
}

// observed responds and tells the observer.
func (s *Server) observed(ctx context.Context, q *request, a *answer) (e *jsonrpc.Error) {
	r, _ := s.records.Get().(*RequestRecord)
	if r == nil {
		r = new(RequestRecord)
	}
	*r = RequestRecord{
		Method: q.Method, Known: methodOf(q.Method).run != nil, ID: q.ID, Name: q.Name, URI: q.URI, Revision: q.speaks(),
		Peer: q.account.origin, Proto: q.proto, Header: q.header, Began: time.Now(),
		TraceParent: q.Trace.Parent, TraceState: q.Trace.State, Baggage: q.Trace.Baggage,
	}
	if q.within != nil {
		r.Session = q.within.public
	}
	returned := false
	ctx = s.options.Load().Observer.BeginRequest(ctx, r)
	defer func() {
		r.Duration, r.ToolFailed = time.Since(r.Began), q.toolFailed
		switch {
		case !returned: // a handler ended its goroutine
			r.Code, r.Message = jsonrpc.CodeInternal, "internal error"
		case e != nil:
			r.Code, r.Message = e.Code, e.Message
		}
		s.options.Load().Observer.EndRequest(ctx, r)
		*r = RequestRecord{}
		s.records.Put(r)
	}()
	e = s.answerTo(ctx, q, a)
	returned = true
	return e
}

// speaks is the revision of a request that the server knows; empty: none was named.
func (q *request) speaks() string {
	switch {
	case q.era == modern:
		return jsonrpc.ModernRevision
	case q.Method == "initialize" && legacyRevision(q.Requested):
		return q.Requested
	}
	return q.revision
}

// sessionEnded tells the observer, if the client said what it speaks.
func (s *Server) sessionEnded(p *clientState, began time.Time, stdio bool) {
	if o := s.options.Load().Observer; o != nil && p.speaks() != "" {
		o.EndSession(SessionRecord{Revision: p.speaks(), Stdio: stdio, Duration: time.Since(began)})
	}
}
