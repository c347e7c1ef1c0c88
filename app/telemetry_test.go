package app

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func watchedConfig(t *testing.T, change func(*Config)) *Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "api.json")
	if err := os.WriteFile(file, []byte(`{"openapi":"3.1.0","info":{"title":"Books","version":"1"},"servers":[{"url":"https://books.example"}],"paths":{"/book":{"get":{"operationId":"getBook","responses":{"200":{"description":"a book"}}}}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c := NewConfig()
	c.AddSpec(file)
	change(c)
	return c
}

// What is said of telemetry and cannot be is refused, and no secret is repeated.
func TestTelemetrySettingsThatAreWrong(t *testing.T) {
	for _, c := range []struct {
		name, want string
		change     func(*Config)
		env        map[string]string
	}{
		{"beyond loopback", "--metrics-public allows it", func(c *Config) { c.Metrics = "0.0.0.0:0" }, nil},
		{"public without an address", "is for --metrics ADDR", func(c *Config) { c.MetricsPublic = true }, nil},
		{"a share", "at most 1", func(c *Config) { c.TraceSample = 2 }, nil},
		{"contents", "is on or off", func(c *Config) { c.TelemetryContent = "some" }, nil},
		{"no URL", "http or https URL", func(c *Config) { c.OTLP = "collector:4318" }, nil},
		{"a secret in the setting", "the secret itself does not belong there", func(c *Config) { c.OTLPHeaders = "authorization=hunter2" }, nil},
		{"broken headers", "not NAME=VALUE", func(c *Config) { c.OTLPHeaders = "env:H" }, map[string]string{"H": "hunter2"}},
		{"broken variable", "OTEL_EXPORTER_OTLP_HEADERS", func(*Config) {}, map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "hunter2"}},
		{"gRPC", "only http/protobuf", func(*Config) {}, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}},
		{"another exporter", "only otlp and none", func(*Config) {}, map[string]string{"OTEL_TRACES_EXPORTER": "zipkin"}},
		{"a sampler", "is none of always_on", func(c *Config) { c.Metrics = "127.0.0.1:0" }, map[string]string{"OTEL_TRACES_SAMPLER": "jaeger_remote"}},
		{"audit without a receiver", "--otlp URL says where", func(c *Config) { c.Audit = "otlp" }, nil},
		{"audit without logs", "leaves logs out", func(c *Config) { c.Audit, c.OTLP = "otlp", "http://127.0.0.1:1" }, map[string]string{"OTEL_LOGS_EXPORTER": "none"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := New(t.Context(), watchedConfig(t, c.change), Env{Getenv: func(name string) (string, bool) { v, ok := c.env[name]; return v, ok }})
			if err == nil {
				a.Close()
			}
			if err == nil || !strings.Contains(err.Error()+asFlags(err), c.want) || strings.Contains(err.Error(), "hunter2") {
				t.Error(err)
			}
		})
	}
}

// Metrics are served on an address of their own, and not to web pages that lend it
// their name; a line of the audit log has the trace of its call.
func TestMetricsAndTraceOfTheAudit(t *testing.T) {
	audit := filepath.Join(t.TempDir(), "audit.jsonl")
	a, err := New(t.Context(), watchedConfig(t, func(c *Config) { c.Metrics, c.Audit = "127.0.0.1:0", audit }), Env{})
	if err != nil {
		t.Fatal(err)
	}
	closed := false
	t.Cleanup(func() {
		if !closed {
			a.Close()
		}
	})
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	for _, meta := range []string{`"traceparent":"00-` + trace + `-00f067aa0ba902b7-01"`, `"traceparent":"nonsense"`} {
		r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/jsonrpc", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"no_such","_meta":{`+meta+`}}}`))
		r.Header.Set("Content-Type", "application/json")
		a.Handler().ServeHTTP(httptest.NewRecorder(), r)
	}
	fetch := func(host string) (int, string) {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, a.MetricsURL(), http.NoBody)
		if host != "" {
			r.Host = host
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		return res.StatusCode, string(text)
	}
	if status, text := fetch(""); status != http.StatusOK || !strings.Contains(text, `gen_ai_tool_name="_OTHER"`) || !strings.Contains(text, "tenon_catalog_tools 1") {
		t.Error(status, text)
	}
	if status, _ := fetch("evil.example:9464"); status != http.StatusForbidden {
		t.Error("a page with a name of its own reads metrics:", status)
	}
	closed = true
	a.Close()
	if res, err := http.Get(a.MetricsURL()); err == nil {
		_ = res.Body.Close()
		t.Error("metrics are served after the end")
	}
	text, err := os.ReadFile(audit)
	if err != nil {
		t.Fatal(err)
	}
	var traces []string
	for line := range bytes.Lines(text) {
		var l struct {
			Trace string `json:"trace_id"`
			Span  string `json:"span_id"`
		}
		if err := json.Unmarshal(line, &l); err != nil || len(l.Trace) != 32 || len(l.Span) != 16 {
			t.Errorf("%s: %v", line, err)
		}
		traces = append(traces, l.Trace)
	}
	if len(traces) != 2 || traces[0] != trace || traces[1] == trace {
		t.Error(traces)
	}
}

// What checks a config starts nothing.
func TestCheckedTelemetryIsNotStarted(t *testing.T) {
	a, err := New(t.Context(), watchedConfig(t, func(c *Config) { c.Metrics, c.OTLP, c.Audit = "127.0.0.1:0", "http://127.0.0.1:1", "otlp" }), Env{DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if a.MetricsURL() != "" || a.telemetry != nil {
		t.Error("it is started")
	}
}
