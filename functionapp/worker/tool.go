package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/functionapp"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/gofunc"
	"github.com/tenon-mcp/tenon/internal/publish"
	"github.com/tenon-mcp/tenon/schema"
)

// Tool is a tool of an app. Its methods can be chained in any order; the last
// valid call of a method wins. Mistakes are recorded: see [App.Err].
type Tool struct {
	function
	described functionapp.Tool
	typed     tenon.Tool // for a Go function; its Handler is nil otherwise
	hints     tenon.Annotations
	policy    tenon.Policy
	meta      functionapp.Object
	handler   tenon.Handler
}

// Tool adds a tool with handwritten schemas, if any. It needs a handler: see
// [Tool.Handle].
func (a *App) Tool(name string) *Tool {
	t := &Tool{described: functionapp.Tool{Binding: binding, Name: name, Envelope: true}}
	t.function = function{app: a, site: here(), what: "tool " + name, id: "tool " + name, made: name}
	if name == "" || tenon.ToolName(name) != name {
		t.complain(errors.New("not a name that every client accepts: take 1 to 64 of A-Z a-z 0-9 _ -"))
	}
	a.tools = append(a.tools, t)
	return t
}

// Func adds a tool for a typed Go function. Its schemas are derived from the
// types, as gofunc does.
func (a *App) Func(f gofunc.Function) *Tool {
	typed, err := f.Tool()
	t := &Tool{typed: typed, hints: typed.Annotations, policy: typed.Policy, handler: typed.Handler}
	t.described = functionapp.Tool{Binding: binding, Name: typed.Name, Title: typed.Title, Description: typed.Description, Envelope: true}
	t.function = function{app: a, site: here(), what: "tool " + typed.Name, id: "tool " + typed.Name, made: typed.Name, runs: true}
	if err != nil {
		t.what = "a tool"
		t.complain(err)
		return t
	}
	if typed.Confirm != nil {
		t.complain(errors.New("a function app has no way to ask before it runs: take the hint Destructive, by which hosts and clients ask"))
	}
	a.tools = append(a.tools, t)
	return t
}

// Handle sets the handler. Its response is validated against the output schema;
// see [JSON] and [Text].
func (t *Tool) Handle(h tenon.Handler) *Tool {
	if h == nil || t.typed.Handler != nil {
		t.complain(errors.New("a tool has one handler, and that of a Go function is the function"))
		return t
	}
	t.handler, t.runs = h, true
	return t
}

// WithDescription describes the tool to the model.
func (t *Tool) WithDescription(text string) *Tool {
	t.described.Description = text
	return t
}

// WithTitle sets the display name.
func (t *Tool) WithTitle(title string) *Tool {
	t.described.Title = title
	return t
}

// WithHints sets the annotations. Azure's host does not pass them on.
func (t *Tool) WithHints(h tenon.Annotations) *Tool {
	t.hints = h
	return t
}

// WithPolicy sets how responses that violate the output schema are handled.
func (t *Tool) WithPolicy(p tenon.Policy) *Tool {
	t.policy = p
	return t
}

// WithFunctionName sets the name of the function and its folder. The default is
// derived from the tool's name.
func (t *Tool) WithFunctionName(name string) *Tool {
	t.rename(name)
	return t
}

func (f *function) rename(name string) {
	if !functionapp.IsFunctionName(name) {
		f.complain(fmt.Errorf("%q is no name for a function: take a letter and up to 127 of letters, digits, _ and -, but not host", name))
		return
	}
	f.name = name
}

// WithProperty describes an argument. It replaces one of the same name.
func (t *Tool) WithProperty(p Property) *Tool {
	if _, exact := p.SchemaType(); strings.TrimSpace(p.Name) == "" || !exact {
		t.complain(fmt.Errorf("property %q: it needs a name and a type of JSON Schema: string, number, integer, boolean, object or array", p.Name))
		return t
	}
	if t.byHand("WithProperty") {
		same := func(q Property) bool { return q.Name == p.Name }
		t.described.Properties = append(slices.DeleteFunc(t.described.Properties, same), p)
	}
	return t
}

// WithInputSchema sets a JSON Schema for the arguments whose root is an object.
// It takes precedence over properties.
func (t *Tool) WithInputSchema(text string) *Tool {
	t.schema(functionapp.Input, text, &t.described.Input)
	return t
}

// WithOutputSchema declares the results of the tool, by a JSON Schema whose root
// is an object. The answer is structured content then.
func (t *Tool) WithOutputSchema(text string) *Tool {
	t.schema(functionapp.Output, text, &t.described.Output)
	return t
}

func (t *Tool) schema(kind functionapp.SchemaKind, text string, to *functionapp.Schema) {
	s, err := functionapp.ParseSchema(kind, text)
	switch {
	case err != nil:
		t.complain(err)
	case t.byHand("With" + kind.String() + "Schema"):
		*to = s
	}
}

// byHand reports whether the schemas are handwritten.
func (t *Tool) byHand(method string) bool {
	if t.typed.Handler != nil {
		t.complain(errors.New(method + ": the schemas of a Go function are made of its types"))
	}
	return t.typed.Handler == nil
}

