package app

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/incident"
	"github.com/tenon-mcp/tenon/server"
	"github.com/tenon-mcp/tenon/telemetry"
)

// flushTime bounds how long the end of the process waits for the receiver of
// telemetry.
const flushTime = 5 * time.Second

// openTelemetry starts what the config or the environment asks for; without, there
// is none.
func (a *App) openTelemetry() error {
	c := a.config
	o := telemetry.Options{
		Name: c.Name, Version: Version(), Follow: c.Audit != "", Prometheus: c.Metrics != "", Content: c.TelemetryContent == "on",
		Baggage: c.ForwardBaggage, MaxTools: c.MetricsMaxTools, Endpoint: c.OTLP, FlushTimeout: min(flushTime, cmp.Or(c.Drain, flushTime)), Logger: a.env.Logger,
		Known:       func(name string) bool { return a.Gateway.Catalog().Find(name) != nil },
		KnownPrompt: a.hasPrompt,
	}
	if err := c.checkTelemetry(); err != nil {
		return err
	}
	if c.TraceSample != 1 {
		o.Sampler, o.Ratio = "parentbased_traceidratio", c.TraceSample
	}
	if c.OTLPHeaders != "" {
		text, err := secretAt(a.env, c.OTLPHeaders)
		if err != nil {
			return invalid("otlp-headers", ": %v", err)
		}
		if o.Headers, err = telemetry.ParsePairs(string(text)); err != nil {
			return invalid("otlp-headers", ": %v", err)
		}
	}
	if err := o.Environment(a.env.Getenv); err != nil {
		return invalid("otlp", ": %v", err)
	}
	if c.Audit == auditOTLP && o.Endpoint == "" {
		return invalid("audit", " %s: --otlp URL says where its lines are sent", auditOTLP)
	}
	if o.Endpoint == "" && !o.Prometheus && !o.Follow || a.env.DryRun || a.env.OnDemand {
		return nil
	}
	var err error
	if o.Client, err = receiverClient(o.Endpoint, a.env); err != nil {
		return err
	}
	if a.telemetry, err = telemetry.New(o); err != nil {
		return invalid("otlp", ": %v", err)
	}
	a.env.Logger = slog.New(a.telemetry.LogHandler(a.env.Logger.Handler()))
	a.env.observer = upstreamObserver{a.telemetry}
	return nil
}

// checkTelemetry refuses settings that say nothing without another.
func (c *Config) checkTelemetry() error {
	switch {
	case c.TelemetryContent != "on" && c.TelemetryContent != "off" && c.TelemetryContent != "":
		return invalid("telemetry-content", " is on or off, not %q", c.TelemetryContent)
	case c.Metrics == "" && c.MetricsPublic:
		return invalid("metrics-public", " is for --metrics ADDR")
	case c.Metrics != "" && !OnLoopback(c.Metrics) && !c.MetricsPublic:
		return invalid("metrics", " %s can be reached by other machines, which would see the names of tools and upstreams; --metrics-public allows it", c.Metrics)
	case c.TraceSample > 1:
		return invalid("trace-sample", " is a share of at most 1, not %v", c.TraceSample)
	}
	return nil
}

// receiverClient is the client for the receiver of telemetry, which the operator
// names and which may be private.
func receiverClient(endpoint string, e Env) (*http.Client, error) {
	if endpoint == "" {
		return nil, nil //nolint:nilnil // nothing is sent
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return nil, invalid("otlp", ": %v", err)
	}
	file, _ := e.Getenv("OTEL_EXPORTER_OTLP_CERTIFICATE")
	roots, err := authorities(file)
	if err != nil {
		return nil, invalid("otlp", ": OTEL_EXPORTER_OTLP_CERTIFICATE: %v", err)
	}
	client, err := egress.NewClient(egress.Options{AllowHosts: []string{u.Hostname()}, MaxRedirects: -1, Roots: roots})
	if err != nil {
		return nil, invalid("otlp", ": %v", err)
	}
	return client, nil
}

// hasPrompt reports whether the catalog has a prompt.
func (a *App) hasPrompt(name string) bool {
	for _, p := range a.Gateway.Catalog().Prompts() {
		if p.Name == name {
			return true
		}
	}
	return false
}

// watchTelemetry tells telemetry what the process holds, and serves metrics.
func (a *App) watchTelemetry() error {
	if a.telemetry == nil {
		return nil
	}
	s := telemetry.Source{Usage: a.Server.Usage, Tools: func() int { return Described(a.Gateway.Catalog()) }, Workers: a.handlerWorkers}
	if a.config.Audit != "" {
		s.AuditLost = a.audit.lost
	}
	if err := a.telemetry.Watch(s); err != nil {
		return err
	}
	if a.config.Metrics == "" {
		return nil
	}
	return a.serveMetrics()
}

// handlerWorkers counts the processes that run handlers of schema files.
func (a *App) handlerWorkers() (n int) {
	for _, s := range a.Sources() {
		if source, ok := s.Source.(interface{ WorkerCount() int }); ok {
			n += source.WorkerCount()
		}
	}
	return n
}

// serveMetrics serves /metrics on an address of its own until Close.
func (a *App) serveMetrics() error {
	l, err := Listen(context.Background(), a.config.Metrics)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", a.telemetry.Metrics())
	web := &http.Server{Handler: ownHosts(l, mux), ReadHeaderTimeout: HeaderTimeout, ReadTimeout: HeaderTimeout, WriteTimeout: time.Minute, IdleTimeout: IdleTimeout, MaxHeaderBytes: maxHeader}
	incident.Go(a.env.Logger, "serving metrics", func() { _ = web.Serve(l) }, nil)
	a.open = append(a.open, web)
	a.metricsURL = "http://" + CallableAddr(l) + "/metrics"
	return nil
}

// ownHosts refuses, on loopback, requests for other hosts: a web page can have a name
// of its own point at this machine.
func ownHosts(l net.Listener, h http.Handler) http.Handler {
	if !OnLoopback(l.Addr().String()) {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(host, "80")
		}
		if !OnLoopback(host) {
			http.Error(w, "this address is for this machine alone", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// MetricsURL is where metrics are served; empty: nowhere.
func (a *App) MetricsURL() string { return a.metricsURL }

// observers are who is told of calls.
func (a *App) observers() (all []gateway.Observer) {
	if a.telemetry != nil {
		all = append(all, a.telemetry)
	}
	if a.evidence != nil {
		all = append(all, evidenceObserver{a.evidence})
	}
	return append(all, &a.audit)
}

// serverObserver is who is told of requests; nil: nobody.
func (a *App) serverObserver() server.Observer {
	if a.telemetry == nil {
		return nil
	}
	return a.telemetry
}

// refused tells of what was refused before it was a call.
func (a *App) refused(r server.RefusalRecord) {
	if a.telemetry != nil && r.Method == "" { // others are requests
		a.telemetry.Refused(r)
	}
	a.audit.refused(r)
}

// upstreamObserver tells telemetry of requests to upstreams.
type upstreamObserver struct{ *telemetry.Telemetry }

// BeginRequest implements [egress.Observer].
func (o upstreamObserver) BeginRequest(r *http.Request) context.Context { return o.BeginUpstream(r) }

// EndRequest implements [egress.Observer].
func (o upstreamObserver) EndRequest(ctx context.Context, r egress.RequestRecord) {
	o.EndUpstream(ctx, telemetry.Upstream{Method: r.Method, URL: r.URL, Resends: r.Resends, Began: r.Began, Duration: r.Duration, Status: r.Status, Failure: r.Failure})
}
