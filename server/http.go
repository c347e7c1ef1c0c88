package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/jsonrpc"
)

// ServeHTTP is the streamable HTTP endpoint: one message a POST, answered as JSON
// or, where more than the answer is to be sent, as an event stream. The caller
// mounts it at the path of its choice, and bounds by the options of
// http.Server how long a request may take to arrive; it must not bound how
// long an answer may take, because event streams last.
//
// The context of a 2026-07-28 call ends with its connection; before that
// revision a lost connection does not mean that the call is not wanted.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.crossOrigin(w, r) {
		return
	}
	closeAfter(w, r)
	e := s.admit(r)
	if e == nil {
		r, e = s.identify(r) //nolint:contextcheck // Authenticate has the context of r
	}
	if e != nil {
		s.refuse(w, r, nil, e)
		return
	}
	switch {
	case r.Method == http.MethodPost:
		s.post(w, r)
	case s.options.Load().NoSessions || first(r.Header, headerSession) == "" || first(r.Header, headerRevision) == jsonrpc.ModernRevision:
		s.refuse(w, r, nil, jsonrpc.Refused(http.StatusMethodNotAllowed, "only POST is served here"))
	case r.Method == http.MethodGet:
		s.standing(w, r)
	default:
		s.endSession(w, r)
	}
}

// closeAfter closes the connection after a request with a chunked body:
// net/http does not tell whether it had a length as well, and then RFC 9112, 6.1
// wants that. What a proxy before us took for a part of the body would else be
// the next request.
func closeAfter(w http.ResponseWriter, r *http.Request) {
	if len(r.TransferEncoding) > 0 {
		w.Header().Set("Connection", "close")
	}
}

// CloseAfterChunks is h, and ends the connection behind a request whose body came
// in chunks, as the endpoints of a Server do: for what is served beside them.
func CloseAfterChunks(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		closeAfter(w, r)
		h.ServeHTTP(w, r)
	})
}

func (s *Server) post(w http.ResponseWriter, r *http.Request) {
	body, in, e := s.body(w, r)
	defer in.done()
	if e != nil {
		s.refuse(w, r, nil, e)
		return
	}
	if isBatch(body) && s.batches(r) {
		s.batch(w, r, body) //nolint:contextcheck // it has the context of r
		return
	}
	// The message stands in the exchange from the start: a copy of it on the
	// way would make the stack so deep that it grows with nearly every call.
	x := &exchange{request: request{server: s, header: r.Header}}
	m := &x.Message
	e = jsonrpc.Decode(body, m)
	spoken, wrongEra := s.revisionsOf(m, r.Header)
	if e == nil {
		e = wrongEra
	}
	if e != nil {
		if e.Status == 0 && spoken == modern {
			e.Status = http.StatusBadRequest
		}
		s.refuse(w, r, m.ID, e)
		return
	}
	if spoken == legacy && !s.options.Load().NoSessions && (first(r.Header, headerSession) != "" || m.Method == "initialize" && !m.Notification) {
		s.postSession(w, r, m, in)
		return
	}
	if m.Response || m.Notification {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	x.era, x.outlives, x.revision, x.intake = spoken, spoken == legacy, legacyHeader(r, spoken), in
	s.attribute(&x.request, r)
	s.serve(w, r, x)
}

// legacyHeader is the revision of a request that comes without a session. A
// request without the header is of the time before there was one.
func legacyHeader(r *http.Request, in era) string {
	if in == modern {
		return ""
	}
	if v := first(r.Header, headerRevision); v != "" {
		return v
	}
	return jsonrpc.OldestHTTPRevision
}

// exchange is a request over HTTP with its response, in one allocation.
type exchange struct {
	request
	stream events
}

// serve answers on the response itself: as JSON, unless something was to be
// sent before.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, x *exchange) {
	x.stream.w, x.stream.timeout = w, s.options.Load().WriteTimeout
	if acceptsEvents(r.Header["Accept"]) {
		x.out = &x.stream
	}
	a := s.newAnswer()
	defer s.release(a)
	s.respondAndSend(r.Context(), &x.request, a, w, func(e *jsonrpc.Error) {
		if x.out == nil || !x.stream.streaming() {
			s.send(w, s.httpStatus(x.era, e), a)
			return
		}
		_ = x.stream.answer("", a) // who is gone hears nothing; a call that was cut short may be listened to
		x.stream.close()
	})
}

// httpStatus returns the status for what was answered. Legacy clients take
// anything but 200 for a broken connection.
func (s *Server) httpStatus(in era, e *jsonrpc.Error) int {
	switch {
	case e == nil:
		return http.StatusOK
	case e.Status != 0:
		return e.Status
	case e.Code == jsonrpc.CodeNoMethod && in == modern:
		return http.StatusNotFound
	}
	return http.StatusOK
}

