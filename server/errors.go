package server

import (
	"net/http"
	"strconv"

	"github.com/tenon-mcp/tenon"
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
	codeNoResource     = -32002 // before 2026-07-28
	codeHeaderMismatch = -32020
	codeCapability     = -32021
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

func notAcceptable() *rpcError {
	return refused(http.StatusNotAcceptable, "the answer is an event stream, which the request does not accept")
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

// missingCapability refuses a request that needs more than its client can do.
func missingCapability(q *request, k tenon.InputKind) *rpcError {
	e := &rpcError{code: codeInvalidParams, message: "the client cannot answer what this request has to ask"}
	if q.era == legacy {
		return e
	}
	needs := `{"elicitation":{"form":{}}}`
	switch k {
	case tenon.ElicitURL:
		needs = `{"elicitation":{"url":{}}}`
	case tenon.Sampling:
		needs = `{"sampling":{}}`
	case tenon.Roots:
		needs = `{"roots":{}}`
	case tenon.ElicitForm:
	}
	e.code, e.status = codeCapability, http.StatusBadRequest
	e.data = []byte(`{"requiredCapabilities":` + needs + `}`)
	return e
}
