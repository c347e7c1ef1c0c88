package auth

import (
	"net/http"
	"slices"
	"strings"
)

// The error codes of RFC 6750, 3.1.
const (
	InvalidRequest    = "invalid_request"
	InvalidToken      = "invalid_token"
	InsufficientScope = "insufficient_scope"
)

// Error says why a request has no caller. Its text may be shown to whoever sent the
// request.
type Error struct {
	Status  int    // 400, 401, 403 or 503
	Code    string // of RFC 6750; empty: the request has no credential, or the issuer cannot be asked
	Message string
	Missing bool // the request has no credential at all

	challenge string
}

func (e *Error) Error() string { return e.Message }

// HTTPStatus is the status of the response.
func (e *Error) HTTPStatus() int { return e.Status }

// Challenge is the value of WWW-Authenticate; empty: there is none.
func (e *Error) Challenge() string { return e.challenge }

func invalidToken(why string) *Error {
	return &Error{Status: http.StatusUnauthorized, Code: InvalidToken, Message: "the access token " + why}
}

// unavailable is for a token that nobody can judge now.
func unavailable(what string) *Error {
	return &Error{Status: http.StatusServiceUnavailable, Message: "the access token cannot be verified now: " + what + "; try again later"}
}

// Unidentified is the error for a request without a credential.
func (a *Authenticator) Unidentified() *Error {
	return a.challenged(&Error{Status: http.StatusUnauthorized, Message: a.missing(), Missing: true})
}

// InsufficientScope is the error for a caller whose token lacks one of the scopes
// that an operation needs. Its challenge names all that do, those of every request
// included: a client asks for what it finds there.
func (a *Authenticator) InsufficientScope(needed []string) *Error {
	e := &Error{Status: http.StatusForbidden, Code: InsufficientScope, Message: "the access token lacks a scope that this tool needs"}
	return a.challenged(e, needed...)
}

// challenged returns e with its challenge: the metadata always, the scopes that
// this server and the operation need unless the request is malformed.
func (a *Authenticator) challenged(e *Error, more ...string) *Error {
	if e.Status == http.StatusServiceUnavailable {
		return e
	}
	var parts []string
	if e.Code != "" && a.issuer != nil {
		parts = append(parts, `error="`+e.Code+`"`, `error_description="`+e.Message+`"`)
	}
	if a.issuer != nil {
		if scopes := union(a.scopes, more); len(scopes) > 0 && e.Code != InvalidRequest {
			parts = append(parts, `scope="`+strings.Join(scopes, " ")+`"`)
		}
		parts = append(parts, `resource_metadata="`+a.metadataURL+`"`)
	}
	with := *e
	with.challenge = strings.TrimSpace("Bearer " + strings.Join(parts, ", "))
	return &with
}

func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}
