package flowmcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp/internal/format"
	"github.com/tenon-mcp/tenon/flowmcp/internal/module"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/publish"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

func (t tool) diagnostic(what string) tenon.Diagnostic {
	return tenon.Diagnostic{File: t.File.Path, Line: t.Line, Message: what}
}

// tool returns the tool of a route under a name for clients.
func (t tool) tool(name string, o *Options, r *runner) tenon.Tool {
	handler := func(ctx context.Context, c *tenon.Call) (tenon.Response, error) { return t.call(ctx, c, o) }
	if t.Handled {
		handler = func(ctx context.Context, c *tenon.Call) (tenon.Response, error) { return t.callHandlers(ctx, c, o, r) }
	}
	return tenon.Tool{
		Name:         name,
		Original:     t.ID(),
		Description:  t.Description,
		Annotations:  t.annotations(),
		Keywords:     t.keywords(),
		Group:        t.File.Namespace,
		Meta:         t.definitionMeta(),
		Confirmation: t.confirmation(o),
		Policy:       o.Policy,
		Envelope:     o.Envelope,
		Contract:     contractProvider{t, o},
		Handler:      handler,
		Origin:       t.diagnostic(""),
		Labels:       t.labels,
		Upstream:     t.upstream,
	}
}

// upstream is the origin of the route's root, with an asterisk for each placeholder.
func (t tool) upstream() string {
	return format.OriginPattern(format.AuthorityIn(t.File.Main.Get("root").Str()))
}

// labels are what the operator's selectors match.
func (t tool) labels() tenon.Labels {
	l := labels(t.File, "tool", t.Name, t.ID(), format.WireName(t.Name, t.File.Namespace))
	l.Method, l.Path = t.Method, t.Path
	return l
}

// labels are those of a part of a file, by its kind and name in the file.
func labels(f *format.File, kind, name string, ids ...string) tenon.Labels {
	return tenon.Labels{IDs: append(ids, name, f.Namespace+"/"+kind+"/"+name), Tags: f.Main.Get("tags").Strings()}
}

func (t tool) annotations() tenon.Annotations {
	yes := true
	var h tenon.Annotations
	if t.ReadOnly() {
		h.ReadOnly = &yes
		return h
	}
	if v := t.Meta.Get("isDestructive"); v.Is(module.Bool) {
		destructive := v.IsTrue()
		h.Destructive = &destructive
	} else if t.Method == http.MethodDelete {
		h.Destructive = &yes
	}
	if t.Idempotent() {
		h.Idempotent = &yes
	}
	return h
}

// confirmation requires confirmation where the MCP block declares the route
// destructive, or where there is no block and the method is unsafe, as for
// OpenAPI operations.
func (t tool) confirmation(o *Options) tenon.ConfirmRule {
	c := tenon.ConfirmRule{Mode: o.Confirm, Effect: t.Method + " route " + t.ID()}
	destroys := t.Meta.Get("isDestructive")
	switch {
	case t.ReadOnly():
	case t.Handled && t.Writes:
		c.Action, c.Effect = tenon.RunTool, c.Effect+", whose handlers may change what is there"
	case destroys.Is(module.Bool) && !destroys.IsTrue():
	case destroys.IsTrue():
		c.Action, c.Effect = tenon.RunTool, c.Effect+" may destroy what is there"
	case t.Meta != nil: // declared as changing, not as destructive
	case t.Method == http.MethodPost:
		c.Action, c.Effect = tenon.CreateResource, c.Effect+" creates something or runs an action"
	case t.Method == http.MethodPut:
		c.Action, c.Effect = tenon.ReplaceResource, c.Effect+" replaces what is there"
	case t.Method == http.MethodDelete:
		c.Action, c.Effect = tenon.DeleteResource, c.Effect+" deletes what is there"
	}
	if c.Marked = t.overridesMethod(o, c); c.Marked {
		c.Effect += " may change what is there"
	}
	return c
}

