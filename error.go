package tenon

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Error is a failure with a code that is sent to the client, as is its message,
// which must hold no secrets and no internals; those belong into Err, which is
// logged and never sent.
type Error struct {
	Code    Code
	Message string
	Err     error // the cause, for the log; may be nil

	// RetryAfter is how long to wait until the same call can succeed, such as for a
	// limit that is reached. 0: it is not known.
	RetryAfter time.Duration

	Suggestions []string // what to do about it, one sentence each; nil: the defaults of the code
}

// Error returns the message, followed by the cause.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Message
	}
	return e.Message + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ScopeError refuses a call because the access token of the caller lacks scopes. The
// gateway returns it instead of a result: the model cannot help it, the client can
// get another token.
type ScopeError struct {
	Scopes []string // all that the call needs
	Err    error    // how the transport answers; may be nil
}

func (e *ScopeError) Error() string {
	return "the access token lacks a scope that this tool needs: " + strings.Join(e.Scopes, " ")
}

// Unwrap returns Err.
func (e *ScopeError) Unwrap() error { return e.Err }

// Code is the class of an error. One of an author's own, which [Codes] does not
// list, is delivered as it is; nothing is suggested for it.
type Code string

// The codes of tool errors. Each has a row in [Codes].
const (
	CodeValidation     Code = "validation_error"
	CodeAuthentication Code = "authentication_error"
	CodeAuthorization  Code = "authorization_error"
	CodeNotFound       Code = "not_found"
	CodeConflict       Code = "conflict"
	CodeRateLimited    Code = "rate_limited"
	CodeTimeout        Code = "timeout"
	CodeRequest        Code = "request_error"
	CodeServer         Code = "server_error"
	CodeNetwork        Code = "network_error"
	CodeContract       Code = "contract_violation"
	CodeInternal       Code = "internal_error"
)

// CodeInfo is what is known of a code of tool errors.
type CodeInfo struct {
	Code   Code
	Number int    // in the envelope flowmcp, as 2 is E002; it is never given to another code
	When   string // in which cases, as docs/errors.md has it
	Acts   string // who has to act
	// Advice is what helps after a response with a status of this class, for the
	// model; empty: no status is.
	Advice string
}

// Codes lists the codes of tool errors. docs/errors.md is written from it.
func Codes() []CodeInfo {
	const (
		change = "Change the arguments as the message says, then call again"
		again  = "The service failed: wait, then try once more if the call can be repeated"
	)
	return []CodeInfo{
		{CodeValidation, 2, "the arguments violate the input schema, or the upstream answered 400 or 422", "the caller changes the arguments", change},
		{
			CodeAuthentication, 10, "the upstream answered 401; or the operation needs a credential that is not configured, and nothing was sent",
			"the operator gives a valid credential", "Ask the operator for a valid credential for this service",
		},
		{
			CodeAuthorization, 7, "the upstream answered 403; or the call is not permitted, and nothing was sent",
			"the operator gives a permission", "The credential lacks a permission: ask the operator, or use another tool",
		},
		{
			CodeNotFound, 12, "the upstream answered 404 or 410; or the tool does not exist (then JSON-RPC −32602)",
			"the caller", "Check the identifier, for example with a tool that lists or searches",
		},
		{CodeConflict, 13, "the upstream answered 409 or 412", "the caller reads the current state first", "Read the current state first, then decide"},
		{
			CodeRateLimited, 11, "the upstream answered 429; or the operator's rate limit is reached, and nothing was sent",
			"the caller waits", "Wait a while before the next call",
		},
		{CodeTimeout, 4, "no response in time, or the upstream answered 408 or 504", "the caller, after reading `retry`", again},
		{CodeRequest, 6, "the request cannot be made, or the upstream answered another 4xx", "the caller", change},
		{CodeServer, 9, "the upstream answered 5xx, or a handler of a schema file failed", "the upstream's owner", again},
		{CodeNetwork, 3, "no response: refused, reset, no such host, an address that the operator did not allow, an open circuit breaker", "the operator", ""},
		{CodeContract, 5, "the response violates the published schema, under policy `enforce`", "the operator or the upstream's owner", ""},
		{CodeInternal, 8, "internal error; the message names an incident in the log", "the operator, who reports it to us", ""},
	}
}

// The codes of errors at start, before clients are involved.
const (
	CodeUsage     Code = "usage"      // the command line is wrong
	CodeBadSource Code = "bad_source" // a description cannot be read at all
)

// CodeOf returns the code in err's chain. An exceeded deadline, of a context or
// of the network, is a timeout, any other error without a code is internal, and
// nil has none.
func CodeOf(err error) Code {
	var e *Error
	var scope *ScopeError
	var late interface{ Timeout() bool }
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e) && e.Code != "":
		return e.Code
	case errors.As(err, &scope):
		return CodeAuthorization
	case errors.As(err, &late) && late.Timeout():
		return CodeTimeout
	}
	return CodeInternal
}

// CodeOfStatus returns the code of an HTTP status outside 2xx.
func CodeOfStatus(status int) Code {
	switch status {
	case 400, 422:
		return CodeValidation
	case 401:
		return CodeAuthentication
	case 403:
		return CodeAuthorization
	case 404, 410:
		return CodeNotFound
	case 409, 412:
		return CodeConflict
	case 429:
		return CodeRateLimited
	case 408, 504:
		return CodeTimeout
	}
	if status >= 500 {
		return CodeServer
	}
	return CodeRequest
}

// RetrySeconds is d as callers are told it, in whole seconds and never too early.
func RetrySeconds(d time.Duration) int64 {
	return int64((max(d, 0) + time.Second - 1) / time.Second)
}

// Errorf returns an [Error] whose message is formatted as by fmt.Sprintf.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}
