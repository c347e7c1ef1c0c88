package jsonrpc

import (
	"net/http"
	"strconv"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Error is an answer without a result.
type Error struct {
	Code    int
	Message string
	Data    []byte // JSON; nil: none
	Status  int    // HTTP status; 0: the default of the request's era

	RetryAfter int64 // seconds until the request can succeed, which Data says, too; 0: not known
	// Challenge is the value of the header WWW-Authenticate beside Status; empty: none.
	Challenge string
}

// The codes of JSON-RPC 2.0, and those that 2026-07-28 defines beside them.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	CodeNoMethod       = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeNoResource     = -32002 // before 2026-07-28
	codeHeaderMismatch = -32020
	CodeCapability     = -32021
	codeRevision       = -32022
)

// ParseError is the response to a message that is not JSON.
func ParseError(err error) *Error {
	return &Error{Code: codeParse, Message: "parse error: " + err.Error(), Status: http.StatusBadRequest}
}

// InvalidRequest is the response to JSON that is not a request.
func InvalidRequest(what string) *Error {
	return &Error{Code: codeInvalidRequest, Message: "invalid request: " + what, Status: http.StatusBadRequest}
}

// InvalidParams is the response to invalid params.
func InvalidParams(what string) *Error {
	return &Error{Code: CodeInvalidParams, Message: "invalid params: " + what}
}

// HeaderMismatch is the response to a header that differs from the body.
func HeaderMismatch(what string) *Error {
	return &Error{Code: codeHeaderMismatch, Message: "header mismatch: " + what, Status: http.StatusBadRequest}
}

// Refused is the response of the HTTP endpoint to a request that is not a valid message.
func Refused(status int, what string) *Error {
	return &Error{Code: codeInvalidRequest, Message: what, Status: status}
}

// LimitReached is the response when a limit of the operator is reached. The protocol
// has no code for it, so that data says what it is.
func LimitReached(what string, seconds int64) *Error {
	return &Error{
		Code: CodeInternal, Message: what, Status: http.StatusTooManyRequests, RetryAfter: seconds,
		Data: []byte(`{"code":"rate_limited","retry_after":` + strconv.FormatInt(seconds, 10) + `}`),
	}
}

// NotAcceptable is the response to a client that does not accept event streams.
func NotAcceptable() *Error {
	return Refused(http.StatusNotAcceptable, "the answer is an event stream, which the request does not accept")
}

// UnknownMethod is the response to an unknown method.
func UnknownMethod(name string) *Error {
	return &Error{Code: CodeNoMethod, Message: "method not found: " + strconv.Quote(Clip(name))}
}

// UnknownRevision refuses the version v; supported is a JSON array.
func UnknownRevision(v, supported string) *Error {
	data := append([]byte(`{"supported":`+supported+`,"requested":`), rawjson.AppendString(nil, Clip(v))...)
	return &Error{Code: codeRevision, Message: "unsupported protocol version", Data: append(data, '}'), Status: http.StatusBadRequest}
}

// Clip bounds foreign text in an error message.
func Clip(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
