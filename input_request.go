package tenon

import (
	"bytes"
	"context"
	"encoding/json"
)

// Requester asks the party behind a call: a person, a model, or the client itself.
//
// Some revisions of MCP cannot ask during a call. There, RequestInput returns an
// [*InputRequiredError], which the handler must return; it is run again from its
// beginning when the answers have arrived. So a handler asks before it changes
// anything, and gives a request the same Key on every run.
type Requester interface {
	// RequestInput returns one response for each request, in their order. The
	// requests of one call may be shown together.
	RequestInput(ctx context.Context, questions ...InputRequest) ([]InputResponse, error)
}

// InputRequest is one request for input.
type InputRequest struct {
	Key    string // identifies the request within its call; must not be empty
	Kind   InputKind
	Params []byte // params of the MCP request of this kind, a JSON object; nil: {}

	// ID identifies what a URL is for, in revisions whose requests have an
	// elicitationId; empty: none is sent.
	ID string
	// Done is closed when what a URL is for has been done. A user who accepts only
	// begins: the transport then waits for Done, for a time that clients stand, and
	// returns the answer whether it was done or not. nil: it does not wait.
	Done <-chan struct{}
}

// InputKind says who answers, and how.
type InputKind string

// The kinds of input request.
const (
	ElicitForm InputKind = "form"     // the user fills in a form of flat fields
	ElicitURL  InputKind = "url"      // the user opens a URL
	Sampling   InputKind = "sampling" // the client's model writes a message
	Roots      InputKind = "roots"    // the client lists its roots
)

// FormRequest asks the user to fill in the properties of schema, a JSON Schema
// of a flat object.
func FormRequest(key, message string, schema []byte) InputRequest {
	p := append([]byte(`{"mode":"form","message":`), jsonString(message)...)
	p = append(append(p, `,"requestedSchema":`...), schema...)
	return InputRequest{Key: key, Kind: ElicitForm, Params: append(p, '}')}
}

// URLRequest asks the user to open a page. Nothing of the user may be in url, and
// whoever opens it is not yet who was asked (client/elicitation, "Safe URL Handling").
func URLRequest(key, message, url string) InputRequest {
	p := append([]byte(`{"mode":"url","message":`), jsonString(message)...)
	p = append(append(p, `,"url":`...), jsonString(url)...)
	return InputRequest{Key: key, Kind: ElicitURL, Params: append(p, '}')}
}

// Message returns the message of a form or URL request.
func (q InputRequest) Message() string {
	var params struct{ Message string }
	_ = json.Unmarshal(q.Params, &params) // invalid params have no message
	return params.Message
}

// jsonString encodes text without the HTML escapes of encoding/json.
func jsonString(text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string is always JSON
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// InputResponse is the answer to an InputRequest.
type InputResponse struct {
	Action       string // forms and URLs: "accept", "decline" or "cancel"; empty for other kinds
	Body         []byte // forms: the fields, a JSON object, nil if there are none; other kinds: the whole result
	RequestState string // identifies the series of requests that carries this answer and can carry it again; empty: the answer belongs to this call alone
}

// InputRequiredError says that a call needs answers that only a new request can
// carry. It must reach the transport unchanged.
type InputRequiredError struct{ Requests []InputRequest }

func (e *InputRequiredError) Error() string { return "input is required" }

// UnsupportedInputError says that the client does not support requests of this
// kind. A handler that cannot do without the answer returns the error.
type UnsupportedInputError struct{ Kind InputKind }

func (e *UnsupportedInputError) Error() string { return "the client cannot answer: " + string(e.Kind) }
