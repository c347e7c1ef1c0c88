package telemetry_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/server"
	"github.com/tenon-mcp/tenon/telemetry"
)

// The spans of a request and of what it sends, by the letter of the conventions.
func TestSpans(t *testing.T) {
	to := newReceiver(t)
	w := newWorld(t, telemetry.Options{Endpoint: to.URL, Client: to.Client(), Headers: map[string]string{"authorization": "Bearer x"}, Content: true})
	w.post("tools/call", "buy", `"name":"buy","arguments":{"password":"hunter2","n":1}`, `"traceparent":"`+sampled+`","tracestate":"a=1"`, "traceparent", "00-11111111111111111111111111111111-2222222222222222-01")
	w.post("tools/call", "sell", `"name":"sell","arguments":{"fail":true}`, "")
	w.post("tools/call", "nothing", `"name":"nothing"`, "")
	w.end(t)
	buy := to.spans["tools/call buy"]
	if buy == nil {
		t.Fatal("there is no span", to.spans)
	}
	want := map[string]string{
		"mcp.method.name": "tools/call", "mcp.protocol.version": "2026-07-28", "jsonrpc.request.id": "a-1",
		"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "buy", "gen_ai.tool.call.arguments": `{"n":1,"password":"(secret)"}`,
		"network.transport": "tcp", "network.protocol.name": "http", "network.protocol.version": "1.1", "client.address": "192.0.2.1",
		"tenon.contract.verdict": "unchecked", "tenon.contract.policy": "enforce", "tenon.executed": "yes", "tenon.source": "shop",
	}
	got := attributesOf(buy)
	if strings.Contains(got["gen_ai.tool.call.result"], "hunter2") || !strings.Contains(got["gen_ai.tool.call.result"], "Emma") {
		t.Error("result", got["gen_ai.tool.call.result"])
	}
	delete(got, "gen_ai.tool.call.result")
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if hex.EncodeToString(buy.GetTraceId()) != traceID || hex.EncodeToString(buy.GetParentSpanId()) != "00f067aa0ba902b7" || buy.GetTraceState() != "a=1" || buy.GetKind() != tracev1.Span_SPAN_KIND_SERVER {
		t.Error("the context of the client is not that of", buy)
	}
	if len(buy.GetLinks()) != 1 || hex.EncodeToString(buy.GetLinks()[0].GetTraceId()) != strings.Repeat("1", 32) {
		t.Error("the HTTP request is not linked", buy.GetLinks())
	}
	sell := to.spans["tools/call sell"]
	if a := attributesOf(sell); a["error.type"] != "tool_error" || sell.GetStatus().GetCode() != tracev1.Status_STATUS_CODE_ERROR {
		t.Error("a tool that failed", sell)
	}
	other := to.spans["tools/call"]
	if a := attributesOf(other); a["gen_ai.tool.name"] != "nothing" || a["rpc.response.status_code"] != "-32602" || a["error.type"] != "" || other.GetStatus().GetCode() != tracev1.Status_STATUS_CODE_UNSET {
		t.Error("an unknown tool", other)
	}
	out := to.spans["GET"]
	if a := attributesOf(out); a["url.full"] != "https://books.example:8443/b/7" || a["error.type"] != "404" || out.GetKind() != tracev1.Span_SPAN_KIND_CLIENT {
		t.Error("a request to an upstream", out)
	}
	if to.header.Get("Authorization") != "Bearer x" {
		t.Error("headers", to.header)
	}
}

// Without the operator's word no argument leaves the process, and no path.
func TestNothingOfTheContent(t *testing.T) {
	to := newReceiver(t)
	w := newWorld(t, telemetry.Options{Endpoint: to.URL, Client: to.Client()})
	w.post("tools/call", "buy", `"name":"buy","arguments":{"n":"hunter2"}`, "")
	w.end(t)
	if all := fmt.Sprint(to.spans); strings.Contains(all, "hunter2") || strings.Contains(all, "/b/7") || len(to.spans) != 2 {
		t.Error(all)
	}
}