// refuse answers a message that is not a valid request.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, id []byte, e *jsonrpc.Error) {
	s.log.Debug("a request was refused", "remote", r.RemoteAddr, "code", e.Code, "reason", e.Message)
	if e.Status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", http.MethodPost)
	}
	a := s.newAnswer()
	defer s.release(a)
	a.fail(id, e)
	status := s.httpStatus(legacy, e)
	if tell := s.options.Load().Refused; tell != nil {
		refused := RefusalRecord{Status: status, Reason: e.Message, Peer: addressOf(r.RemoteAddr)}
		if caller := callerOf(r); caller != "" {
			refused.Subject = tenon.Subject(callerPrefix + caller)
		}
		tell(refused)
	}
	s.send(w, status, a)
}

// counted is the size up to which net/http counts an answer itself, with less
// effort than a header takes.
const counted = 2048

// send writes the answer. An error means that the client is gone, and there is
// nobody left to tell.
func (s *Server) send(w http.ResponseWriter, status int, a *answer) {
	h := w.Header()
	h["Content-Type"] = s.jsonType
	if a.challenge != "" {
		h.Set("WWW-Authenticate", a.challenge)
	}
	if size := a.size(); size > counted {
		h["Content-Length"] = []string{strconv.Itoa(size)}
	}
	switch {
	case a.retryAfter > 0:
		h.Set("Retry-After", strconv.FormatInt(a.retryAfter, 10))
	case status == http.StatusServiceUnavailable:
		h.Set("Retry-After", "1")
	}
	w.WriteHeader(status)
	_ = a.each(false, newPacedWriter(w, s.options.Load().WriteTimeout).write)
}

// body reads the request's body up to the limit. It is not pooled: the
// arguments of a call lie in it, and who holds them how long is not known here.
func (s *Server) body(w http.ResponseWriter, r *http.Request) ([]byte, *intake, *jsonrpc.Error) {
	limit := s.options.Load().MaxBody
	if r.ContentLength > limit {
		return nil, nil, tooLarge(limit)
	}
	buf := make([]byte, 0, 1+firstReserve(r.ContentLength))
	var in *intake
	for late := false; ; {
		if !late && r.ContentLength != int64(len(buf)) {
			late = true
			hurry(w, time.Now().Add(s.options.Load().ReadTimeout))
		}
		buf = slices.Grow(buf, 1)
		var err error
		if in == nil && cap(buf) > uncounted {
			in, err = s.reserve(r, limit)
		}
		if err != nil {
			return nil, in, busy(err)
		}
		n, err := r.Body.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if int64(len(buf)) > limit {
			return nil, in, tooLarge(limit)
		}
		if errors.Is(err, io.EOF) {
			if late {
				hurry(w, time.Time{})
			}
			in.settle(int64(len(buf)))
			return buf, in, nil
		}
		if err != nil {
			return nil, in, jsonrpc.Refused(http.StatusBadRequest, "the body ended too early")
		}
	}
}

// firstReserve is how much is reserved before the first byte of a body: of an
// announced Content-Length only a small part.
func firstReserve(announced int64) int64 {
	const believed = 64 << 10
	if announced < 0 {
		return 511
	}
	return min(announced, believed)
}

// hurry sets the deadline of a body. It is removed only after the whole body:
// net/http reads the rest of a body that was given up.
func hurry(w http.ResponseWriter, until time.Time) {
	_ = http.NewResponseController(w).SetReadDeadline(until) // not every connection has one
}

func tooLarge(limit int64) *jsonrpc.Error {
	return jsonrpc.Refused(http.StatusRequestEntityTooLarge, "the body is larger than "+strconv.FormatInt(limit, 10)+" bytes")
}

// Shutdown ends subscriptions and standing streams with a word of goodbye, and
// waits until the calls under way have ended or ctx has. From its beginning on
// no further call, subscription or session is taken, and readiness is false.
// Then the calls that go on when their clients are gone are cut short; the
// others end with the contexts of their requests. The listener belongs to the
// caller, who shuts it down next.
func (s *Server) Shutdown(ctx context.Context) error {
	s.Leave()
	s.closeOnce.Do(func() { close(s.closing) })
	s.listeners.shut()
	s.standers.shut()
	s.sessions.shut()
	defer s.sessions.endAll()
	if err := s.calls.close(ctx); err != nil {
		s.cutShort()
		return err
	}
	return nil
}

// Leave makes readiness false while everything is still served, so that balancers
// look elsewhere before Shutdown.
func (s *Server) Leave() { s.leaving.Store(true) }

// Health answers 200 at any path while the process lives; at a path that ends
// in "readyz", 503 from Leave or Shutdown on. It asks nobody who they are and says
// nothing else.
func (s *Server) Health() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if s.leaving.Load() && strings.HasSuffix(r.URL.Path, "readyz") {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, "shutting down\n")
			return
		}
		_, _ = io.WriteString(w, "ok\n")
	})
}
