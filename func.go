package tenon

import (
	"context"
	"errors"
	"reflect"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

// Function is a typed Go function on its way to become a tool. It is made by
// [Func] and loaded as a member of [Functions].
type Function struct {
	name, description string
	options           FuncOptions
	in, out           reflect.Type
	run               func(context.Context, *bound, []byte) (Reply, error)
}

// FuncOptions are the choices of [Function.With]. The zero value works.
type FuncOptions struct {
	Title    string         // for people; may be empty
	Hints    Hints          // ReadOnly and Idempotent also say what a failed call may have done
	Policy   Policy         // empty: Enforce
	TextOnly bool           // the result is text for the model: no schema, no structuredContent, no check
	NoTitles bool           // schemas without titles; false: they are made of the names in Go
	Unions   []schema.Union // the types that stand for interfaces
	Confirm  Confirmation   // what is asked before the function runs; zero: nothing

	// Schemas written by hand, for types that say less than is known, or have
	// none, such as map[string]any. They stand alone: references are "#/$defs/…".
	// nil: made of the type.
	Input  []byte
	Output []byte
}

// Func makes a tool of a function: the type of its argument, a struct, is the
// input schema, the type of its result the output schema. What is no object is
// published and sent as {"result": value}. [schema.For] tells how types
// become schemas, and which struct tags describe and constrain their members.
//
// What the function returns is checked against its schema before it leaves. An
// error is the result of the call, as text that the model can read; an [Error]
// keeps its code. A function that has more to return than a value returns an
// [Output]; one that asks or reports progress finds the [Call] in its context:
// see [CallOf] and [AskFor].
//
// A type without a schema is an error when the function is loaded, never a
// tool without one. See [FuncOptions] for text on purpose.
func Func[In, Out any](name, description string, fn func(context.Context, In) (Out, error)) Function {
	f := Function{name: name, description: description, in: reflect.TypeFor[In](), out: reflect.TypeFor[Out]()}
	if fn == nil {
		return f
	}
	f.run = func(ctx context.Context, b *bound, args []byte) (Reply, error) {
		var in In
		if err := b.input.Decode(args, &in); err != nil {
			return Reply{}, &Error{Code: CodeValidation, Message: "Invalid arguments: " + err.Error()}
		}
		out, err := fn(ctx, in)
		if err != nil {
			return b.failed(ctx, err)
		}
		return b.reply(&out)
	}
	return f
}

// With returns f with other options.
func (f Function) With(o FuncOptions) Function {
	f.options = o
	return f
}

// Tool returns the tool that f becomes. The error names the place in f's types
// that has no schema.
func (f Function) Tool() (Tool, error) {
	switch {
	case f.run == nil:
		return Tool{}, f.bad("the function is nil")
	case f.name == "" || LegalName(f.name) != f.name:
		return Tool{}, f.bad("not a name that every client accepts: 1 to 64 of A-Z a-z 0-9 _ -")
	}
	b := &bound{options: f.options}
	contract := Contract{Formats: true}
	if err := f.bindInput(b, &contract); err != nil {
		return Tool{}, f.bad("argument: " + err.Error())
	}
	if err := f.bindOutput(b, &contract); err != nil {
		return Tool{}, f.bad("result: " + err.Error())
	}
	t := Tool{
		Name: f.name, Title: f.options.Title, Description: f.description, Hints: f.options.Hints,
		Policy: f.options.Policy, Shape: Native, Promise: contract,
		Handler: func(ctx context.Context, c *Call) (Reply, error) {
			return f.run(context.WithValue(ctx, callKey{}, c), b, c.Args)
		},
	}
	if confirm := f.options.Confirm; confirm.ask != nil {
		if confirm.in != f.in {
			return Tool{}, f.bad("Confirm takes a " + confirm.in.String() + ", the function a " + f.in.String())
		}
		t.Confirm = func(args []byte) (Question, error) { return confirm.ask(b.input, args) }
	}
	return t, nil
}

// bindInput makes the codec and the schema of the argument.
func (f Function) bindInput(b *bound, c *Contract) error {
	o := schema.ForOptions{Arguments: true, Name: f.name, NoTitles: f.options.NoTitles, Unions: f.options.Unions, Foreign: f.options.Input != nil}
	var err error
	if b.input, err = schema.For(f.in, o); err != nil {
		return err
	}
	if c.Input = f.options.Input; c.Input == nil {
		c.Input = b.input.Doc()
		return nil
	}
	return checkByHand(c.Input)
}

// bindOutput makes the codec and the schema of the result.
func (f Function) bindOutput(b *bound, c *Contract) error {
	t, content := resultType(f.out)
	if content {
		return nil
	}
	byHand := f.options.Output
	o := schema.ForOptions{Name: f.name, NoTitles: f.options.NoTitles, Unions: f.options.Unions, Foreign: f.options.TextOnly || byHand != nil}
	var err error
	if b.output, err = schema.For(t, o); err != nil || f.options.TextOnly {
		return err
	}
	v := Variant{Media: "application/json", Schema: b.output.Doc()}
	if byHand != nil {
		v.Schema, err = byHand, checkByHand(byHand)
	} else if !b.output.IsObject() {
		c.Wrapper = f.name + "Output"
	}
	c.Answers = []Variant{v}
	return err
}

func checkByHand(doc []byte) error {
	if _, err := schema.Compile(doc, schema.Options{AssertFormat: true}); err != nil {
		return errors.New("the schema written by hand does not compile: " + err.Error())
	}
	return nil
}

func (f Function) bad(what string) error {
	return &Error{Code: CodeBadSource, Message: "function " + f.name + ": " + what}
}

// Functions are a [Source]: the functions of a program, in this order.
type Functions []Function

var _ Source = Functions{}

// Load makes the tools. An error in any function is an error of all: it is
// the program that has to change.
func (fs Functions) Load(context.Context) (Offer, error) {
	var offer Offer
	var faults []error
	names := map[string]bool{}
	for _, f := range fs {
		t, err := f.Tool()
		if names[f.name] {
			err = f.bad("another function has this name")
		}
		names[f.name] = true
		if err != nil {
			faults = append(faults, err)
			continue
		}
		offer.Tools = append(offer.Tools, t)
	}
	if err := errors.Join(faults...); err != nil {
		return Offer{}, err
	}
	return offer, nil
}

// Load reads a source and returns a gateway that serves what it offers: the
// short way for programs with one source. What was wrong inside the
// description is in the Faults of the gateway's catalog.
func Load(ctx context.Context, s Source, o GatewayOptions) (*Gateway, error) {
	offer, err := s.Load(ctx)
	if err != nil {
		return nil, err
	}
	return NewGateway(Build([]Named{{Offer: offer}}, BuildOptions{}), o), nil
}

// bound is a function with the codecs of its types.
type bound struct {
	options       FuncOptions
	input, output *schema.Codec
}

// sent says what a call may have done that began to run: everything, unless
// the function only reads.
func (b *bound) sent(p Progress) Sent {
	if isTrue(b.options.Hints.ReadOnly) {
		return Sent{}
	}
	return Sent{Unsafe: p, Repeatable: isTrue(b.options.Hints.Idempotent)}
}

func isTrue(b *bool) bool { return b != nil && *b }

// failed is the reply of a function that returned an error. One that was cut
// short may have done its work or not.
func (b *bound) failed(ctx context.Context, err error) (Reply, error) {
	if refused := new(RefusedError); errors.As(err, &refused) {
		return Reply{}, &Error{Code: CodeAuthorization, Message: err.Error()}
	}
	if ctx.Err() != nil {
		return Reply{Sent: b.sent(SentNoAnswer)}, err
	}
	return Reply{Sent: b.sent(Answered)}, err
}

// reply writes what the function returned.
func (b *bound) reply(out any) (Reply, error) {
	out, r, err := unpack(out)
	r.Sent = b.sent(Answered)
	if err != nil {
		return r, &Error{Code: CodeContract, Message: "What the function returned cannot be sent: " + err.Error()}
	}
	if out == nil {
		return r, nil
	}
	r.Media = "application/json"
	if r.Body, err = b.output.Append(nil, out); err != nil {
		return r, &Error{Code: CodeContract, Message: "What the function returned cannot be written as JSON: " + err.Error()}
	}
	if b.options.TextOnly && r.Body[0] == '{' { // native would take an object for data
		r.Media = "text/plain"
		if text, err := rawjson.AppendIndent(nil, r.Body, "  "); err == nil {
			r.Body = text
		}
	}
	return r, nil
}