// What an upstream is told of: its place in the trace, and baggage only where that
// is wanted.
func TestContextGoesOn(t *testing.T) {
	for _, c := range []struct {
		name, meta, header, parent, baggage string
		o                                   telemetry.Options
	}{
		{"sampled", `"traceparent":"` + sampled + `","tracestate":"a=1","baggage":"user=alice"`, "", "00-" + traceID + "-*-01", "", telemetry.Options{}},
		{"not sampled", `"traceparent":"` + dropped + `"`, "", "00-" + traceID + "-*-00", "", telemetry.Options{}},
		{"baggage", `"traceparent":"` + dropped + `","baggage":"user=alice"`, "", "00-" + traceID + "-*-00", "user=alice", telemetry.Options{Baggage: true}},
		{"baggage of a sampled one", `"traceparent":"` + sampled + `","baggage":"user=alice"`, "", "00-" + traceID + "-*-01", "user=alice", telemetry.Options{Baggage: true}},
		{"broken baggage", `"baggage":"=;,"`, "", "00-*-*-01", "", telemetry.Options{Baggage: true}},
		{"the header of HTTP", "", sampled, "00-" + traceID + "-*-01", "", telemetry.Options{}},
		{"broken", `"traceparent":"00-xyz","tracestate":7`, "", "00-*-*-01", "", telemetry.Options{}},
		{"none of them", "", "", "00-*-*-00", "", telemetry.Options{Sampler: "always_off"}},
		{"whatever the client says", `"traceparent":"` + sampled + `"`, "", "00-" + traceID + "-*-00", "", telemetry.Options{Sampler: "traceidratio"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			to := newReceiver(t)
			c.o.Endpoint, c.o.Client = to.URL, to.Client()
			w := newWorld(t, c.o)
			if res := w.post("tools/call", "buy", `"name":"buy"`, c.meta, "traceparent", c.header); res.Code != http.StatusOK {
				t.Fatal(res.Body)
			}
			w.end(t)
			parent := w.sent.Get("Traceparent")
			parts, want := strings.Split(parent, "-"), strings.Split(c.parent, "-")
			if len(parts) != 4 || want[1] != "*" && parts[1] != want[1] || parts[3] != want[3] || parts[2] == "00f067aa0ba902b7" || w.sent.Get("Baggage") != c.baggage {
				t.Error(w.sent)
			}
			if w.traced != parts[1] {
				t.Error("the trace of the call is", w.traced)
			}
			if sent := len(to.spans) > 0; sent != (want[3] == "01") {
				t.Error("spans", to.spans)
			}
		})
	}
}

// The shares of a sampler are those of its name.
func TestSamplers(t *testing.T) {
	for _, c := range []struct {
		name  string
		ratio float64
		least int
		most  int
	}{{"traceidratio", 0.25, 180, 330}, {"parentbased_traceidratio", 1, 1000, 1000}, {"always_off", 1, 0, 0}, {"", 0, 1000, 1000}} {
		tel, err := telemetry.New(telemetry.Options{Endpoint: "http://127.0.0.1:1", Client: &http.Client{Transport: nobody{}}, Sampler: c.name, Ratio: c.ratio})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for range 1000 {
			r, _ := http.NewRequestWithContext(tel.BeginRequest(t.Context(), &server.RequestRecord{}), http.MethodGet, "http://x", nil)
			tel.BeginUpstream(r)
			if strings.HasSuffix(r.Header.Get("Traceparent"), "-01") {
				n++
			}
		}
		if n < c.least || n > c.most {
			t.Errorf("%s %v takes %d of 1000", c.name, c.ratio, n)
		}
		_ = tel.Close() // nobody is there
	}
	tel, err := telemetry.New(telemetry.Options{Endpoint: "http://127.0.0.1:1", Client: &http.Client{Transport: nobody{}}, Sampler: "traceidratio", Ratio: 0.25})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for range 1000 { // without a call: a description that is read
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://x", nil)
		if tel.BeginUpstream(r); r.Header.Get("Traceparent") != "" {
			n++
		}
	}
	if n < 180 || n > 330 {
		t.Errorf("%d of 1000 requests without a call", n)
	}
	_ = tel.Close()
	if _, err := telemetry.New(telemetry.Options{Sampler: "jaeger_remote"}); err == nil {
		t.Error("an unknown sampler is taken")
	}
}

