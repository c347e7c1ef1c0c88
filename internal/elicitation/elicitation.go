// Package elicitation checks what a person filled into a form against the schema
// that the form was requested with.
//
// It does not know who asked or how the answer came. It stands beside the path
// of a call: typed functions and transports use it on an answer, before anyone
// acts on it.
package elicitation

import (
	"bytes"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/envelope"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

// Check says what is wrong with the fields of an accepted form, as a
// [tenon.Error] of code validation_error; nil: they are what q requested. A
// request that is no form, or whose schema cannot be compiled, takes any answer.
func Check(q tenon.InputRequest, fields []byte) error {
	doc, err := rawjson.Parse(q.Params)
	if err != nil || q.Kind != tenon.ElicitForm {
		return nil //nolint:nilerr // whoever asks learns of broken params from the client
	}
	form := doc.Get(doc.Root(), "requestedSchema")
	if form == rawjson.None {
		return nil
	}
	s, err := schema.Compile(bytes.Clone(doc.Raw(form)), schema.Options{AssertFormat: true})
	if err != nil {
		return nil //nolint:nilerr // see above: nothing can be said
	}
	if violations := s.Validate(fields); len(violations) > 0 {
		return &tenon.Error{Code: tenon.CodeValidation, Message: "the answer to the question does not fit: " + envelope.ViolationText(violations, envelope.SuggestFor(s.Doc(), violations))}
	}
	return nil
}
