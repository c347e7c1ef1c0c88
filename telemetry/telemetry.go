package telemetry

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
)

// Options are the options of New. The zero value follows traces, so that they can
// be named, and sends nothing.
type Options struct {
	// Endpoint is the URL of an OTLP receiver that speaks http/protobuf, without
	// v1/traces; empty: nothing is sent.
	Endpoint string
	Headers  map[string]string // of requests to it
	Client   *http.Client      // sends them; it must not be nil with Endpoint
	Without  []Signal          // what is not sent

	Follow     bool // requests have ids also where no spans are sent
	Prometheus bool // metrics are for [Telemetry.Metrics], too

	Name, Version string            // of the service
	Resource      map[string]string // more of what describes the process

	// Sampler is one of OpenTelemetry's names, such as parentbased_traceidratio;
	// empty: parentbased_always_on. Ratio is the share that it takes, from 0 to 1.
	Sampler string
	Ratio   float64

	Content  bool // arguments and results of tools are part of spans
	Baggage  bool // baggage is sent on to upstreams
	MaxTools int  // tools with series of their own; 0: 200

	SpanDelay      time.Duration // for which spans and log records are gathered; 0: 5 seconds
	MetricInterval time.Duration // between exports of metrics; 0: one minute
	FlushTimeout   time.Duration // of Close; 0: 5 seconds

	// Known reports whether the catalog has a tool, and KnownPrompt whether it has
	// a prompt, of a name; others count as one. nil: none has.
	Known, KnownPrompt func(name string) bool

	Logger *slog.Logger // told once when telemetry cannot be delivered, and when it can again; nil: nobody
}

// Signal is a kind of telemetry.
type Signal string

// The signals.
const (
	Traces       Signal = "traces"
	Measurements Signal = "metrics"
	Logs         Signal = "logs"
	Audit        Signal = "audit" // lines of the audit log, as log records
)

// Telemetry is an observer of a server, its gateway and its outgoing requests.
type Telemetry struct {
	options Options
	log     *slog.Logger

	sampler sampler
	spans   *queue[*span] // nil: spans are not sent

	meters  *sdkmetric.MeterProvider // nil: there are no metrics
	exposed http.Handler             // nil: not for Prometheus
	series  series

	logger  log.Logger // nil: the log is not sent
	records *queue[sdklog.Record]
	auditor log.Logger // as logger, for lines of the audit log
	lines   *queue[sdklog.Record]

	fates map[Signal]*fate
}

// New starts what o asks for. It does not wait for the receiver.
func New(o Options) (*Telemetry, error) {
	o.MaxTools = cmp.Or(max(o.MaxTools, 0), 200)
	o.SpanDelay = cmp.Or(max(o.SpanDelay, 0), 5*time.Second)
	o.MetricInterval = cmp.Or(max(o.MetricInterval, 0), time.Minute)
	o.FlushTimeout = cmp.Or(max(o.FlushTimeout, 0), 5*time.Second)
	if o.Known == nil {
		o.Known = func(string) bool { return false }
	}
	if o.KnownPrompt == nil {
		o.KnownPrompt = func(string) bool { return false }
	}
	t := &Telemetry{options: o, log: o.Logger, fates: map[Signal]*fate{}}
	if t.log == nil {
		t.log = slog.New(slog.DiscardHandler)
	}
	for _, s := range []Signal{Traces, Measurements, Logs, Audit} {
		t.fates[s] = &fate{signal: string(s), log: t.log}
	}
	described, err := o.resource()
	if err != nil {
		return nil, err
	}
	if err := t.startTraces(described); err != nil {
		return nil, err
	}
	t.startLogs(described)
	return t, t.startMetrics(described)
}

// resource describes the process.
func (o *Options) resource() (*resource.Resource, error) {
	all := []attribute.KeyValue{attribute.String("service.name", cmp.Or(o.Name, "tenon"))}
	if o.Version != "" {
		all = append(all, attribute.String("service.version", o.Version))
	}
	for name, value := range o.Resource {
		all = append(all, attribute.String(name, value))
	}
	return resource.Merge(resource.NewSchemaless(
		attribute.String("telemetry.sdk.name", "opentelemetry"), attribute.String("telemetry.sdk.language", "go"),
	), resource.NewSchemaless(all...))
}

// sends reports whether a signal goes to the receiver.
func (o *Options) sends(s Signal) bool {
	return o.Endpoint != "" && !slices.Contains(o.Without, s)
}

// Close sends what waits, for at most Options.FlushTimeout, and ends. What is told
// afterwards is not sent.
//
//nolint:contextcheck,nolintlint // what is left is sent after the context of the process has ended; seen where Close is called
func (t *Telemetry) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), t.options.FlushTimeout)
	defer cancel()
	t.spans.close(ctx)
	t.lines.close(ctx)
	if t.meters != nil { // what was dropped before is part of it
		if err := t.meters.Shutdown(ctx); err != nil {
			return err
		}
	}
	t.records.close(ctx) // what the others say is part of the log
	return nil
}