// A call that goes on after its request was answered has a span of its own, below
// that of the request.
func TestACallAfterItsAnswer(t *testing.T) {
	to := newReceiver(t)
	tel, err := telemetry.New(telemetry.Options{Endpoint: to.URL, Client: to.Client()})
	if err != nil {
		t.Fatal(err)
	}
	r := &server.RequestRecord{Method: "tools/call", Known: true, Name: "buy", Began: time.Now()}
	ctx := tel.BeginRequest(t.Context(), r)
	tel.EndRequest(ctx, r)
	tel.ObserveCall(ctx, &gateway.CallRecord{Began: time.Now(), Consent: gateway.ConsentPerson, Result: &tenon.Result{}})
	if err := tel.Close(); err != nil {
		t.Fatal(err)
	}
	request, call := to.spans["tools/call"], to.spans["execute_tool _OTHER"]
	if request == nil || call == nil || !bytes.Equal(call.GetParentSpanId(), request.GetSpanId()) || !bytes.Equal(call.GetTraceId(), request.GetTraceId()) {
		t.Fatal(request, call)
	}
	if attributesOf(request)["tenon.consent"] != "" || attributesOf(call)["tenon.consent"] == "" {
		t.Error("the call is told in the span of its request, which had ended")
	}
}

// nobody is a receiver that is away.
type nobody struct{}

func (nobody) RoundTrip(*http.Request) (*http.Response, error) { return nil, http.ErrServerClosed }

// Names that clients make up are one, and tools above the bound are one.
func TestSeriesAreBounded(t *testing.T) {
	w := newWorld(t, telemetry.Options{Prometheus: true, MaxTools: 1})
	for i := range 100 {
		w.post("tools/call", fmt.Sprint("made-up-", i), fmt.Sprintf(`"name":"made-up-%d"`, i), "")
		w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"made/up-%d"}`, i))
	}
	w.post("tools/call", "buy", `"name":"buy"`, "")
	w.post("tools/call", "sell", `"name":"sell"`, "")
	got := w.scrape()
	if strings.Contains(got, "made-up") || strings.Contains(got, "made/up") || strings.Contains(got, `"sell"`) {
		t.Error("a name without a bound is a series of its own:\n", got)
	}
	for _, want := range []string{`gen_ai_tool_name="buy"`, `mcp_method_name="_OTHER"`, "tenon_catalog_tools 2", "tenon_audit_lines_lost_total 3"} {
		if !strings.Contains(got, want) {
			t.Error("no", want)
		}
	}
	if n := strings.Count(got, "mcp_server_operation_duration_seconds_count"); n != 4 {
		t.Errorf("%d series of requests", n)
	}
	w.end(t)
}

// A session has a duration when it ends, and what is no request is counted.
func TestSessions(t *testing.T) {
	w := newWorld(t, telemetry.Options{Prometheus: true})
	res := w.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`)
	r := httptest.NewRequest(http.MethodDelete, "http://127.0.0.1/mcp", nil)
	r.Header.Set("Mcp-Session-Id", res.Header().Get("Mcp-Session-Id"))
	if strings.Contains(w.scrape(), "session_duration") || !strings.Contains(w.scrape(), "tenon_sessions_active 1") {
		t.Error("the session is told before it ended")
	}
	w.ServeHTTP(httptest.NewRecorder(), r)
	w.send(`{`)
	got := w.scrape()
	for _, want := range []string{`mcp_server_session_duration_seconds_count{mcp_protocol_version="2025-11-25",network_protocol_name="http",network_transport="tcp"} 1`, "tenon_sessions_active 0", `tenon_http_refused_total{http_response_status_code="400"} 1`} {
		if !strings.Contains(got, want) {
			t.Error("no", want, "in\n", got)
		}
	}
	if err := w.ServeStdio(t.Context(), strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}`+"\n"), new(strings.Builder)); err != nil {
		t.Error(err)
	}
	for _, want := range []string{`mcp_server_session_duration_seconds_count{mcp_protocol_version="2025-06-18",network_transport="pipe"} 1`, `network_transport="pipe"`} {
		if !strings.Contains(w.scrape(), want) {
			t.Error("no", want, "in\n", w.scrape())
		}
	}
	w.end(t)
}

// The id of a session, which opens it, does not leave the process.
func TestSessionIDStays(t *testing.T) {
	to := newReceiver(t)
	w := newWorld(t, telemetry.Options{Endpoint: to.URL, Client: to.Client()})
	res := w.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`)
	id := res.Header().Get("Mcp-Session-Id")
	w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, "Mcp-Session-Id", id)
	w.end(t)
	got := attributesOf(to.spans["tools/list"])["mcp.session.id"]
	if len(got) != 16 || strings.Contains(fmt.Sprint(to.spans), id) || attributesOf(to.spans["initialize"])["mcp.session.id"] != got {
		t.Errorf("session %q in %v", got, to.spans)
	}
}

