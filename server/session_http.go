package server

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/incident"
	"github.com/tenon-mcp/tenon/internal/jsonrpc"
)

const (
	headerSession = "Mcp-Session-Id"
	headerLast    = "Last-Event-Id"
)

// sessionOf finds the session that r names, or refuses r. Whoever gets one
// leaves it.
func (s *Server) sessionOf(w http.ResponseWriter, r *http.Request) *session {
	v := s.sessions.find(r.Header.Get(headerSession))
	if v != nil && v.caller != callerOf(r) {
		v.leave()
		v = nil // to others there is no such session
	}
	if v == nil {
		s.refuse(w, r, nil, jsonrpc.Refused(http.StatusNotFound, "there is no such session; begin again with initialize"))
	}
	return v
}

// postSession serves a message of a session, or the one that opens it.
func (s *Server) postSession(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message, in *intake) {
	if m.Method == "initialize" && r.Header.Get(headerSession) == "" {
		s.openSession(w, r, m)
		return
	}
	v := s.sessionOf(w, r)
	if v == nil {
		return
	}
	defer v.leave()
	switch {
	case m.Response:
		v.answered(*m)
		w.WriteHeader(http.StatusAccepted)
	case m.Notification:
		if m.Method == "notifications/cancelled" {
			v.cancel(m.RequestID)
		}
		w.WriteHeader(http.StatusAccepted)
	default:
		s.requestOf(v, w, r, m, in)
	}
}

// openSession answers initialize and gives the client a session. Where there
// is no room for one, the client is served without.
func (s *Server) openSession(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message) {
	x := &exchange{request: request{Message: *m, server: s, era: legacy, header: r.Header}}
	s.attribute(&x.request, r)
	v, wait := s.sessions.mint(x.account)
	if wait > 0 {
		s.slowDown(r.Context(), x.account)
		s.refuse(w, r, m.ID, jsonrpc.LimitReached("the operator allows "+strconv.FormatInt(x.account.allowance.Sessions, 10)+" sessions at a time: end one, or try again later", tenon.RetrySeconds(wait)))
		return
	}
	if v != nil {
		v.caller, v.unread, x.peer, x.within = callerOf(r), s.release, v.clientState, v
	}
	a := s.newAnswer()
	defer s.release(a)
	e := s.respond(r.Context(), &x.request, a)
	switch {
	case v == nil:
	case e != nil:
		s.sessions.end(v)
	default:
		w.Header().Set(headerSession, v.id)
	}
	s.send(w, s.httpStatus(legacy, e), a)
}

// requestOf serves a request of a session. What may last has a stream of its
// own, to which the client can come back.
func (s *Server) requestOf(v *session, w http.ResponseWriter, r *http.Request, m *jsonrpc.Message, in *intake) {
	x := &ride{exchange: exchange{request: request{
		Message: *m, server: s, era: legacy, outlives: true,
		peer: v.clientState, subject: v.subject, revision: v.speaks(), intake: in,
		header: r.Header, within: v,
	}}}
	s.attribute(&x.request, r)
	switch m.Method {
	case "tools/call", "prompts/get", "resources/read":
	default:
		s.serve(w, r, &x.exchange)
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	x.flight = inFlight{id: m.ID, cancel: cancel}
	if !v.register(&x.flight) {
		cancel()
		s.refuse(w, r, m.ID, jsonrpc.Refused(http.StatusServiceUnavailable, "too many requests of one session at once; try again later"))
		return
	}
	x.outlives = false // of the connection it does, but a cancelled one ends
	x.guard = guarded{peer: v.clientState, flight: &x.flight}
	if acceptsEvents(r.Header["Accept"]) {
		x.out = &x.guard
	}
	if s.options.Load().PollAfter > 0 {
		stream, over := v.stream(), in.keep()
		stream.take() // the client that asks, even where the answer is there before it reads
		x.guard.out = stream
		incident.Go(s.log, "a request of a session", func() {
			defer over()
			s.register(ctx, v, &x.request, &x.flight, stream)
		}, func(*incident.Error) { stream.end(nil) })
		s.unregister(v, w, r, stream, m.ID)
		return
	}
	defer cancel()
	x.session, x.guard.out = v, &sessionNotifier{x}
	x.stream.w, x.stream.timeout = w, s.options.Load().WriteTimeout
	s.attach(ctx, w, x)
}

// ride is a request of a session that is served where it came in.
type ride struct {
	exchange
	session *session
	flight  inFlight
	guard   guarded

	mu     sync.Mutex
	replay *eventStream // nil: nothing was sent yet
}

// sessionNotifier keeps what a ride sends and writes it too, as long as somebody
// reads.
type sessionNotifier struct{ *ride }

func (o *sessionNotifier) send(message []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.replay == nil {
		o.replay = o.session.direct()
	}
	o.put(message, false)
	return nil
}

func (x *ride) put(message []byte, last bool) {
	if number, ok := x.replay.add(message, last); ok {
		_ = x.replay.write(&x.stream, number, message) // who is gone may come back
	}
}

// attach runs a request and writes what comes of it.
func (s *Server) attach(ctx context.Context, w http.ResponseWriter, x *ride) {
	a := s.newAnswer()
	defer s.release(a)
	s.respondAndSend(ctx, &x.request, a, w, func(e *jsonrpc.Error) { s.detach(w, x, a, e) })
}

// detach sends the answer to a request that rode along.
func (s *Server) detach(w http.ResponseWriter, x *ride, a *answer, e *jsonrpc.Error) {
	wanted := x.session.unregister(&x.flight)
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.replay == nil && wanted:
		s.send(w, s.httpStatus(legacy, e), a)
	case x.replay == nil:
		s.unanswered(w, x.out != nil, x.ID)
	case wanted && a.holds() > maxEventBytes:
		if number, ok := x.replay.pass(); ok {
			_ = x.stream.answer(x.replay.place(number), a)
		}
	case wanted:
		x.put(a.flat(), true)
	default:
		x.replay.end(nil)
	}
	x.stream.close()
}

