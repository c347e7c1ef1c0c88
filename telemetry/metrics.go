package telemetry

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/server"
)

// Bounds of the series of one instrument. Above them all others are one series, with
// the attribute otel.metric.overflow.
const (
	maxSeries  = 5000
	maxServers = 200 // upstreams with series of their own
)

// startMetrics makes the instruments, for OTLP, for Prometheus or for both.
func (t *Telemetry) startMetrics(described *resource.Resource) error {
	t.series.init(t.options.MaxTools)
	all := []sdkmetric.Option{sdkmetric.WithResource(described), sdkmetric.WithCardinalityLimit(maxSeries), sdkmetric.WithExemplarFilter(exemplar.AlwaysOffFilter)}
	if t.options.sends(Measurements) {
		all = append(all, sdkmetric.WithReader(sdkmetric.NewPeriodicReader(metricExporter{t, described}, sdkmetric.WithInterval(t.options.MetricInterval), sdkmetric.WithProducer(&t.series))))
	}
	if t.options.Prometheus {
		registry := prometheus.NewRegistry()
		reader, err := otelprometheus.New(otelprometheus.WithRegisterer(registry), otelprometheus.WithoutScopeInfo(), otelprometheus.WithProducer(&t.series))
		if err != nil {
			return fmt.Errorf("metrics: %w", err)
		}
		all = append(all, sdkmetric.WithReader(reader))
		t.exposed = promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	}
	if len(all) == 3 { // nobody reads them
		return nil
	}
	t.meters = sdkmetric.NewMeterProvider(all...)
	return t.series.make(t.meters.Meter(scopeName))
}

// metricExporter sends what a reader of the SDK collects.
type metricExporter struct {
	*Telemetry
	described *resource.Resource
}

// Export implements [sdkmetric.Exporter]. Failures are counted and said once; the SDK
// would write each to the process's standard error.
func (e metricExporter) Export(ctx context.Context, m *metricdata.ResourceMetrics) error {
	body, err := encodeMetrics(e.described, m.ScopeMetrics)
	if err == nil {
		err = e.options.deliver(ctx, "v1/metrics", body)
	}
	e.fates[Measurements].told(err, 1, false)
	return nil
}

// Temporality implements [sdkmetric.Exporter].
func (metricExporter) Temporality(k sdkmetric.InstrumentKind) metricdata.Temporality {
	return sdkmetric.DefaultTemporalitySelector(k)
}

// Aggregation implements [sdkmetric.Exporter].
func (metricExporter) Aggregation(k sdkmetric.InstrumentKind) sdkmetric.Aggregation {
	return sdkmetric.DefaultAggregationSelector(k)
}

// ForceFlush implements [sdkmetric.Exporter].
func (metricExporter) ForceFlush(context.Context) error { return nil }

// Shutdown implements [sdkmetric.Exporter].
func (metricExporter) Shutdown(context.Context) error { return nil }

// Metrics serves the metrics in the format of Prometheus; nil: Options.Prometheus is
// not set.
func (t *Telemetry) Metrics() http.Handler { return t.exposed }

// Source tells what the process holds at a moment, for metrics that are read then.
type Source struct {
	Usage     func() server.Usage
	Tools     func() int   // of the catalog in force
	AuditLost func() int64 // lines of the audit log; nil: there is none
	Workers   func() int   // processes that run handlers
}