// A receiver that refuses is said once, and what was dropped is counted.
func TestReceiverAway(t *testing.T) {
	to := newReceiver(t)
	to.status, to.asked = http.StatusBadRequest, make(chan struct{}, 3) // it is not tried again
	var said strings.Builder
	w := newWorld(t, telemetry.Options{Endpoint: to.URL, Client: to.Client(), Prometheus: true, Without: []telemetry.Signal{telemetry.Measurements, telemetry.Logs}, Logger: slog.New(slog.NewTextHandler(&said, nil)), SpanDelay: time.Millisecond})
	for range 3 { // deliveries
		w.post("tools/list", "", "", "")
		<-to.asked
	}
	w.end(t)
	if n := strings.Count(said.String(), "cannot be delivered"); n != 1 {
		t.Errorf("it is said %d times:\n%s", n, said.String())
	}
}

// A queue that is full takes nothing, counts it, and keeps nobody waiting.
func TestFullQueue(t *testing.T) {
	waiting, goOn := make(chan struct{}), make(chan struct{})
	to := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		select {
		case waiting <- struct{}{}:
		default:
		}
		<-goOn
	}))
	t.Cleanup(to.Close)
	w := newWorld(t, telemetry.Options{Endpoint: to.URL, Client: to.Client(), Prometheus: true, Without: []telemetry.Signal{telemetry.Measurements, telemetry.Logs}, SpanDelay: time.Millisecond})
	w.post("tools/list", "", "", "")
	<-waiting
	for range 3000 {
		w.post("tools/list", "", "", "")
	}
	if got := w.scrape(); !strings.Contains(got, `tenon_telemetry_dropped_total{tenon_signal="traces"} 952`) {
		t.Error(got)
	}
	close(goOn)
	w.end(t)
}

// The log goes on to its handler and to the receiver, with the trace.
func TestLog(t *testing.T) {
	to := newReceiver(t)
	w := newWorld(t, telemetry.Options{Endpoint: to.URL, Client: to.Client()})
	var local strings.Builder
	log := slog.New(w.telemetry.LogHandler(slog.NewTextHandler(&local, &slog.HandlerOptions{Level: slog.LevelWarn})))
	log.With("a", 1).WithGroup("g").Warn("a warning", "took", time.Second)
	log.Info("not told")
	out := w.telemetry.AuditWriter()
	line := `{"time":"2026-11-23T06:00:00Z","trace_id":"` + traceID + `","span_id":"00f067aa0ba902b7","tool":"buy"}`
	if n, err := out.Write([]byte(line + "\n")); err != nil || n != len(line)+1 {
		t.Error(n, err)
	}
	w.end(t)
	if _, err := out.Write([]byte(line + "\n")); err == nil {
		t.Error("a line is taken that nobody sends")
	}
	if !strings.Contains(local.String(), "a warning") {
		t.Error("the handler was not told")
	}
	if d := cmp.Diff([]string{traceID + " " + line, " a warning"}, to.logs); d != "" {
		t.Error(d)
	}
	if to.metrics["tenon.calls.active"] == nil {
		t.Error("metrics", to.metrics)
	}
}

// What metrics need of a call allocates nothing.
func TestMetricsAllocateNothing(t *testing.T) {
	tel, err := telemetry.New(telemetry.Options{Prometheus: true, Known: func(string) bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	r := &server.RequestRecord{Method: "tools/call", Known: true, Name: "buy", Revision: "2026-07-28", Proto: "HTTP/1.1"}
	ctx := context.Background()
	if n := testing.AllocsPerRun(100, func() { tel.EndRequest(tel.BeginRequest(ctx, r), r) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	_ = tel.Close()
}