// WithMetadata adds a member to the _meta of the tool.
func (t *Tool) WithMetadata(key string, value any) *Tool {
	t.complain(setMeta(&t.meta, key, value))
	return t
}

func setMeta(meta *functionapp.Object, key string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("metadata %q: %w", key, err)
	}
	same := func(m functionapp.Member) bool { return m.Key == key }
	*meta = append(slices.DeleteFunc(*meta, same), functionapp.Member{Key: key, Value: text})
	return nil
}

func metaText(o functionapp.Object) []byte {
	if len(o) == 0 {
		return nil
	}
	return o.Append(nil)
}

// middle returns the tool for the app's own gateway.
func (t *Tool) middle() tenon.Tool {
	tool := t.typed
	if t.typed.Handler == nil {
		contract := tenon.Contract{Input: t.described.InputSchema(), Formats: true}
		if out := t.described.Output.JSON(); out != nil {
			contract.Responses = []tenon.ResponseSchema{{MediaType: "application/json", Schema: out}}
		}
		tool = tenon.Tool{Contract: contract, Handler: t.handle, RawSchemas: true}
	}
	tool.Name, tool.Description, tool.Title = t.described.Name, t.described.Description, t.described.Title
	tool.Annotations, tool.Policy = t.hints, t.policy
	tool.Annotations.Destructive = nil // the host asks for confirmation, by the hint in the binding
	return tool
}

// handle runs a handler and adds the execution state unless the handler set it:
// unsafe, unless the tool only reads.
func (t *Tool) handle(ctx context.Context, c *tenon.Call) (tenon.Response, error) {
	resp, err := t.handler(ctx, c)
	if reads := t.hints.ReadOnly; resp.Execution != (tenon.Execution{}) || reads != nil && *reads {
		return resp, err
	}
	resp.Execution = tenon.Execution{Unsafe: tenon.Responded, Idempotent: t.hints.Idempotent != nil && *t.hints.Idempotent}
	if err != nil && ctx.Err() != nil {
		resp.Execution.Unsafe = tenon.NoResponse
	}
	return resp, err
}

// describe returns the binding. e is the tool in the app's catalog.
func (t *Tool) describe(e *gateway.Tool) (functionapp.Tool, error) {
	d := t.described
	d.Meta, d.Annotations = metaText(t.meta), annotations(t.hints)
	in, out := e.Schemas()
	byHand := t.typed.Handler == nil
	var err error
	if !byHand {
		if d.Input, err = functionapp.ParseSchema(functionapp.Input, string(in)); err != nil {
			return d, t.problem(t.site, err)
		}
	}
	switch {
	case byHand && t.policy != tenon.Warn && t.policy != tenon.Off: // to the word
	case out == nil:
		d.Output = functionapp.Schema{}
	default:
		if d.Output, err = functionapp.ParseSchema(functionapp.Output, string(out)); err != nil {
			return d, t.problem(t.site, err)
		}
	}
	return d, nil
}

// annotations writes annotations as MCP has them.
func annotations(h tenon.Annotations) []byte {
	var o functionapp.Object
	for _, hint := range []struct {
		key  string
		says *bool
	}{{"readOnlyHint", h.ReadOnly}, {"destructiveHint", h.Destructive}, {"idempotentHint", h.Idempotent}, {"openWorldHint", h.OpenWorld}} {
		if hint.says != nil {
			o = append(o, functionapp.Member{Key: hint.key, Value: fmt.Append(nil, *hint.says)})
		}
	}
	return metaText(o)
}

// Warnings reports what the contract allows but clients do not: a schema that
// some of them cannot read makes them drop all tools of a server.
func (a *App) Warnings() []string {
	var all []string
	for _, t := range a.tools {
		for _, s := range []struct {
			key    string
			schema functionapp.Schema
		}{{"inputSchema", t.described.Input}, {"outputSchema", t.described.Output}} {
			if s.schema.JSON() == nil {
				continue
			}
			where := fmt.Sprintf("%s:%d: %s: %s: ", t.site.file, t.site.line, t.what, s.key)
			if _, err := schema.Compile(s.schema.JSON(), schema.Options{}); err != nil {
				all = append(all, where+"nothing is checked against it: "+err.Error())
			}
			_, changes := publish.Compatible(s.schema.JSON())
			for _, c := range changes {
				all = append(all, where+fmt.Sprintf("clients may not bear %s %s: %s", orRoot(c.Path), c.Keyword, c.Message))
			}
		}
	}
	return all
}

func orRoot(pointer string) string {
	if pointer == "" {
		return "the root"
	}
	return pointer
}

// JSON returns a response with v, as encoding/json writes it.
func JSON(v any) (tenon.Response, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return tenon.Response{}, &tenon.Error{Code: tenon.CodeContract, Message: "the answer cannot be written as JSON: " + err.Error()}
	}
	return tenon.Response{MediaType: "application/json", Body: body}, nil
}

// Text returns a response with text.
func Text(text string) tenon.Response {
	return tenon.Response{MediaType: "text/plain", Body: []byte(text)}
}
