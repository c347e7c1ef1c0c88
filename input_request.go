package tenon

import (
	"context"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Asker asks the party behind a call: a person, a model, or the client itself.
//
// Some revisions of the protocol cannot ask while a call is under way. There,
// Ask returns an [*InputNeededError]: the handler hands it on at once, and is
// run again from its beginning when the answers are there. So a handler asks
// before it changes anything, and a question has the same Key on every run.
type Requester interface {
	// Ask returns one answer for each question, in their order. Several
	// questions in one Ask may be put at the same time.
	RequestInput(ctx context.Context, questions ...InputRequest) ([]InputResponse, error)
}

// Question is one thing to ask.
type InputRequest struct {
	Key    string // names the question within its call; must not be empty
	Kind   InputKind
	Params []byte // JSON object, as the protocol has it for this kind; nil: {}
}

// QuestionKind says who is to answer.
type InputKind string

// The kinds of question.
const (
	ElicitForm InputKind = "form"     // a person fills in a form of flat fields
	ElicitURL  InputKind = "url"      // a person visits an address
	Sampling   InputKind = "sampling" // the client's model writes something
	Roots      InputKind = "roots"    // the client names its folders
)

// Form asks a person to fill in the fields of schema, a JSON Schema of a flat
// object.
func FormRequest(key, message string, schema []byte) InputRequest {
	p := rawjson.AppendString([]byte(`{"mode":"form","message":`), message)
	p = append(append(p, `,"requestedSchema":`...), schema...)
	return InputRequest{Key: key, Kind: ElicitForm, Params: append(p, '}')}
}

// Answer is what came back.
type InputResponse struct {
	Action       string // forms and addresses: "accept", "decline" or "cancel"; empty for other kinds
	Body         []byte // forms: the fields, a JSON object, nil where none came; other kinds: the whole answer
	RequestState string // names the series of requests that the answer came with and could come with again; empty: it was given to this call alone
}

// InputNeededError says that a call cannot go on without answers that only a
// new request can bring. It travels to the door untouched.
type InputRequiredError struct{ Requests []InputRequest }

func (e *InputRequiredError) Error() string { return "input is needed" }

// CannotAskError says that the client has no way to answer such a question. A
// handler may do without the answer; else it hands the error on.
type UnsupportedInputError struct{ Kind InputKind }

func (e *UnsupportedInputError) Error() string { return "the client cannot answer: " + string(e.Kind) }