// Watch reads s for every export. It is called once.
func (t *Telemetry) Watch(s Source) error {
	if t.meters == nil {
		return nil
	}
	in, out := metric.WithAttributes(attrFlow.String("in")), metric.WithAttributes(attrFlow.String("out"))
	i := &t.series
	_, err := i.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		u := s.Usage()
		o.ObserveInt64(i.held[metricCalls], u.Calls)
		o.ObserveInt64(i.held[metricBytes], u.IncomingBytes, in)
		o.ObserveInt64(i.held[metricBytes], u.OutgoingBytes, out)
		o.ObserveInt64(i.held[metricSessions], u.Sessions)
		o.ObserveInt64(i.held[metricTasks], u.Tasks)
		o.ObserveInt64(i.held[metricStreams], u.Streams)
		o.ObserveInt64(i.held[metricTools], int64(s.Tools()))
		o.ObserveInt64(i.held[metricWorkers], int64(s.Workers()))
		if s.AuditLost != nil {
			o.ObserveInt64(i.lost[metricAuditLost], s.AuditLost())
		}
		for signal, f := range t.fates {
			o.ObserveInt64(i.lost[metricDropped], f.lost.Load(), metric.WithAttributes(attrSignal.String(string(signal))))
		}
		for name, open := range i.breakers.all() {
			o.ObserveInt64(i.held[metricBreaker], open, metric.WithAttributes(attrServer.String(name)))
		}
		return nil
	}, i.observables...)
	return err
}

// recordRequest records the duration of a request.
func (t *Telemetry) recordRequest(r *server.RequestRecord) {
	if t.meters == nil {
		return
	}
	k := requestKey{method: methodName(r), revision: r.Revision, proto: r.Proto, code: r.Code, failed: r.ToolFailed}
	switch {
	case k.method == methodCall && t.options.Known(r.Name), k.method == methodPrompt && t.options.KnownPrompt(r.Name):
		k.name = r.Name
	case k.method == methodCall, k.method == methodPrompt: // whatever clients make up
		k.name = valueOther
	}
	t.series.requests.record(k, r.Duration)
}

// EndSession records the duration of a session. It implements [server.Observer].
func (t *Telemetry) EndSession(r server.SessionRecord) {
	if t.meters != nil {
		t.series.sessions.record(sessionKey{r.Revision, r.Stdio}, r.Duration)
	}
}

// Refused counts what HTTP clients send that never becomes a request, for
// [server.Options].
func (t *Telemetry) Refused(r server.RefusalRecord) {
	if t.meters != nil {
		t.series.refused.Add(context.Background(), 1, metric.WithAttributes(attrHTTPStatus.Int(r.Status)))
	}
}

// countViolation counts responses that are not what their contract says.
func (t *Telemetry) countViolation(ctx context.Context, r *gateway.CallRecord) {
	if t.meters == nil || r.Tool == nil || r.Result == nil {
		return
	}
	switch r.Result.Outcome.Verdict {
	case tenon.Violated, tenon.Repaired, tenon.Undeclared:
	default:
		return
	}
	tool := r.Tool.Name()
	if !t.series.tools.admits(tool) {
		tool = valueOther
	}
	t.series.violations.Add(ctx, 1, metric.WithAttributes(attrTool.String(tool), attrVerdict.String(string(r.Result.Outcome.Verdict)), attrPolicy.String(policyOf(r))))
}

// recordUpstream records the duration of a request to an upstream.
func (t *Telemetry) recordUpstream(u *Upstream) {
	if t.meters != nil {
		t.series.upstreams.record(upstreamKey{
			method: methodOf(u.Method), scheme: u.URL.Scheme, host: u.URL.Host, name: u.URL.Hostname(), port: portOf(u.URL), status: u.Status, failure: u.failure(),
		}, u.Duration)
	}
}

// Reloaded counts a description that was read again, and whether it is served now.
func (t *Telemetry) Reloaded(served bool) {
	if t.meters != nil {
		outcome := "failed"
		if served {
			outcome = "ok"
		}
		t.series.reloads.Add(context.Background(), 1, metric.WithAttributes(attrOutcome.String(outcome)))
	}
}

// CacheLookup counts a request that the response cache could answer.
func (t *Telemetry) CacheLookup(hit bool) {
	if t.meters != nil {
		outcome := "miss"
		if hit {
			outcome = "hit"
		}
		t.series.cache.Add(context.Background(), 1, metric.WithAttributes(attrOutcome.String(outcome)))
	}
}

// BreakerChanged notes the state of the circuit breaker of an origin: closed,
// half-open or open.
func (t *Telemetry) BreakerChanged(origin, state string) {
	if t.meters != nil {
		t.series.breakers.set(origin, state == "open")
	}
}

func codeText(code int) string { return strconv.Itoa(code) }
