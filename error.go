package tenon

import (
	"errors"
	"fmt"
)

// Error is a failure with a code that is sent to the client, as is its message,
// which must hold no secrets and no internals; those belong into Err, which is
// logged and never sent.
type Error struct {
	Code    Code
	Message string
	Err     error // the cause, for the log; may be nil

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

// Code is the class of an error. docs/errors.md explains each one.
type Code string

// The codes of tool errors.
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

// The codes of errors at start, before clients are involved.
const (
	CodeUsage     Code = "usage"      // the command line is wrong
	CodeBadSource Code = "bad_source" // a description cannot be read at all
)

// CodeOf returns the code in err's chain. An exceeded deadline, of a context or
// of the network, is a timeout, any other error is internal, and nil has no code.
func CodeOf(err error) Code {
	var e *Error
	var late interface{ Timeout() bool }
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Code
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

// Errorf returns an [Error] whose message is formatted as by fmt.Sprintf.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}
