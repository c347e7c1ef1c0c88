package server

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"github.com/tenon-mcp/tenon"
)

// callerKey is where the context of a request has its caller.
type callerKey struct{}

// identify asks Options.Authenticate who sends r, and keeps the answer in the
// context of the request that it returns.
func (s *Server) identify(w http.ResponseWriter, r *http.Request) (*http.Request, *rpcError) {
	if s.options.Authenticate == nil {
		return r, nil
	}
	caller, err := s.options.Authenticate(r)
	if err != nil {
		w.Header().Set("WWW-Authenticate", "Bearer") // RFC 9110, 15.5.2: a 401 names a challenge
		return r, refused(http.StatusUnauthorized, err.Error())
	}
	return r.WithContext(context.WithValue(r.Context(), callerKey{}, caller)), nil
}

// callerOf is who sent r; empty: nobody is known.
func callerOf(r *http.Request) string {
	caller, _ := r.Context().Value(callerKey{}).(string)
	return caller
}

// attribute tells q what a source may see of the headers of r, and on whose
// behalf it runs. A caller that is known and a forwarded credential are an
// identity: nobody without them comes to what was kept for them, in whatever
// session. Without either the subject stays that of the session.
func (s *Server) attribute(q *request, r *http.Request) {
	s.subjectOf(q, r)
	q.account = accountOf(string(q.subject), r)
}

func (s *Server) subjectOf(q *request, r *http.Request) {
	caller := ""
	if s.options.Authenticate != nil {
		caller = callerOf(r)
	}
	if caller != "" {
		q.subject = tenon.Subject("caller " + caller)
	}
	if len(s.options.ForwardHeaders) == 0 {
		return
	}
	mac := hmac.New(sha256.New, s.callers[:])
	_, _ = mac.Write([]byte(caller + "\x00"))
	for _, name := range s.options.ForwardHeaders {
		key := http.CanonicalHeaderKey(name)
		values := r.Header[key]
		if len(values) == 0 {
			continue
		}
		if q.forwarded == nil {
			q.forwarded = http.Header{}
		}
		q.forwarded[key] = values
		_, _ = mac.Write([]byte(key)) // never fails
		for _, v := range values {
			_, _ = mac.Write([]byte("\x00" + v)) // no value holds a control character
		}
		_, _ = mac.Write([]byte{1})
	}
	if q.forwarded != nil {
		q.subject = tenon.Subject("credential " + hex.EncodeToString(mac.Sum(nil)[:16]))
	}
}
