// Package elicitation validates the content of an elicitation form against the
// schema that was requested.
//
// It does not know who requested it or how the answer arrived. Typed functions
// and transports use it before an answer is used.
package elicitation

import (
	"bytes"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/envelope"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

// Check validates the fields of an accepted form and returns a [tenon.Error] of
// code validation_error, or nil. A request that is not a form, or whose schema
// cannot be compiled, accepts any answer.
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
