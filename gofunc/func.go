package gofunc

import (
	"context"
	"errors"
	"reflect"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
	"github.com/tenon-mcp/tenon/schema/gotype"
)

// Function is a typed Go function on its way to become a tool. It is made by
// [Func] and loaded as a member of [Functions].
type Function struct {
	name, description string
	options           Options
	in, out           reflect.Type
	run               func(context.Context, *bound, []byte) (tenon.Response, error)
}

// Options are the choices of [Function.With]. The zero value works.
type Options struct {
	Title       string              // for people; may be empty
	Annotations tenon.Annotations   // ReadOnly and Idempotent also say what a failed call may have done
	Policy      tenon.Policy        // empty: Enforce
	TextOnly    bool                // the result is text for the model: no schema, no structuredContent, no check
	NoTitles    bool                // schemas without titles; false: they are made of the names in Go
	Unions      []gotype.Union      // the types that stand for interfaces
	Types       []gotype.TypeSchema // of types that cannot bring their schema; see [gotype.Of]
	Confirm     Confirmation        // what is asked before the function runs; zero: nothing

	// Schemas written by hand, for types that say less than is known, such as
	// map[string]any. They stand alone: references are "#/$defs/…". The type of
	// the input is "object". nil: made of the type.
	Input  []byte
	Output []byte
}

// Func makes a tool of a function: the type of its argument, a struct, is the
// input schema, the type of its result the output schema. What is no object is
// published and sent as {"result": value}. A pointer to an object is that
// object: nil without an error is an error; [Optional] is for what may be
// missing. [gotype.For] tells how types become schemas, and which struct tags
// describe and constrain their members.
//
// What the function returns is checked against its schema before it leaves. An
// error is the result of the call, as text that the model can read; an [tenon.Error]
// keeps its code. A function that has more to return than a value returns an
// [Output]; one that asks or reports progress finds the [tenon.Call] in its context:
// see [CallFromContext] and [Elicit].
//
// A type without a schema is an error when the function is loaded, never a
// tool without one. See [Options] for text on purpose.
func Func[In, Out any](name, description string, fn func(context.Context, In) (Out, error)) Function {
	f := Function{name: name, description: description, in: reflect.TypeFor[In](), out: reflect.TypeFor[Out]()}
	if fn == nil {
		return f
	}
	f.run = func(ctx context.Context, b *bound, args []byte) (tenon.Response, error) {
		var in In
		if err := b.input.Decode(args, &in); err != nil {
			return tenon.Response{}, &tenon.Error{Code: tenon.CodeValidation, Message: "Invalid arguments: " + err.Error()}
		}
		out, err := fn(ctx, in)
		if err != nil {
			return b.failed(ctx, err)
		}
		return b.response(&out)
	}
	return f
}

// With returns f with other options.
func (f Function) With(o Options) Function {
	f.options = o
	return f
}

// Tool returns the tool that f becomes. The error names the place in f's types
// that has no schema.
func (f Function) Tool() (tenon.Tool, error) {
	switch {
	case f.run == nil:
		return tenon.Tool{}, f.loadError("the function is nil")
	case f.name == "" || tenon.ToolName(f.name) != f.name:
		return tenon.Tool{}, f.loadError("not a name that every client accepts: 1 to 64 of A-Z a-z 0-9 _ -")
	}
	b := &bound{name: f.name, options: f.options}
	var err error
	if b.input, err = f.bind(f.in, f.options.Input, gotype.ForOptions{Arguments: true}); err != nil {
		return tenon.Tool{}, f.loadError("argument: " + err.Error())
	}
	var out reflect.Type
	if out, b.pointer = resultType(f.out); out != nil {
		if err = b.bindOutput(f, out); err != nil {
			return tenon.Tool{}, f.loadError("result: " + err.Error())
		}
	}
	t := tenon.Tool{
		Name: f.name, Title: f.options.Title, Description: f.description, Annotations: f.options.Annotations,
		Policy: f.options.Policy, Envelope: tenon.Native, Contract: b, Fixed: true,
		Handler: func(ctx context.Context, c *tenon.Call) (tenon.Response, error) {
			return f.run(context.WithValue(ctx, callKey{}, c), b, c.Args)
		},
	}
	if confirm := f.options.Confirm; confirm.ask != nil {
		if confirm.in != f.in {
			return tenon.Tool{}, f.loadError("Confirm takes a " + confirm.in.String() + ", the function a " + f.in.String())
		}
		t.Confirm = func(args []byte) (tenon.InputRequest, error) { return confirm.ask(b.input, args) }
	}
	return t, nil
}

