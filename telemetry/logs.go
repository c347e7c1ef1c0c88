package telemetry

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/trace"
)

// startLogs makes the loggers of the process and of the audit log.
func (t *Telemetry) startLogs(described *resource.Resource) {
	if !t.options.sends(Logs) {
		return
	}
	export := func(ctx context.Context, all []sdklog.Record) error {
		return t.options.deliver(ctx, "v1/logs", encodeRecords(described, all))
	}
	t.records = newQueue(t.log, t.options.SpanDelay, t.fates[Logs], export)
	t.lines = newQueue(t.log, t.options.SpanDelay, t.fates[Audit], export)
	t.lines.keep = true
	logger := func(q *queue[sdklog.Record]) log.Logger {
		return sdklog.NewLoggerProvider(sdklog.WithResource(described), sdklog.WithProcessor(recordProcessor{q})).Logger(scopeName)
	}
	t.logger, t.auditor = logger(t.records), logger(t.lines)
}

// recordProcessor hands records to a queue.
type recordProcessor struct{ to *queue[sdklog.Record] }

// OnEmit implements [sdklog.Processor].
func (p recordProcessor) OnEmit(ctx context.Context, r *sdklog.Record) error {
	taken := p.to.add(r.Clone())
	if asked, ok := ctx.Value(takenKey{}).(*bool); ok {
		*asked = taken
	}
	return nil
}

// takenKey is where the audit log asks whether its line was taken.
type takenKey struct{}

// Enabled implements [sdklog.Processor].
func (recordProcessor) Enabled(context.Context, sdklog.EnabledParameters) bool { return true }

// Shutdown implements [sdklog.Processor].
func (recordProcessor) Shutdown(context.Context) error { return nil }

// ForceFlush implements [sdklog.Processor].
func (recordProcessor) ForceFlush(context.Context) error { return nil }

// LogHandler returns a handler that hands records to h, and sends those that h takes
// as well. Without a receiver it is h.
func (t *Telemetry) LogHandler(h slog.Handler) slog.Handler {
	if t.logger == nil {
		return h
	}
	return &logHandler{Handler: h, to: t.logger}
}

// logHandler sends what its handler takes.
type logHandler struct {
	slog.Handler
	to     log.Logger
	with   []attribute.KeyValue
	prefix string // of groups, with a dot
}

// Handle implements [slog.Handler].
func (h *logHandler) Handle(ctx context.Context, r slog.Record) error {
	var out log.Record
	out.SetTimestamp(r.Time)
	out.SetBody(attribute.StringValue(r.Message))
	out.SetSeverity(log.Severity(int(r.Level) + 9)) // slog's debug, info, warn and error are 4 apart as well
	out.SetSeverityText(r.Level.String())
	out.AddAttributes(h.with...)
	r.Attrs(func(a slog.Attr) bool {
		out.AddAttributes(attrOf(h.prefix, a))
		return true
	})
	h.to.Emit(ctx, out)
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	next := &logHandler{Handler: h.Handler.WithAttrs(attrs), to: h.to, with: append([]attribute.KeyValue{}, h.with...), prefix: h.prefix}
	for _, a := range attrs {
		next.with = append(next.with, attrOf(h.prefix, a))
	}
	return next
}

// WithGroup implements [slog.Handler].
func (h *logHandler) WithGroup(name string) slog.Handler {
	return &logHandler{Handler: h.Handler.WithGroup(name), to: h.to, with: h.with, prefix: h.prefix + name + "."}
}

// attrOf is an attribute of the log, numbers and truths as such and all else as text.
func attrOf(prefix string, a slog.Attr) attribute.KeyValue {
	key, v := prefix+a.Key, a.Value.Resolve()
	switch v.Kind() {
	case slog.KindInt64:
		return attribute.Int64(key, v.Int64())
	case slog.KindFloat64:
		return attribute.Float64(key, v.Float64())
	case slog.KindBool:
		return attribute.Bool(key, v.Bool())
	case slog.KindDuration:
		return attribute.Float64(key, v.Duration().Seconds())
	default:
		return attribute.String(key, v.String())
	}
}

// AuditWriter returns a writer of lines of the audit log, each a JSON object and a
// newline; nil: logs are not sent. A line that it takes is sent until the receiver
// has it or the process ends; one that does not fit is an error.
func (t *Telemetry) AuditWriter() io.Writer {
	if t.auditor == nil {
		return nil
	}
	return auditWriter{t}
}

type auditWriter struct{ t *Telemetry }

var errFull = errors.New("too many lines wait for the receiver of telemetry")

// Write implements [io.Writer] for one line.
func (w auditWriter) Write(line []byte) (int, error) {
	var in struct {
		Time  time.Time `json:"time"`
		Trace string    `json:"trace_id"`
		Span  string    `json:"span_id"`
	}
	if err := json.Unmarshal(line, &in); err != nil {
		return 0, err
	}
	var out log.Record
	out.SetTimestamp(in.Time)
	out.SetEventName(eventAudit)
	out.SetSeverity(log.SeverityInfo)
	out.SetBody(attribute.StringValue(string(line[:len(line)-1])))
	taken := false
	ctx := context.WithValue(context.Background(), takenKey{}, &taken)
	if traceID, spanID, ok := idsOf(in.Trace, in.Span); ok {
		ctx = withSpan(ctx, traceID, spanID)
	}
	w.t.auditor.Emit(ctx, out)
	if !taken {
		return 0, errFull
	}
	return len(line), nil
}

func idsOf(traceText, spanText string) (t trace.TraceID, s trace.SpanID, ok bool) {
	a, errA := hex.DecodeString(traceText)
	b, errB := hex.DecodeString(spanText)
	if errA != nil || errB != nil || len(a) != len(t) || len(b) != len(s) {
		return t, s, false
	}
	return trace.TraceID(a), trace.SpanID(b), true
}

func withSpan(ctx context.Context, t trace.TraceID, s trace.SpanID) context.Context {
	return trace.ContextWithSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{TraceID: t, SpanID: s}))
}
