package server

import (
	"net/http"
	"strconv"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// rpcError is an answer without a result.
type rpcError struct {
	code    int
	message string
	data    []byte // JSON; nil: none
	status  int    // HTTP status; 0: the default of the request's era
}

// The codes of JSON-RPC 2.0, and those that 2026-07-28 defines beside them.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeNoMethod       = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
	codeHeaderMismatch = -32020
	codeRevision       = -32022
)

func parseError(err error) *rpcError {
	return &rpcError{code: codeParse, message: "parse error: " + err.Error(), status: http.StatusBadRequest}
}

func invalidRequest(what string) *rpcError {
	return &rpcError{code: codeInvalidRequest, message: "invalid request: " + what, status: http.StatusBadRequest}
}

func invalidParams(what string) *rpcError {
	return &rpcError{code: codeInvalidParams, message: "invalid params: " + what}
}

func headerMismatch(what string) *rpcError {
	return &rpcError{code: codeHeaderMismatch, message: "header mismatch: " + what, status: http.StatusBadRequest}
}

// refused is the answer of the HTTP door to what is no message for it.
func refused(status int, what string) *rpcError {
	return &rpcError{code: codeInvalidRequest, message: what, status: status}
}

func unknownMethod(name string) *rpcError {
	return &rpcError{code: codeNoMethod, message: "method not found: " + strconv.Quote(clip(name))}
}

// unknownRevision refuses the version v; supported is a JSON array.
func unknownRevision(v, supported string) *rpcError {
	data := append([]byte(`{"supported":`+supported+`,"requested":`), rawjson.AppendString(nil, clip(v))...)
	return &rpcError{code: codeRevision, message: "unsupported protocol version", data: append(data, '}'), status: http.StatusBadRequest}
}

// clip bounds foreign text in a message of ours.
func clip(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