// keywords returns additional search terms: names, tags, the aliases and the hint
// of the MCP block, links and licences.
func (t tool) keywords() string {
	main := t.File.Main
	all := []string{t.File.Namespace, t.File.Name, t.Name, t.Path, t.Meta.Get("searchHint").Str()}
	all = append(all, t.Meta.Get("aliases").Strings()...)
	all = append(all, main.Get("tags").Strings()...)
	all = append(all, main.Get("docs").Strings()...)
	for _, name := range aboutFields() {
		all = append(all, main.Get(name).Str())
	}
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), " ")
}

// aboutFields returns the keys of informational fields.
func aboutFields() []string {
	return []string{"termsOfService", "termsOfServiceCheckedAt", "termsOfServiceLanguage", "dataLicense", "dataLicenseName"}
}

// definitionMeta returns the _meta of the tool's definition.
func (t tool) definitionMeta() []byte {
	dst := append([]byte(`{"flowmcp/id":`), rawjson.AppendString(nil, t.ID())...)
	if hint := t.Meta.Get("searchHint").Str(); hint != "" {
		dst = append(dst, `,"anthropic/searchHint":`...)
		dst = rawjson.AppendString(dst, hint)
	}
	if t.Meta.Get("alwaysLoad").IsTrue() {
		dst = append(dst, `,"anthropic/alwaysLoad":true`...)
	}
	if v := t.Meta.Get("isConcurrencySafe"); v.Is(module.Bool) {
		dst = append(append(dst, `,"flowmcp/isConcurrencySafe":`...), v.Text...)
	}
	if a := t.Meta.Get("aliases"); len(a.Strings()) > 0 {
		dst = a.AppendJSON(append(dst, `,"flowmcp/aliases":`...))
	}
	main := t.File.Main
	for _, name := range []string{"docs", "tags"} {
		if n := main.Get(name); len(n.Strings()) > 0 {
			dst = append(dst, `,"flowmcp/`+name+`":`...)
			dst = n.AppendJSON(dst)
		}
	}
	for _, name := range aboutFields() {
		if text := main.Get(name).Str(); text != "" {
			dst = append(dst, `,"flowmcp/`+name+`":`...)
			dst = rawjson.AppendString(dst, text)
		}
	}
	return append(dst, '}')
}

// call sends the request of a call and returns the response.
func (t tool) call(ctx context.Context, c *tenon.Call, o *Options) (tenon.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	req, err := t.request(ctx, c.Args, o)
	if err != nil {
		return tenon.Response{}, err
	}
	res, err := egress.Do(o.Client, req, o.MaxResponse)
	response := t.upstreamResponse(res, false)
	response.Execution = t.executionState(res.State)
	t.redact(&response, o.Env)
	if err != nil {
		return response, requestFailure(err)
	}
	return response, nil
}

func (t tool) executionState(p egress.RequestState) tenon.Execution {
	switch {
	case p == egress.NotSent:
		return tenon.Execution{}
	case t.ReadOnly():
		return tenon.Execution{Reads: tenon.NoResponse}
	}
	s := tenon.Execution{Unsafe: tenon.NoResponse, Idempotent: t.Idempotent()}
	if p == egress.Responded {
		s.Unsafe = tenon.Responded
	}
	return s
}

// requestFailure converts an error of a request for the caller: the text of egress
// contains no path, query or credential. The cause is logged.
func requestFailure(err error) error {
	if own, ok := errors.AsType[*tenon.Error](err); ok { // a blocked redirect
		return own
	}
	var e *egress.Error
	if !errors.As(err, &e) {
		return &tenon.Error{Code: tenon.CodeNetwork, Message: "no answer", Err: err}
	}
	code := tenon.CodeNetwork
	switch e.Kind {
	case egress.Timeout:
		code = tenon.CodeTimeout
	case egress.Forbidden, egress.TooLarge:
		code = tenon.CodeRequest
	case egress.Full:
		code = tenon.CodeRateLimited
	case egress.Network, egress.Canceled, egress.Truncated, egress.RateLimited, egress.CircuitOpen:
	}
	if e.NotAllowed() {
		return &tenon.Error{Code: tenon.CodeNetwork, Message: e.Error(), Err: e.Err, Suggestions: []string{
			"Tell the operator: this address is not public, and is only called where it is allowed (--allow-private-host); until then, calling again does not help",
		}}
	}
	return &tenon.Error{Code: code, Message: e.Error(), Err: e.Err}
}

