package gofunc

import (
	"context"
	"reflect"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/elicitation"
	"github.com/tenon-mcp/tenon/schema/gotype"
)

type callKey struct{}

// CallFromContext returns the call that a function is performing: what it can ask, how
// it reports progress, what it notes in the client's log. It is never nil;
// where ctx comes from no call, nothing can be asked and nobody hears reports.
func CallFromContext(ctx context.Context) *tenon.Call {
	if c, ok := ctx.Value(callKey{}).(*tenon.Call); ok {
		return c
	}
	return &tenon.Call{}
}

// Elicit asks a person to fill in the fields of T: a struct of texts,
// numbers, booleans, enums and lists of enums, described by the tags that
// describe arguments. The person may leave out fields that are optional.
//
// A function hands on every error that it does not know. One of them, under
// revisions that cannot ask in the middle of a call, ends the call with the
// question; when the answer is there, the function is run again from its
// beginning, and Elicit with the same key returns the answer. So a function
// asks first and works afterwards: what stands before Elicit is done once for
// every question, what stands behind the last one once.
//
// Another is [*DeclinedError]: the person said no.
func Elicit[T any](ctx context.Context, key, message string) (T, error) {
	var form T
	c, err := gotype.For(reflect.TypeFor[T](), gotype.ForOptions{Form: true})
	if err != nil {
		return form, &tenon.Error{Code: tenon.CodeInternal, Message: "the question " + key + " cannot be asked", Err: err}
	}
	question := tenon.FormRequest(key, message, c.Doc())
	answers, err := CallFromContext(ctx).RequestInput(ctx, question)
	if err != nil {
		return form, err
	}
	answer := answers[0]
	if answer.Action != "accept" {
		return form, &DeclinedError{Key: key, Action: answer.Action}
	}
	if len(answer.Body) == 0 {
		answer.Body = []byte("{}")
	}
	if err := elicitation.Check(question, answer.Body); err != nil {
		return form, err
	}
	if err := c.Decode(answer.Body, &form); err != nil {
		return form, &tenon.Error{Code: tenon.CodeValidation, Message: "the answer to " + key + " cannot be used: " + err.Error()}
	}
	return form, nil
}

// DeclinedError says that a person answered a question with no. A function that
// returns it has done nothing.
type DeclinedError struct {
	Key    string // of the question
	Action string // "decline", or "cancel" where no choice was made
}

func (e *DeclinedError) Error() string {
	if e.Action == "cancel" {
		return "the question " + e.Key + " was closed without an answer: nothing was done"
	}
	return "the question " + e.Key + " was answered with no: nothing was done"
}

// Confirmation is made by [Confirm].
type Confirmation struct {
	in  reflect.Type
	ask func(c *gotype.Codec, args []byte) (tenon.InputRequest, error)
}

// Confirm makes the question that is asked before a function runs, of the
// arguments with which it would: the gateway asks it, and without a yes the
// function does not begin. [ConfirmRequest] makes one that only needs the yes.
func Confirm[In any](ask func(in In) tenon.InputRequest) Confirmation {
	return Confirmation{in: reflect.TypeFor[In](), ask: func(c *gotype.Codec, args []byte) (tenon.InputRequest, error) {
		var in In
		if err := c.Decode(args, &in); err != nil {
			return tenon.InputRequest{}, &tenon.Error{Code: tenon.CodeValidation, Message: "Invalid arguments: " + err.Error()}
		}
		return ask(in), nil
	}}
}

// ConfirmRequest is a question without fields: yes or no.
func ConfirmRequest(message string) tenon.InputRequest {
	return tenon.FormRequest("consent", message, []byte(`{"type":"object","properties":{}}`))
}
