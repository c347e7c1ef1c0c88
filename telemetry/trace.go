package telemetry

import (
	"context"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/trace"

	"github.com/tenon-mcp/tenon/server"
)

// startTraces makes the tracer, if there is a receiver.
func (t *Telemetry) startTraces(described *resource.Resource) error {
	var err error
	if t.sampler, err = samplerOf(t.options.Sampler, t.options.Ratio); err != nil || !t.options.sends(Traces) {
		return err
	}
	t.spans = newQueue(t.log, t.options.SpanDelay, t.fates[Traces], func(ctx context.Context, all []*span) error {
		return t.options.deliver(ctx, "v1/traces", encodeSpans(described, all))
	})
	return nil
}

// BeginRequest gives a request its place in a trace, and a span if it is sampled. It
// implements [server.Observer].
func (t *Telemetry) BeginRequest(ctx context.Context, r *server.RequestRecord) context.Context {
	if t.spans == nil && !t.options.Follow {
		return ctx
	}
	parent, ambient := remote(r.TraceParent, r.TraceState), ambient(r)
	linked := parent.IsValid() && ambient.IsValid() // the HTTP request is another matter than the message
	if !parent.IsValid() {
		parent = ambient
	}
	id := parent.TraceID()
	if !parent.IsValid() {
		id = newTraceID()
	}
	ctx = t.withBaggage(ctx, r)
	if t.spans == nil || !t.sampler.takes(parent, id) {
		return &request{Context: ctx, place: trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: newSpanID(), TraceState: parent.TraceState()})}
	}
	s := startSpan(t.spanName(r), trace.SpanKindServer, parent, id, r.Began)
	if linked {
		s.link = ambient
	}
	describe(s, r)
	return &request{Context: trace.ContextWithSpanContext(ctx, s.place), place: s.place, span: s} // spans of others, of a Go function for example, are its children
}

// withBaggage adds what a client sends along, if it is to go on to upstreams.
func (t *Telemetry) withBaggage(ctx context.Context, r *server.RequestRecord) context.Context {
	if !t.options.Baggage || r.Baggage == "" {
		return ctx
	}
	b, err := baggage.Parse(r.Baggage)
	if err != nil {
		return ctx
	}
	return baggage.ContextWithBaggage(ctx, b)
}

// spanName is the method and, where their number is bounded, what it is about.
func (t *Telemetry) spanName(r *server.RequestRecord) string {
	method := methodName(r)
	if method == methodCall && t.options.Known(r.Name) || method == methodPrompt && t.options.KnownPrompt(r.Name) {
		return method + " " + r.Name
	}
	return method
}

// ambient is the trace of the HTTP request that carried a message.
func ambient(r *server.RequestRecord) trace.SpanContext {
	parent := r.Header[headerParent]
	if len(parent) != 1 {
		return trace.SpanContext{}
	}
	return remote(parent[0], strings.Join(r.Header[headerState], ","))
}

// The headers of W3C Trace Context, as net/http spells them.
const (
	headerParent = "Traceparent"
	headerState  = "Tracestate"
)

// remote is the place that a client names; the zero value: it is none.
func remote(parent, state string) trace.SpanContext {
	if parent == "" {
		return trace.SpanContext{}
	}
	ctx := propagation.TraceContext{}.Extract(context.Background(), carrier{"traceparent": parent, "tracestate": state})
	return trace.SpanContextFromContext(ctx)
}

// carrier is a [propagation.TextMapCarrier].
type carrier map[string]string

// Get implements [propagation.TextMapCarrier].
func (c carrier) Get(key string) string { return c[key] }

// Set implements [propagation.TextMapCarrier].
func (c carrier) Set(key, value string) { c[key] = value }

// Keys implements [propagation.TextMapCarrier].
func (carrier) Keys() []string { return []string{"traceparent", "tracestate"} }

// describe sets what is known of a request when it comes.
func describe(s *span, r *server.RequestRecord) {
	method := methodName(r)
	s.set(attrMethod.String(method))
	switch method {
	case methodCall:
		s.set(attrOperation.String(valueExecuteTool), attrTool.String(clip(r.Name)))
	case methodPrompt:
		s.set(attrPrompt.String(clip(r.Name)))
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		s.set(attrResource.String(clip(r.URI)))
	}
	if r.Revision != "" {
		s.set(attrRevision.String(r.Revision))
	}
	if r.Session != "" {
		s.set(attrSession.String(r.Session))
	}
	if id := strings.Trim(string(r.ID), `"`); id != "" {
		s.set(attrRequestID.String(clip(id)))
	}
	if r.Peer != "" {
		s.set(attrClient.String(r.Peer))
	}
	s.set(transportOf(r.Proto)...)
}

// transportOf are the attributes of the connection of a request.
func transportOf(proto string) []attribute.KeyValue {
	switch proto {
	case "":
		return []attribute.KeyValue{attrTransport.String("pipe")}
	case "HTTP/2.0":
		return []attribute.KeyValue{attrTransport.String("tcp"), attrProtocol.String("http"), attrProtoVersion.String("2")}
	}
	return []attribute.KeyValue{attrTransport.String("tcp"), attrProtocol.String("http"), attrProtoVersion.String(strings.TrimPrefix(proto, "HTTP/"))}
}

// methodName is the method of a request, or one value for all that there are not.
func methodName(r *server.RequestRecord) string {
	if r.Known {
		return r.Method
	}
	return valueOther
}

// maxText bounds what clients say, in bytes.
const maxText = 256

func clip(s string) string {
	if len(s) <= maxText {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.ToValidUTF8(s[:maxText], "") + "…"
}

// EndRequest ends the span of a request and records its duration. It implements
// [server.Observer].
func (t *Telemetry) EndRequest(ctx context.Context, r *server.RequestRecord) {
	t.recordRequest(r)
	at := requestOf(ctx)
	if at == nil || at.span == nil {
		return
	}
	if r.Code != 0 {
		at.span.set(attrCode.String(codeText(r.Code)))
	}
	if failure := failureOf(r); failure != "" {
		at.span.fail(failure, clip(r.Message))
	}
	t.end(at.span)
}

// failureOf is the value of error.type; empty: the request did not fail. Errors that
// say what is wrong with a request are no failure of the server.
func failureOf(r *server.RequestRecord) string {
	switch r.Code {
	case 0:
		if r.ToolFailed {
			return valueToolError
		}
		return ""
	case -32700, -32600, -32601, -32602, -32002:
		return ""
	}
	return codeText(r.Code)
}

// inject tells an upstream of a place, and of the baggage that withBaggage took.
func inject(ctx context.Context, place trace.SpanContext, h http.Header) {
	propagation.TraceContext{}.Inject(trace.ContextWithSpanContext(context.Background(), place), propagation.HeaderCarrier(h)) //nolint:contextcheck // the place is not that of ctx
	propagation.Baggage{}.Inject(ctx, propagation.HeaderCarrier(h))
}

// Trace returns the ids of the trace and the span of ctx, in hexadecimal digits;
// empty: there is none.
func (*Telemetry) Trace(ctx context.Context) (traceID, spanID string) {
	if s := placeOf(ctx); s.IsValid() {
		return s.TraceID().String(), s.SpanID().String()
	}
	return "", ""
}
