package server

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"github.com/tenon-mcp/tenon"
)

// attribute tells q what a source may see of the headers of r, and on whose
// behalf it runs. A forwarded credential is an identity: nobody without it
// comes to what was kept for it, in whatever session. Without one the subject
// stays that of the session.
func (s *Server) attribute(q *request, r *http.Request) {
	if len(s.options.ForwardHeaders) == 0 {
		return
	}
	mac := hmac.New(sha256.New, s.callers[:])
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
