package server

import (
	"errors"
	"io"
	"net/http"
	"strconv"
)

// ServeHTTP is the streamable HTTP door: one message a POST, one JSON answer.
// The caller mounts it at the path of its choice, and bounds by the options of
// http.Server how long a request may take to arrive.
//
// The context of a 2026-07-28 call ends with its connection; before that
// revision a lost connection does not mean that the call is not wanted.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if e := s.admit(r); e != nil {
		s.refuse(w, r, nil, e)
		return
	}
	body, e := s.body(r)
	if e != nil {
		s.refuse(w, r, nil, e)
		return
	}
	m, e := decode(body)
	in, wrongEra := eraOf(&m, r.Header)
	if e == nil {
		e = wrongEra
	}
	switch {
	case e != nil:
		if e.status == 0 && in == modern {
			e.status = http.StatusBadRequest
		}
		s.refuse(w, r, m.id, e)
	case m.response || m.notification:
		w.WriteHeader(http.StatusAccepted)
	default:
		s.serve(w, r, &request{message: m, server: s, era: in, outlives: in == legacy})
	}
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, q *request) {
	a := s.newAnswer()
	defer s.release(a)
	e := s.respond(r.Context(), q, a)
	s.send(w, httpStatus(q.era, e), a)
}

// httpStatus returns the status for what was answered. Legacy clients take
// anything but 200 for a broken connection.
func httpStatus(in era, e *rpcError) int {
	switch {
	case e == nil:
		return http.StatusOK
	case e.status != 0:
		return e.status
	case e.code == codeNoMethod && in == modern:
		return http.StatusNotFound
	}
	return http.StatusOK
}

// refuse answers what never became a request.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, id []byte, e *rpcError) {
	s.log.Debug("a request was refused", "remote", r.RemoteAddr, "code", e.code, "reason", e.message)
	if e.status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", http.MethodPost)
	}
	a := s.newAnswer()
	defer s.release(a)
	a.fail(id, e)
	s.send(w, httpStatus(legacy, e), a)
}

// send writes the answer. An error means that the client is gone, and there is
// nobody left to tell.
func (s *Server) send(w http.ResponseWriter, status int, a *answer) {
	h := w.Header()
	h["Content-Type"] = s.jsonType
	h.Set("Content-Length", strconv.Itoa(a.size()))
	if status == http.StatusServiceUnavailable {
		h.Set("Retry-After", "1")
	}
	w.WriteHeader(status)
	head, page, tail := a.parts()
	for _, part := range [...][]byte{head, page, tail} {
		if len(part) == 0 {
			continue
		}
		if _, err := w.Write(part); err != nil {
			return
		}
	}
}

// body reads the request's body up to the limit. It is not pooled: the
// arguments of a call lie in it, and who holds them how long is not known here.
func (s *Server) body(r *http.Request) ([]byte, *rpcError) {
	limit := s.options.MaxBody
	if r.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	// What the client announces is believed only for a small beginning.
	const believed = 64 << 10
	buf := make([]byte, 0, 1+min(max(r.ContentLength, 511), believed))
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := r.Body.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if int64(len(buf)) > limit {
			return nil, tooLarge(limit)
		}
		if errors.Is(err, io.EOF) {
			return buf, nil
		}
		if err != nil {
			return nil, refused(http.StatusBadRequest, "the body ended too early")
		}
	}
}

func tooLarge(limit int64) *rpcError {
	return refused(http.StatusRequestEntityTooLarge, "the body is larger than "+strconv.FormatInt(limit, 10)+" bytes")
}