// register runs a request of a session, whoever listens.
func (s *Server) register(ctx context.Context, v *session, q *request, f *inFlight, stream *eventStream) {
	defer f.cancel()
	a := s.newAnswer()
	s.respondAndSend(ctx, q, a, nil, func(e *jsonrpc.Error) {
		stream.status = s.httpStatus(legacy, e)
		if !v.unregister(f) {
			stream.end(nil)
			s.release(a)
			return
		}
		if !stream.end(a) {
			s.release(a)
		}
	})
}

// unregister writes what comes of a request: an event stream, or one answer.
func (s *Server) unregister(v *session, w http.ResponseWriter, r *http.Request, stream *eventStream, id []byte) {
	out := &events{w: w, timeout: s.options.Load().WriteTimeout}
	ctx, cancel := r.Context(), context.CancelFunc(func() {})
	if s.options.Load().PollAfter > 0 {
		ctx, cancel = context.WithCancel(ctx)
		out.began = func() { time.AfterFunc(s.options.Load().PollAfter, cancel) }
	}
	defer cancel()
	stream.follow(ctx, s, out, 0)
	if out.close() {
		return // to be continued where it is not over
	}
	defer v.forget(stream) // no event has told the client where to go on
	if r.Context().Err() != nil {
		return
	}
	a, silent := stream.rest()
	switch {
	case a != nil:
		s.send(w, stream.status, a)
		s.release(a)
	case silent:
		s.unanswered(w, acceptsEvents(r.Header["Accept"]), id)
	}
}

// unanswered ends a request that its client cancelled. Nothing may be sent for
// it, which an event stream can do that ends; the only other form that the
// revisions know is one JSON object.
func (s *Server) unanswered(w http.ResponseWriter, streams bool, id []byte) {
	if streams {
		out := &events{w: w, timeout: s.options.Load().WriteTimeout}
		_ = out.comment() // who is gone hears nothing
		out.close()
		return
	}
	a := s.newAnswer()
	defer s.release(a)
	a.fail(id, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "the call was cancelled"})
	s.send(w, http.StatusOK, a)
}

// rest takes the answer of a stream on which nothing else was sent.
func (r *eventStream) rest() (a *answer, silent bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a, r.plain = r.plain, nil
	return a, r.silent
}

// guarded sends nothing for a request that was cancelled.
type guarded struct {
	peer   *clientState
	flight *inFlight
	out    notifier
}

func (g *guarded) send(message []byte) error {
	if !g.peer.wants(g.flight) {
		return errSilent
	}
	return g.out.send(message)
}

// standing serves GET: the stream on which a session hears of changes, or one
// to which the client comes back.
func (s *Server) standing(w http.ResponseWriter, r *http.Request) {
	if !acceptsEvents(r.Header["Accept"]) {
		s.refuse(w, r, nil, jsonrpc.NotAcceptable())
		return
	}
	v := s.sessionOf(w, r)
	if v == nil {
		return
	}
	defer v.leave()
	mine := v.account
	one, ok := s.standers.try(mine, 1)
	defer s.standers.give(mine, one)
	if !ok {
		s.refuse(w, r, nil, jsonrpc.Refused(http.StatusServiceUnavailable, "too many streams at once; try again later"))
		return
	}
	ctx, cancel := v.until(r.Context())
	defer cancel()
	ctx, leave := s.whileKnown(ctx, r)
	defer leave()
	out := &events{w: w, timeout: s.options.Load().WriteTimeout}
	if last := r.Header.Get(headerLast); last != "" {
		s.resumeStream(ctx, v, w, r, out)
		return
	}
	stream := v.stand(s.listen(v.watches))
	// The client knows that it is heard before anything happens.
	if stream.resumable && stream.prime(out, 0) != nil || !stream.resumable && out.comment() != nil {
		v.forget(stream)
		return
	}
	stream.follow(ctx, s, out, 0)
}

// resumeStream goes on with a stream behind the event that the client saw last. One
// that is not known is no sign that the session has ended, which 404 would be.
func (s *Server) resumeStream(ctx context.Context, v *session, w http.ResponseWriter, r *http.Request, out *events) {
	id, at, ok := parsePlace(r.Header.Get(headerLast))
	stream := v.streamOf(id)
	if !ok || stream == nil {
		s.refuse(w, r, nil, jsonrpc.Refused(http.StatusBadRequest, "there is no event "+jsonrpc.Clip(r.Header.Get(headerLast))+" to go on from; the session goes on without Last-Event-ID"))
		return
	}
	if stream.prime(out, at) == nil {
		stream.follow(ctx, s, out, at)
	}
}

// endSession serves DELETE.
func (s *Server) endSession(w http.ResponseWriter, r *http.Request) {
	if v := s.sessionOf(w, r); v != nil {
		defer v.leave()
		s.sessions.end(v)
		w.WriteHeader(http.StatusNoContent)
	}
}
