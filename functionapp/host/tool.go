package host

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/functionapp"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// transport says to functions by which way a call came. The doors do not tell,
// and this is a word that the contract has for it.
const transport = "unknown"

// tool makes a tool of a function.
func (s *generation) tool(f *Function) tenon.Tool {
	t := f.Tool
	origin := tenon.Diagnostic{File: f.File, Line: f.Line}
	tool := tenon.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description, Meta: t.Meta,
		Annotations: hints(t.Annotations), Policy: s.o.Policy, Envelope: s.o.Shape, RawSchemas: true, Origin: origin,
		Contract: &promise{tool: t, anyway: s.o.AdvertiseAnyway, origin: origin},
	}
	tool.Confirmation = consent(f.Name, tool.Annotations)
	readOnly, repeatable := isTrue(tool.Annotations.ReadOnly), isTrue(tool.Annotations.Idempotent)
	function := f.Name
	tool.Handler = func(ctx context.Context, c *tenon.Call) (reply tenon.Response, err error) {
		r, sent, err := s.run(ctx, function, func(f *Function) (invocation, error) { return toolCall(f, c) })
		reply.Execution = tenon.Execution{Unsafe: sent, Idempotent: repeatable}
		if readOnly {
			reply.Execution = tenon.Execution{Reads: sent}
		}
		if err == nil {
			err = fillReply(&reply, t, function, r)
			adopt(&reply, readOnly)
		}
		return reply, err
	}
	return tool
}

// adopt takes over what a worker that has a gateway of its own says of a call:
// it is nearer to what was done. A worker that says nothing has executed what
// it answered.
func adopt(reply *tenon.Response, readOnly bool) {
	doc, err := rawjson.Parse(reply.Meta)
	if err != nil {
		return // there is none
	}
	contract := doc.Get(doc.Root(), "tenon/contract")
	how, known := map[string]tenon.RequestState{"no": tenon.NotSent, "unknown": tenon.NoResponse, "yes": tenon.Responded}[doc.Str(doc.Get(contract, "executed"))]
	switch {
	case !known:
	case readOnly:
		reply.Execution = tenon.Execution{Reads: how}
	default:
		reply.Execution = tenon.Execution{Unsafe: how, Idempotent: doc.Str(doc.Get(contract, "retry")) == "safe"}
	}
}

func isTrue(b *bool) bool { return b != nil && *b }

// hints reads the annotations of a tool, a JSON object.
func hints(annotations []byte) (h tenon.Annotations) {
	doc, err := rawjson.Parse(annotations)
	if err != nil {
		return h
	}
	for key, to := range map[string]**bool{
		"readOnlyHint": &h.ReadOnly, "destructiveHint": &h.Destructive, "idempotentHint": &h.Idempotent, "openWorldHint": &h.OpenWorld,
	} {
		if n := doc.Get(doc.Root(), key); doc.Kind(n) == rawjson.Bool {
			is := doc.IsTrue(n)
			*to = &is
		}
	}
	return h
}

// consent is asked for what destroys. Who chose to be asked is asked about every
// function that does not say of itself that it only reads: what it does is known
// from its own word alone.
func consent(function string, h tenon.Annotations) tenon.ConfirmRule {
	if isTrue(h.ReadOnly) {
		return tenon.ConfirmRule{}
	}
	return tenon.ConfirmRule{Marked: true, Effect: "The function " + function + " may change or destroy what is there"}
}

// toolCall is the run of a tool's function. Input validation has validated the
// arguments; that a required one is not null is a rule of the contract alone.
func toolCall(f *Function, c *tenon.Call) (invocation, error) {
	if f.Tool == nil {
		return invocation{}, &tenon.Error{Code: tenon.CodeNotFound, Message: "the function " + f.Name + " is no tool any more"}
	}
	if missing := f.Tool.Missing(c.Args); missing != nil {
		return invocation{}, &tenon.Error{Code: tenon.CodeValidation, Message: "these arguments are required and must not be null: " + strings.Join(missing, ", ")}
	}
	return invocation{f: f, context: functionapp.Context{
		Name: f.Tool.Name, Arguments: oneLine(c.Args), Session: sessionOf(c), Client: clientOf(c), Transport: functionapp.Transport{Name: transport},
	}}, nil
}

// oneLine returns JSON without white space, so that it is the same text for
// every way in which a client writes it.
func oneLine(args []byte) []byte {
	if compact, err := rawjson.AppendCompact(nil, args); err == nil {
		return compact
	}
	return args
}

// fillReply takes apart what a tool's function returned. The response is content
// of its own with, where a schema is promised, a value to check against it:
// the structured content, or else the text, which then has to be that JSON.
func fillReply(reply *tenon.Response, t *functionapp.Tool, function string, r functionapp.Response) error {
	result, err := functionapp.ReadResult(r.ReturnValue, t.Envelope)
	if err != nil {
		return &tenon.Error{Code: tenon.CodeServer, Message: fmt.Sprintf("what the function %s returned cannot be used: %v", function, err)}
	}
	reply.Content, reply.Meta, reply.Failed = result.Blocks, result.Meta, result.IsError
	switch {
	case result.IsError:
		if len(reply.Content) == 0 {
			reply.Content = []tenon.Content{{Text: []byte("the function " + function + " failed and does not say why")}}
		}
	case result.Structured != nil:
		reply.Body, reply.MediaType = result.Structured, "application/json"
		if len(reply.Content) == 0 { // the model reads content
			reply.Content = []tenon.Content{{Text: result.Structured}}
		}
	case t.Output.JSON() != nil:
		reply.Body, reply.MediaType = textValue(result.Blocks)
	}
	return nil
}

// textValue returns the only text among blocks, as JSON where it is an object
// or a list.
func textValue(blocks []tenon.Content) (body []byte, media string) {
	for _, b := range blocks {
		if b.Type != tenon.TextContent {
			continue
		}
		if body != nil {
			return nil, ""
		}
		body = b.Text
	}
	text := bytes.TrimSpace(rawjson.WithoutMark(body))
	if len(text) > 0 && (text[0] == '{' || text[0] == '[') && rawjson.Check(text) == nil {
		return text, "application/json"
	}
	return body, "text/plain"
}