// bind makes the codec of a type, whose schema may be written by hand.
func (f Function) bind(t reflect.Type, byHand []byte, o gotype.ForOptions) (*gotype.Codec, error) {
	o.Name, o.NoTitles, o.Unions, o.Types = f.name, f.options.NoTitles, f.options.Unions, f.options.Types
	o.Foreign, o.Refuse = o.Foreign || byHand != nil, noValue
	c, err := gotype.For(t, o)
	if err != nil || byHand == nil {
		return c, err
	}
	if _, err := schema.Compile(byHand, schema.Options{AssertFormat: true}); err != nil {
		return nil, errors.New("the schema written by hand does not compile: " + err.Error())
	}
	if doc, err := rawjson.Parse(byHand); o.Arguments && (err != nil || !doc.IsStr(doc.Get(doc.Root(), "type"), "object")) {
		return nil, errors.New(`the schema written by hand is that of no object: arguments are one, so it needs "type": "object"`)
	}
	return c, nil
}

func (f Function) loadError(what string) error {
	return &tenon.Error{Code: tenon.CodeBadSource, Message: "function " + f.name + ": " + what}
}

// Functions are a [tenon.Source]: the functions of a program, in this order.
type Functions []Function

var _ tenon.Source = Functions{}

// Load makes the tools. An error in any function is an error of all: it is
// the program that has to change.
func (fs Functions) Load(context.Context) (tenon.Features, error) {
	var offer tenon.Features
	var diagnostics []error
	names := map[string]bool{}
	for _, f := range fs {
		t, err := f.Tool()
		if names[f.name] {
			err = f.loadError("another function has this name")
		}
		names[f.name] = true
		if err != nil {
			diagnostics = append(diagnostics, err)
			continue
		}
		offer.Tools = append(offer.Tools, t)
	}
	if err := errors.Join(diagnostics...); err != nil {
		return tenon.Features{}, err
	}
	return offer, nil
}

// bound is a function with the codecs of its types. It declares the schemas
// that they write when they are asked.
type bound struct {
	name          string
	options       Options
	input, output *gotype.Codec // output is nil where the result is content
	pointer       bool          // what the function returns is a pointer to its result
	inner         bool          // the result is a pointer to what output writes
}

var _ tenon.ContractProvider = (*bound)(nil)

// Contract answers the schemas of the types, or those written by hand.
func (b *bound) Contract() (tenon.Contract, error) {
	c := tenon.Contract{Input: b.options.Input, Formats: true}
	if c.Input == nil {
		c.Input = b.input.Doc()
	}
	if b.output == nil || b.options.TextOnly {
		return c, nil
	}
	v := tenon.ResponseSchema{MediaType: "application/json", Schema: b.options.Output}
	if v.Schema == nil {
		v.Schema = b.output.Doc()
		if !b.output.IsObject() {
			c.Wrapper = b.name + "Output"
		}
	}
	c.Responses = []tenon.ResponseSchema{v}
	return c, nil
}

// Published is the whole contract.
func (b *bound) PublishedContract() (tenon.Contract, []tenon.Diagnostic) {
	c, _ := b.Contract() // its error is always nil
	return c, nil
}

// sent says what a call may have done that began to run: everything, unless
// the function only reads.
func (b *bound) sent(p tenon.RequestState) tenon.Execution {
	if isTrue(b.options.Annotations.ReadOnly) {
		return tenon.Execution{Reads: p}
	}
	return tenon.Execution{Unsafe: p, Idempotent: isTrue(b.options.Annotations.Idempotent)}
}

func isTrue(b *bool) bool { return b != nil && *b }

// failed is the response of a function that returned an error. One that was cut
// short may have done its work or not.
func (b *bound) failed(ctx context.Context, err error) (tenon.Response, error) {
	if refused := new(DeclinedError); errors.As(err, &refused) {
		return tenon.Response{}, &tenon.Error{Code: tenon.CodeAuthorization, Message: err.Error()}
	}
	if ctx.Err() != nil {
		return tenon.Response{Execution: b.sent(tenon.NoResponse)}, err
	}
	return tenon.Response{Execution: b.sent(tenon.Responded)}, err
}

// response writes what the function returned.
func (b *bound) response(out any) (tenon.Response, error) {
	out, r, err := b.unpack(out)
	r.Execution = b.sent(tenon.Responded)
	if err != nil {
		return r, &tenon.Error{Code: tenon.CodeContract, Message: "What the function returned cannot be sent: " + err.Error()}
	}
	if out == nil {
		return r, nil
	}
	r.MediaType = "application/json"
	if r.Body, err = b.output.Append(nil, out); err != nil {
		return r, &tenon.Error{Code: tenon.CodeContract, Message: "What the function returned cannot be written as JSON: " + err.Error()}
	}
	if b.options.TextOnly && r.Body[0] == '{' { // native would take an object for data
		r.MediaType = "text/plain"
		if text, err := rawjson.AppendIndent(nil, r.Body, "  "); err == nil {
			r.Body = text
		}
	}
	return r, nil
}
