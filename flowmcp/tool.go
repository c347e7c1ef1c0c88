package flowmcp

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

func (t *route) fault(what string) tenon.Diagnostic {
	return tenon.Diagnostic{File: t.file.path, Line: t.line, Message: what}
}

// tool is the tool of a route under a wire name.
func (t *route) tool(name string, o *Options, r *runner) tenon.Tool {
	handler := func(ctx context.Context, c *tenon.Call) (tenon.Response, error) { return t.call(ctx, c, o) }
	if t.handled {
		handler = func(ctx context.Context, c *tenon.Call) (tenon.Response, error) { return t.handle(ctx, c, o, r) }
	}
	return tenon.Tool{
		Name:         name,
		Original:     t.id(),
		Description:  t.text,
		Annotations:  t.hints(),
		Keywords:     t.words(),
		Group:        t.file.namespace,
		Meta:         t.definitionMeta(),
		Confirmation: t.consent(o),
		Policy:       o.Policy,
		Envelope:     o.Shape,
		Contract:     promise{t, o},
		Handler:      handler,
		Origin:       t.fault(""),
	}
}

// id is the qualified name of the format's page.
func (t *route) id() string { return qualifiedName(t.file.namespace, t.file.path, t.name) }

func (t *route) hints() tenon.Annotations {
	yes := true
	var h tenon.Annotations
	if t.readOnly() {
		h.ReadOnly = &yes
		return h
	}
	if v := t.meta.get("isDestructive"); v.is(boolKind) {
		destructive := v.yes()
		h.Destructive = &destructive
	} else if t.method == http.MethodDelete {
		h.Destructive = &yes
	}
	if t.repeatable() {
		h.Idempotent = &yes
	}
	return h
}

// consent is due where the MCP block says that the route destroys, or says
// nothing and the method is none that only reads, as for an OpenAPI operation.
func (t *route) consent(o *Options) tenon.ConfirmRule {
	c := tenon.ConfirmRule{Mode: o.Consent, Effect: t.method + " route " + t.id()}
	destroys := t.meta.get("isDestructive")
	switch {
	case t.readOnly():
	case t.handled && t.writes:
		c.Action, c.Effect = tenon.RunTool, c.Effect+", whose handlers may change what is there"
	case destroys.is(boolKind) && !destroys.yes():
	case destroys.yes():
		c.Action, c.Effect = tenon.RunTool, c.Effect+" may destroy what is there"
	case t.meta != nil: // it says that the route changes something, not that it destroys
	case t.method == http.MethodPost:
		c.Action, c.Effect = tenon.CreateResource, c.Effect+" creates something or runs an action"
	case t.method == http.MethodPut:
		c.Action, c.Effect = tenon.ReplaceResource, c.Effect+" replaces what is there"
	case t.method == http.MethodDelete:
		c.Action, c.Effect = tenon.DeleteResource, c.Effect+" deletes what is there"
	}
	if c.Marked = t.marked(o, c); c.Marked {
		c.Effect += " may change what is there"
	}
	return c
}

// words are what else the tool is found by: its names, its tags, the aliases
// and the hint of its MCP block, where it is documented and its licence.
func (t *route) words() string {
	main := t.file.main
	all := []string{t.file.namespace, t.file.name, t.name, t.path, t.meta.get("searchHint").str()}
	all = append(all, t.meta.get("aliases").strs()...)
	all = append(all, main.get("tags").strs()...)
	all = append(all, main.get("docs").strs()...)
	for _, name := range aboutFields() {
		all = append(all, main.get(name).str())
	}
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), " ")
}

// aboutFields are those of a file that are only told.
func aboutFields() []string {
	return []string{"termsOfService", "termsOfServiceCheckedAt", "termsOfServiceLanguage", "dataLicense", "dataLicenseName"}
}

// definitionMeta is the _meta of the tool's definition.
func (t *route) definitionMeta() []byte {
	dst := append([]byte(`{"flowmcp/id":`), rawjson.AppendString(nil, t.id())...)
	if hint := t.meta.get("searchHint").str(); hint != "" {
		dst = append(dst, `,"anthropic/searchHint":`...)
		dst = rawjson.AppendString(dst, hint)
	}
	if t.meta.get("alwaysLoad").yes() {
		dst = append(dst, `,"anthropic/alwaysLoad":true`...)
	}
	if v := t.meta.get("isConcurrencySafe"); v.is(boolKind) {
		dst = append(append(dst, `,"flowmcp/isConcurrencySafe":`...), v.text...)
	}
	if a := t.meta.get("aliases"); len(a.strs()) > 0 {
		dst = a.appendJSON(append(dst, `,"flowmcp/aliases":`...))
	}
	main := t.file.main
	for _, name := range []string{"docs", "tags"} {
		if n := main.get(name); len(n.strs()) > 0 {
			dst = append(dst, `,"flowmcp/`+name+`":`...)
			dst = n.appendJSON(dst)
		}
	}
	for _, name := range aboutFields() {
		if text := main.get(name).str(); text != "" {
			dst = append(dst, `,"flowmcp/`+name+`":`...)
			dst = rawjson.AppendString(dst, text)
		}
	}
	return append(dst, '}')
}

// call sends the request of a call and returns the upstream's answer.
func (t *route) call(ctx context.Context, c *tenon.Call, o *Options) (tenon.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	req, err := t.request(ctx, c.Args, o)
	if err != nil {
		return tenon.Response{}, err
	}
	res, err := egress.Do(o.Client, req, o.MaxAnswer)
	reply := t.received(res, false)
	reply.Execution = t.sent(res.Progress)
	t.hide(&reply, o.Env)
	if err != nil {
		return reply, failure(err)
	}
	return reply, nil
}

func (t *route) sent(p egress.RequestState) tenon.Execution {
	switch {
	case p == egress.NotSent:
		return tenon.Execution{}
	case t.readOnly():
		return tenon.Execution{Reads: tenon.NoResponse}
	}
	s := tenon.Execution{Unsafe: tenon.NoResponse, Idempotent: t.repeatable()}
	if p == egress.Answered {
		s.Unsafe = tenon.Responded
	}
	return s
}

// failure is a failed request as the caller may read it: what egress prints
// holds no path, no query and no credential. The cause goes to the log.
func failure(err error) error {
	if own, ok := errors.AsType[*tenon.Error](err); ok { // a redirect that is not followed
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
	case egress.Refused, egress.TooLarge:
		code = tenon.CodeRequest
	case egress.Full:
		code = tenon.CodeRateLimited
	case egress.Network, egress.Canceled, egress.Truncated, egress.Busy, egress.Down:
	}
	if e.NotAllowed() {
		return &tenon.Error{Code: tenon.CodeNetwork, Message: e.Error(), Err: e.Err, Suggestions: []string{
			"Tell the operator: this address is not public, and is only called where it is allowed (--allow-host); until then, calling again does not help",
		}}
	}
	return &tenon.Error{Code: code, Message: e.Error(), Err: e.Err}
}
