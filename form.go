package tenon

import (
	"bytes"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/shape"
	"github.com/tenon-mcp/tenon/schema"
)

// Check says what is wrong with the fields of an accepted form, as an [Error]
// of code validation_error; nil: they are what q asked for. A question that is
// no form, or whose form no validator can read, takes any answer.
func (q InputRequest) Check(fields []byte) error {
	doc, err := rawjson.Parse(q.Params)
	if err != nil || q.Kind != ElicitForm {
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
		return &Error{Code: CodeValidation, Message: "the answer to the question does not fit: " + shape.Words(violations, shape.MeantBy(s.Doc(), violations))}
	}
	return nil
}

// Message is the text of a form or an address.
func (q InputRequest) Message() string {
	doc, err := rawjson.Parse(q.Params)
	if err != nil {
		return ""
	}
	return doc.Str(doc.Get(doc.Root(), "message"))
}