// tool executes a tool of a schema file.
type tool struct {
	*format.Tool

	moved movedParameters // shared by all tools of a load
}

// query executes a query of a schema file.
type query struct{ *format.Query }

// asTool returns the query as a tool without HTTP.
func (q query) asTool() tool { return tool{Tool: q.Tool} }

// resource serves a resource of a schema file.
type resource struct{ *format.Resource }

// guide serves a skill or a prompt.
type guide struct{ *format.Guide }

// movedParameters are the server parameters with a new destination, and the new
// origin, by file.
type movedParameters map[*format.File]map[string]string

// contractProvider provides the contract of a tool, computed on demand.
type contractProvider struct {
	tool    tool
	options *Options
}

var _ tenon.ContractProvider = contractProvider{}

// Contract returns both schemas unabridged.
func (p contractProvider) Contract() (tenon.Contract, error) {
	c := tenon.Contract{Input: p.tool.InputSchema()}
	if answer := p.tool.Response(); answer != nil {
		c.Responses = []tenon.ResponseSchema{*answer}
	}
	return c, nil
}

// PublishedContract returns both schemas relaxed to the configured size limits.
func (p contractProvider) PublishedContract() (tenon.Contract, []tenon.Diagnostic) {
	c, err := p.Contract()
	if err != nil {
		return c, []tenon.Diagnostic{p.tool.diagnostic(err.Error())}
	}
	var diagnostics []tenon.Diagnostic
	relax := func(which string, doc []byte, limit int) []byte {
		if doc == nil || limit < 0 || len(doc) <= limit {
			return doc
		}
		relaxed, how := publish.Relax(doc, limit)
		diagnostics = append(diagnostics, p.tool.diagnostic(fmt.Sprintf("%s schema of %d bytes is relaxed to %d: %v", which, len(doc), len(relaxed), how)))
		return relaxed
	}
	c.Input = relax("input", c.Input, p.options.MaxInputSchema)
	for i := range c.Responses {
		c.Responses[i].Schema = relax("output", c.Responses[i].Schema, p.options.MaxOutputSchema)
	}
	return c, diagnostics
}

// The side effects of a tool are derived from its declaration, and its handlers
// may send no other requests. Its annotations, its confirmation and the retry
// advice therefore hold whatever the code does.

// checkMethod rejects a request that exceeds the tool's declaration, including
// method override headers.
func (t tool) checkMethod(method string, h http.Header) error {
	methods := []string{method}
	for _, name := range []string{"X-Http-Method-Override", "X-Http-Method", "X-Method-Override"} {
		for _, v := range h.Values(name) {
			methods = append(methods, strings.ToUpper(strings.TrimSpace(v)))
		}
	}
	for _, m := range methods {
		if t.MaySend(m) {
			continue
		}
		what := "the tool declares " + t.Method
		if t.ReadOnly() {
			what = "the tool is declared read-only"
		}
		allow := "handler-writes " + t.ID()
		if t.ReadOnly() && m == http.MethodPost {
			allow = "handler-reads " + t.ID() + " if it only reads, else " + allow
		}
		return &tenon.Error{Code: tenon.CodeAuthorization, Message: "a handler tried to send " + clipText(m) + ", and " + what + "; the operator can allow it with " + allow}
	}
	return nil
}

// appendDeclared appends the names of the fields of executeRequest's payload
// that are also arguments of the tool, by its parameters or its test cases.
func (t tool) appendDeclared(dst []byte) []byte {
	declared := func(name string) bool {
		return slices.ContainsFunc(t.Parameters, func(p *format.Parameter) bool { return slices.Contains(p.Arguments(), name) }) ||
			slices.ContainsFunc(t.Tests.List(), func(test *module.Node) bool { return test.Get(name).Exists() })
	}
	dst = append(dst, '[')
	for _, name := range []string{"url", "method", "headers", "body", "userParams", "serverParams"} {
		if !declared(name) {
			continue
		}
		if dst[len(dst)-1] != '[' {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendString(dst, name)
	}
	return append(dst, ']')
}
