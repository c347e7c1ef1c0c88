package server

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/netip"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/jsonrpc"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// callerKey is where the context of a request has its caller.
type callerKey struct{}

// Challenge is an error of Options.Authenticate that says how it is answered.
type Challenge interface {
	error
	HTTPStatus() int   // such as 401, 403 or 503
	Challenge() string // the value of WWW-Authenticate; empty: none
}

// identify asks Options.Authenticate who sends r, and keeps the answer in the
// context of the request that it returns.
func (s *Server) identify(r *http.Request) (*http.Request, *jsonrpc.Error) {
	authenticate := s.options.Load().Authenticate
	if authenticate == nil {
		return r, nil
	}
	ctx, caller, err := authenticate(r)
	if err == nil {
		return r.WithContext(context.WithValue(ctx, callerKey{}, caller)), nil
	}
	status, challenge := http.StatusUnauthorized, "Bearer" // RFC 9110, 15.5.2: a 401 names a challenge
	if own, ok := errors.AsType[Challenge](err); ok {
		status, challenge = own.HTTPStatus(), own.Challenge()
	}
	e := jsonrpc.Refused(status, err.Error())
	e.Challenge = challenge
	return r, e
}

// insufficientScope refuses a call for which its caller needs another token. Where
// the response is still to begin, it has the status and the challenge.
func insufficientScope(err *tenon.ScopeError) *jsonrpc.Error {
	e := jsonrpc.Refused(http.StatusForbidden, err.Error())
	e.Data = append([]byte(`{"error":"insufficient_scope","scope":`), append(rawjson.AppendString(nil, strings.Join(err.Scopes, " ")), '}')...)
	if own, ok := errors.AsType[Challenge](err); ok {
		e.Status, e.Challenge = own.HTTPStatus(), own.Challenge()
	}
	return e
}

// callerOf is who sent r; empty: nobody is known.
func callerOf(r *http.Request) string {
	caller, _ := r.Context().Value(callerKey{}).(string)
	return caller
}

// callerPrefix begins the subject of a caller that is known.
const callerPrefix = "caller "

// attribute tells q what a source may see of the headers of r, and on whose
// behalf it runs. A caller that is known and a forwarded credential are an
// identity: nobody without them comes to what was kept for them, in whatever
// session. Without either the subject stays that of the session.
func (s *Server) attribute(q *request, r *http.Request) {
	s.subjectOf(q, r)
	q.sender, q.proto = r, r.Proto
	q.account = s.accountOf(string(q.subject), r)
}

func (s *Server) subjectOf(q *request, r *http.Request) {
	caller := ""
	if s.options.Load().Authenticate != nil {
		caller = callerOf(r)
	}
	if caller != "" {
		q.subject = tenon.Subject(callerPrefix + caller)
	}
	if len(s.options.Load().ForwardHeaders) == 0 {
		return
	}
	mac := hmac.New(sha256.New, s.callers[:])
	_, _ = mac.Write([]byte(caller + "\x00"))
	for _, name := range s.options.Load().ForwardHeaders {
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

// account is whose share a request counts against. Shares are bounded, so that
// one caller cannot starve the others.
type account struct {
	key    string // subject, else session, else address; empty: who started the process, who may take all
	origin string // the address that the request came from, whoever it says to be; empty: none

	allowance Allowance
}

// accountOf returns the account of a subject, or of the network address; in a
// session the subject is the session.
func (s *Server) accountOf(subject string, r *http.Request) account {
	origin := addressOf(r.RemoteAddr)
	a := account{key: cmp.Or(subject, origin), origin: origin}
	if s.options.Load().Allowance != nil {
		a.allowance = s.options.Load().Allowance(r.Context())
	}
	return a
}

// addressOf returns the address without its port; for IPv6 the network, because
// one host has all its addresses.
func addressOf(remote string) string {
	i := strings.LastIndexByte(remote, ':')
	if i < 0 {
		return cmp.Or(remote, "unknown")
	}
	host := remote[:i]
	if !strings.HasPrefix(host, "[") {
		return host
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	if err != nil || ip.Is4In6() {
		return host
	}
	network, err := ip.WithZone("").Prefix(64)
	if err != nil {
		return host
	}
	return network.String()
}
