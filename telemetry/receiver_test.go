package telemetry_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	logsv1 "go.opentelemetry.io/proto/otlp/logs/v1"
	metricsv1 "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/server"
	"github.com/tenon-mcp/tenon/telemetry"
)

// receiver takes OTLP as a collector does, by the published types.
type receiver struct {
	*httptest.Server
	t       *testing.T
	mu      sync.Mutex
	process map[string]string // attributes of the resource
	spans   map[string]*tracev1.Span
	metrics map[string]*metricsv1.Metric
	logs    []string
	records []*logsv1.LogRecord
	header  http.Header
	status  int           // 0: 200
	asked   chan struct{} // nil: nobody waits
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{t: t, spans: map[string]*tracev1.Span{}, metrics: map[string]*metricsv1.Metric{}}
	r.Server = httptest.NewServer(http.HandlerFunc(r.take))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) take(w http.ResponseWriter, in *http.Request) {
	body, _ := io.ReadAll(in.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.header = in.Header
	if r.status != 0 {
		w.WriteHeader(r.status)
		r.asked <- struct{}{}
		return
	}
	switch in.URL.Path {
	case "/v1/traces":
		var m tracev1.TracesData // fields of the request are those of the data
		r.read(body, &m)
		for _, of := range m.GetResourceSpans() {
			r.process = textsOf(of.GetResource().GetAttributes())
			for _, scope := range of.GetScopeSpans() {
				for _, s := range scope.GetSpans() {
					r.spans[s.GetName()] = s
				}
			}
		}
	case "/v1/metrics":
		var m metricsv1.MetricsData
		r.read(body, &m)
		for _, of := range m.GetResourceMetrics() {
			for _, scope := range of.GetScopeMetrics() {
				for _, one := range scope.GetMetrics() {
					r.metrics[one.GetName()] = one
				}
			}
		}
	case "/v1/logs":
		var m logsv1.LogsData
		r.read(body, &m)
		for _, of := range m.GetResourceLogs() {
			for _, scope := range of.GetScopeLogs() {
				for _, l := range scope.GetLogRecords() {
					r.records = append(r.records, l)
					r.logs = append(r.logs, hex.EncodeToString(l.GetTraceId())+" "+l.GetBody().GetStringValue())
				}
			}
		}
	}
}

func text(v *commonv1.AnyValue) string {
	if s, ok := v.GetValue().(*commonv1.AnyValue_StringValue); ok {
		return s.StringValue
	}
	return v.String()
}

func attributesOf(s *tracev1.Span) map[string]string { return textsOf(s.GetAttributes()) }

func textsOf(attributes []*commonv1.KeyValue) map[string]string {
	all := map[string]string{}
	for _, kv := range attributes {
		all[kv.GetKey()] = text(kv.GetValue())
	}
	return all
}

// read reads a message, of which no field may be unknown.
func (r *receiver) read(body []byte, m proto.Message) {
	if err := proto.Unmarshal(body, m); err != nil {
		r.t.Errorf("%T: %v", m, err)
	}
	var all func(m protoreflect.Message)
	all = func(m protoreflect.Message) {
		if unknown := m.GetUnknown(); len(unknown) > 0 {
			r.t.Errorf("%s has unknown fields: %x", m.Descriptor().FullName(), unknown)
		}
		m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
			switch {
			case f.IsList() && f.Message() != nil:
				for i := range v.List().Len() {
					all(v.List().Get(i).Message())
				}
			case f.Message() != nil:
				all(v.Message())
			}
			return true
		})
	}
	all(m.ProtoReflect())
}

const (
	traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	sampled = "00-" + traceID + "-00f067aa0ba902b7-01"
	dropped = "00-" + traceID + "-00f067aa0ba902b7-00"
)

// world is a server with a tool that calls an upstream.
type world struct {
	*server.Server
	telemetry *telemetry.Telemetry
	catalog   *gateway.Catalog
	sent      http.Header // the last request to the upstream
	traced    string      // trace id of the last call
}

func newWorld(t *testing.T, o telemetry.Options) *world {
	t.Helper()
	w := &world{}
	handler := func(ctx context.Context, c *tenon.Call) (tenon.Response, error) {
		r, _ := http.NewRequestWithContext(ctx, http.MethodGet, "https://books.example:8443/b/7?key=hunter2", nil)
		end := w.telemetry.BeginUpstream(r)
		w.telemetry.EndUpstream(end, telemetry.Upstream{Method: r.Method, URL: r.URL, Status: 404, Resends: 1}) //nolint:contextcheck // it is that of r
		w.sent = r.Header
		w.traced, _ = w.telemetry.Trace(ctx)
		if bytes.Contains(c.Args, []byte("fail")) {
			return tenon.Response{}, tenon.Errorf(tenon.CodeNetwork, "no luck")
		}
		return tenon.Response{Status: 200, MediaType: "application/json", Body: []byte(`{"token":"hunter2","title":"Emma"}`)}, nil
	}
	tools := []tenon.Tool{{Name: "buy", Handler: handler}, {Name: "sell", Handler: handler}}
	c := gateway.Build([]gateway.Mount{{Name: "shop", Features: tenon.Features{Tools: tools}}}, gateway.BuildOptions{})
	o.Known = func(name string) bool { return c.Find(name) != nil }
	var err error
	if w.telemetry, err = telemetry.New(o); err != nil {
		t.Fatal(err)
	}
	w.catalog = c
	g := gateway.New(c, gateway.Options{Observers: []gateway.Observer{w.telemetry}})
	w.Server = server.New(g, server.Options{Observer: w.telemetry, Refused: w.telemetry.Refused})
	if err := w.telemetry.Watch(telemetry.Source{Usage: w.Usage, Tools: func() int { return 2 }, Workers: func() int { return 0 }, AuditLost: func() int64 { return 3 }}); err != nil {
		t.Fatal(err)
	}
	return w
}

// post sends a message, of 2026-07-28 unless it is a whole one.
func (w *world) post(method, name, params, meta string, headers ...string) *httptest.ResponseRecorder {
	if meta != "" {
		meta = "," + meta
	}
	if params != "" {
		params += ","
	}
	body := `{"jsonrpc":"2.0","id":"a-1","method":"` + method + `","params":{` + params + `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}` + meta + `}}}`
	return w.send(body, append([]string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method, "Mcp-Name", name}, headers...)...)
}

func (w *world) send(body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] != "" {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	res := httptest.NewRecorder()
	w.ServeHTTP(res, r)
	return res
}

func (w *world) scrape() string {
	res := httptest.NewRecorder()
	w.telemetry.Metrics().ServeHTTP(res, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return res.Body.String()
}

func (w *world) end(t *testing.T) {
	t.Helper()
	if err := w.telemetry.Close(); err != nil {
		t.Error(err)
	}
}
