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

// transport is the transport reported to functions: the real one is not known
// here, and the contract has this value for it.
const transport = "unknown"

// tool returns the tool of a function.
func (s *generation) tool(f *Function) tenon.Tool {
	t := f.Tool
	origin := tenon.Diagnostic{File: f.File, Line: f.Line}
	tool := tenon.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description, Meta: t.Meta,
		Annotations: hints(t.Annotations), Policy: s.o.Policy, Envelope: s.o.Envelope, RawSchemas: true, Fixed: true, Origin: origin,
		Contract: &workerContract{tool: t, anyway: s.o.PublishIncompatibleSchemas, origin: origin},
	}
	tool.Confirmation = consent(f.Name, tool.Annotations)
	readOnly, repeatable := isTrue(tool.Annotations.ReadOnly), isTrue(tool.Annotations.Idempotent)
	function := f.Name
	tool.Handler = func(ctx context.Context, c *tenon.Call) (resp tenon.Response, err error) {
		r, sent, err := s.run(ctx, function, func(f *Function) (invocation, error) { return toolCall(f, c) })
		resp.Execution = tenon.Execution{Unsafe: sent, Idempotent: repeatable}
		if readOnly {
			resp.Execution = tenon.Execution{Reads: sent}
		}
		if err == nil {
			err = fillResponse(&resp, t, function, r)
			adopt(&resp, readOnly)
		}
		return resp, err
	}
	return tool
}

// adopt takes over what a worker with its own gateway reports about the
// execution of a call. A worker that reports nothing has executed the calls
// that it answered.
func adopt(resp *tenon.Response, readOnly bool) {
	doc, err := rawjson.Parse(resp.Meta)
	if err != nil {
		return // no report
	}
	contract := doc.Get(doc.Root(), "tenon/contract")
	how, known := map[string]tenon.RequestState{"no": tenon.NotSent, "unknown": tenon.NoResponse, "yes": tenon.Responded}[doc.Str(doc.Get(contract, "executed"))]
	switch {
	case !known:
	case readOnly:
		resp.Execution = tenon.Execution{Reads: how}
	default:
		resp.Execution = tenon.Execution{Unsafe: how, Idempotent: doc.Str(doc.Get(contract, "retry")) == "safe"}
	}
}

func isTrue(b *bool) bool { return b != nil && *b }

// hints parses the annotations of a tool, a JSON object.
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

// consent requires confirmation of destructive functions. Where the operator
// chose to be asked, it covers every function that does not declare itself
// read-only.
func consent(function string, h tenon.Annotations) tenon.ConfirmRule {
	if isTrue(h.ReadOnly) {
		return tenon.ConfirmRule{}
	}
	return tenon.ConfirmRule{Marked: true, Effect: "The function " + function + " may change or destroy what is there"}
}

// toolCall is the call of a tool's function. Input validation has checked the
// arguments; that required ones are not null is a rule of the contract alone.
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

// oneLine returns compact JSON, so that equal values have the same text
// whatever their formatting.
func oneLine(args []byte) []byte {
	if compact, err := rawjson.AppendCompact(nil, args); err == nil {
		return compact
	}
	return args
}

// fillResponse takes apart what a tool's function returned. The response is content
// of its own with, where a schema is declared, a value to check against it:
// the structured content, or else the text, which then has to be that JSON.
func fillResponse(resp *tenon.Response, t *functionapp.Tool, function string, r functionapp.Response) error {
	result, err := functionapp.ReadResult(r.ReturnValue, t.Envelope)
	if err != nil {
		return &tenon.Error{Code: tenon.CodeServer, Message: fmt.Sprintf("what the function %s returned cannot be used: %v", function, err)}
	}
	resp.Content, resp.Meta, resp.Failed = result.Blocks, result.Meta, result.IsError
	switch {
	case result.IsError:
		if len(resp.Content) == 0 {
			resp.Content = []tenon.Content{{Text: []byte("the function " + function + " failed and does not say why")}}
		}
	case result.Structured != nil:
		resp.Body, resp.MediaType = result.Structured, "application/json"
		if len(resp.Content) == 0 { // models read content
			resp.Content = []tenon.Content{{Text: result.Structured}}
		}
	case t.Output.JSON() != nil:
		resp.Body, resp.MediaType = textValue(result.Blocks)
	}
	return nil
}

// textValue returns the only text block, as JSON where it is an object or a
// list.
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
