package tenon

import (
	"bytes"
	"context"
	"encoding/json"
)

// Requester asks the party behind a call: a person, a model, or the client itself.
//
// Some revisions of the protocol cannot ask while a call is under way. There,
// RequestInput returns an [*InputRequiredError]: the handler hands it on at once, and is
// run again from its beginning when the answers are there. So a handler asks
// before it changes anything, and a question has the same Key on every run.
type Requester interface {
	// RequestInput returns one response for each request, in their order. Several
	// requests at once may be put at the same time.
	RequestInput(ctx context.Context, questions ...InputRequest) ([]InputResponse, error)
}

// InputRequest is one thing to ask.
type InputRequest struct {
	Key    string // names the question within its call; must not be empty
	Kind   InputKind
	Params []byte // JSON object, as the protocol has it for this kind; nil: {}
}

// InputKind says who is to answer.
type InputKind string

// The kinds of question.
const (
	ElicitForm InputKind = "form"     // a person fills in a form of flat fields
	ElicitURL  InputKind = "url"      // a person visits an address
	Sampling   InputKind = "sampling" // the client's model writes something
	Roots      InputKind = "roots"    // the client names its folders
)

// FormRequest asks a person to fill in the fields of schema, a JSON Schema of a flat
// object.
func FormRequest(key, message string, schema []byte) InputRequest {
	p := append([]byte(`{"mode":"form","message":`), jsonString(message)...)
	p = append(append(p, `,"requestedSchema":`...), schema...)
	return InputRequest{Key: key, Kind: ElicitForm, Params: append(p, '}')}
}

// Message is the text of a form or an address.
func (q InputRequest) Message() string {
	var params struct{ Message string }
	_ = json.Unmarshal(q.Params, &params) // without a text there is none to show
	return params.Message
}

// jsonString writes text as it stands: encoding/json alone would escape what
// HTML reads.
func jsonString(text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string is always JSON
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// InputResponse is what came back.
type InputResponse struct {
	Action       string // forms and addresses: "accept", "decline" or "cancel"; empty for other kinds
	Body         []byte // forms: the fields, a JSON object, nil where none came; other kinds: the whole answer
	RequestState string // names the series of requests that the answer came with and could come with again; empty: it was given to this call alone
}

// InputRequiredError says that a call cannot go on without answers that only a
// new request can bring. It travels to the transport untouched.
type InputRequiredError struct{ Requests []InputRequest }

func (e *InputRequiredError) Error() string { return "input is needed" }

// UnsupportedInputError says that the client has no way to answer such a question. A
// handler may do without the answer; else it hands the error on.
type UnsupportedInputError struct{ Kind InputKind }

func (e *UnsupportedInputError) Error() string { return "the client cannot answer: " + string(e.Kind) }
