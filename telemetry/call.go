package telemetry

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
)

// ObserveCall says how a call ended as to its contract: in the span of its request
// and in the counter of violations. It implements [gateway.Observer].
func (t *Telemetry) ObserveCall(ctx context.Context, r *gateway.CallRecord) {
	t.countViolation(ctx, r)
	at := requestOf(ctx)
	if at == nil || at.span == nil {
		return
	}
	contract := t.contractOf(r)
	if at.span.set(contract...) {
		return
	}
	// Its request was answered before, with a task.
	s := startSpan(valueExecuteTool+" "+toolOf(r), trace.SpanKindInternal, at.place, at.place.TraceID(), r.Began)
	s.set(attrOperation.String(valueExecuteTool), attrTool.String(toolOf(r)))
	s.set(contract...)
	if r.Code() != "" {
		s.fail(valueToolError, "")
	}
	t.end(s)
}

func toolOf(r *gateway.CallRecord) string {
	if r.Tool == nil {
		return valueOther
	}
	return r.Tool.Name()
}

// contractOf are our own attributes of a call.
func (t *Telemetry) contractOf(r *gateway.CallRecord) []attribute.KeyValue {
	all := make([]attribute.KeyValue, 0, 7)
	if r.Tool != nil {
		all = append(all, attrPolicy.String(policyOf(r)))
		if source := r.Tool.Source(); source != "" {
			all = append(all, attrSource.String(source))
		}
	}
	if r.Consent != "" {
		all = append(all, attrConsent.String(string(r.Consent)))
	}
	if r.Result != nil {
		all = append(all, attrVerdict.String(string(r.Result.Outcome.Verdict)), attrExecuted.String(r.Result.Outcome.Executed))
	}
	if t.options.Content {
		all = append(all, attrToolArguments.String(t.content(r.Args)))
		if r.Result != nil && !r.Result.IsError {
			all = append(all, attrToolResult.String(t.content(resultOf(r.Result))))
		}
	}
	return all
}

func policyOf(r *gateway.CallRecord) string {
	return string(cmp.Or(r.Tool.Tool().Policy, tenon.Enforce))
}

// resultOf is the structured result of a call, or the text in its place.
func resultOf(r *tenon.Result) []byte {
	if r.Structured != nil {
		return r.Structured
	}
	for i := range r.Content {
		if len(r.Content[i].Text) > 0 {
			return r.Content[i].Text
		}
	}
	return nil
}

// maxContent bounds an argument object and a result in a span, in bytes.
const maxContent = 8 << 10

// content is a JSON value for a span, without secrets. What is too long is not cut
// before secrets are replaced: half of one would not be found.
func (t *Telemetry) content(value []byte) string {
	if len(value) > 16*maxContent {
		return `"(too long)"`
	}
	value = hideMembers(value)
	if len(value) > maxContent {
		value = append(bytes.Clone(value[:maxContent]), "…"...)
	}
	return string(bytes.ToValidUTF8(value, []byte("\uFFFD")))
}

// hideMembers replaces the values of members whose names are those of secrets.
func hideMembers(value []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || !hide(v) {
		return value
	}
	out, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return out
}

// hide replaces secrets in v, and reports whether there were any.
func hide(v any) (found bool) {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if secretNames.MatchString(name) {
				v[name] = "(secret)"
				found = true
			} else if hide(member) {
				found = true
			}
		}
	case []any:
		for _, item := range v {
			found = hide(item) || found
		}
	}
	return found
}
