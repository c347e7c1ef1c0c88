package telemetry_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	logsv1 "go.opentelemetry.io/proto/otlp/logs/v1"
	metricsv1 "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tenon-mcp/tenon/telemetry"
)

// What is encoded here is what the published types read: numbers, kinds and times.
func TestOTLP(t *testing.T) {
	to := newReceiver(t)
	began := uint64(time.Now().UnixNano())
	w := newWorld(t, telemetry.Options{Endpoint: to.URL + "/", Client: to.Client(), Name: "books", Version: "1.2", Resource: map[string]string{"host.name": "h"}})
	w.post("tools/call", "buy", `"name":"buy"`, `"traceparent":"`+sampled+`"`, "traceparent", "00-11111111111111111111111111111111-2222222222222222-00", "tracestate", "b=2")
	var local strings.Builder
	slog.New(w.telemetry.LogHandler(slog.NewTextHandler(&local, nil))).With("d", time.Second).WithGroup("g").Warn("a warning", "n", -7, "ok", true)
	if _, err := w.telemetry.AuditWriter().Write([]byte(`{"time":"2026-11-23T06:00:00Z","trace_id":"` + traceID + `","span_id":"00f067aa0ba902b7"}` + "\n")); err != nil {
		t.Error(err)
	}
	w.end(t)
	until := uint64(time.Now().UnixNano())
	during := func(at uint64) bool { return began <= at && at <= until }

	if to.process["service.name"] != "books" || to.process["service.version"] != "1.2" || to.process["host.name"] != "h" || to.header.Get("User-Agent") != "tenon/1.2" {
		t.Error(to.process, to.header)
	}
	buy, out := to.spans["tools/call buy"], to.spans["GET"]
	if !during(buy.GetStartTimeUnixNano()) || !during(buy.GetEndTimeUnixNano()) || buy.GetStartTimeUnixNano() > buy.GetEndTimeUnixNano() || buy.GetFlags() != 0x301 || out.GetFlags() != 0x101 {
		t.Error("times and flags", buy, out)
	}
	if links := buy.GetLinks(); len(links) != 1 || links[0].GetTraceState() != "b=2" || links[0].GetFlags() != 0x300 {
		t.Error("links", links)
	}
	if out.GetStatus().GetCode() != tracev1.Status_STATUS_CODE_ERROR || !bytes.Equal(out.GetParentSpanId(), buy.GetSpanId()) {
		t.Error(out)
	}

	duration := to.metrics["mcp.server.operation.duration"]
	points := duration.GetHistogram().GetDataPoints()
	if len(points) != 1 || duration.GetUnit() != "s" || duration.GetDescription() == "" || duration.GetHistogram().GetAggregationTemporality() != metricsv1.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE {
		t.Fatal(duration)
	}
	p, sum := points[0], uint64(0)
	for _, n := range p.GetBucketCounts() {
		sum += n
	}
	if p.GetCount() != 1 || sum != 1 || p.GetSum() <= 0 || p.GetSum() > 60 || len(p.GetBucketCounts()) != len(p.GetExplicitBounds())+1 || !slices.IsSorted(p.GetExplicitBounds()) || !during(p.GetStartTimeUnixNano()) || !during(p.GetTimeUnixNano()) || textsOf(p.GetAttributes())["gen_ai.tool.name"] != "buy" {
		t.Error(p)
	}
	for name, want := range map[string]struct {
		value  int64
		rising bool
	}{"tenon.audit.lines.lost": {3, true}, "tenon.catalog.tools": {2, false}, "tenon.sessions.active": {0, false}} {
		m := to.metrics[name].GetSum()
		if len(m.GetDataPoints()) != 1 || m.GetDataPoints()[0].GetAsInt() != want.value || m.GetIsMonotonic() != want.rising || m.GetAggregationTemporality() != metricsv1.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE || !during(m.GetDataPoints()[0].GetTimeUnixNano()) {
			t.Error(name, m)
		}
	}

	if len(to.records) != 2 {
		t.Fatal(to.records)
	}
	line, warning := to.records[0], to.records[1]
	if line.GetEventName() != "tenon.audit" || line.GetTimeUnixNano() != uint64(time.Date(2026, 11, 23, 6, 0, 0, 0, time.UTC).UnixNano()) || line.GetSeverityNumber() != logsv1.SeverityNumber_SEVERITY_NUMBER_INFO || len(line.GetSpanId()) != 8 {
		t.Error(line)
	}
	if warning.GetSeverityNumber() != logsv1.SeverityNumber_SEVERITY_NUMBER_WARN || warning.GetSeverityText() != "WARN" || !during(warning.GetTimeUnixNano()) || !during(warning.GetObservedTimeUnixNano()) {
		t.Error(warning)
	}
	if d := cmp.Diff(map[string]string{"d": "double_value:1", "g.n": "int_value:-7", "g.ok": "bool_value:true"}, textsOf(warning.GetAttributes())); d != "" {
		t.Error(d)
	}
}

// answers is a receiver in memory: each request gets the next answer, the last one
// again and again.
type answers struct {
	all  []answer
	at   []time.Duration // of requests, since the first
	time time.Time
}

type answer struct {
	status int
	header http.Header
	body   []byte
	err    error
}

func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
	if a.time.IsZero() {
		a.time = time.Now()
	}
	next := a.all[min(len(a.at), len(a.all)-1)]
	a.at = append(a.at, time.Since(a.time))
	if next.err != nil {
		return nil, next.err
	}
	if next.header == nil {
		next.header = http.Header{"Content-Type": {"application/x-protobuf"}}
	}
	return &http.Response{StatusCode: next.status, Status: fmt.Sprint(next.status, " ", http.StatusText(next.status)), Header: next.header, Body: io.NopCloser(bytes.NewReader(next.body)), Request: r}, nil
}

type timeoutError struct{}

func (timeoutError) Error() string { return "late" }
func (timeoutError) Timeout() bool { return true }

// A delivery is made again only where the receiver may take it later, and not for long.
func TestDeliveries(t *testing.T) {
	partial := func(n uint64, why string) []byte {
		inner := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), n)
		inner = protowire.AppendString(protowire.AppendTag(inner, 2, protowire.BytesType), why)
		return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), inner)
	}
	for _, c := range []struct {
		name    string
		answers []answer
		least   time.Duration // until the last request
		most    time.Duration
		sent    int // 0: at least two
		lost    string
		said    string
	}{
		{"taken", []answer{{status: 200}}, 0, 0, 1, "", ""},
		{"refused", []answer{{status: 400, body: []byte("no such tenant")}, {status: 200}}, 0, 0, 1, "3", "no such tenant"},
		{"a moment away", []answer{{status: 503}, {status: 200}}, time.Second / 2, 2 * time.Second, 2, "", ""},
		{"when it says", []answer{{status: 429, header: http.Header{"Retry-After": {"7"}}}, {status: 200}}, 7 * time.Second, 7 * time.Second, 2, "", ""},
		{"later than is waited", []answer{{status: 429, header: http.Header{"Retry-After": {"3600"}}}, {status: 200}}, 0, 0, 1, "3", "429"},
		{"a date", []answer{{status: 502, header: http.Header{"Retry-After": {time.Date(2000, 1, 1, 0, 0, 20, 0, time.UTC).Format(http.TimeFormat)}}}, {status: 200}}, 9 * time.Second, 20 * time.Second, 2, "", ""},
		{"away", []answer{{status: 504}}, 10 * time.Second, 30 * time.Second, 0, "3", "504"},
		{"slow", []answer{{err: timeoutError{}}, {status: 200}}, time.Second / 2, 2 * time.Second, 2, "", ""},
		{"nobody there", []answer{{err: io.ErrUnexpectedEOF}, {status: 200}}, 0, 0, 1, "3", "unexpected EOF"},
		{"some refused", []answer{{status: 200, body: partial(2, "too old")}}, 0, 0, 1, "2", "too old"},
		{"advice", []answer{{status: 200, body: partial(0, "use gzip")}}, 0, 0, 1, "", ""},
		{"no protobuf", []answer{{status: 200, body: []byte("\xff\xff\xff")}}, 0, 0, 1, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				to := &answers{all: c.answers}
				var said strings.Builder
				w := newWorld(t, telemetry.Options{
					Endpoint: "http://receiver.test", Client: &http.Client{Transport: to}, Prometheus: true, Without: []telemetry.Signal{telemetry.Measurements, telemetry.Logs},
					SpanDelay: 10 * time.Second, FlushTimeout: time.Hour, Logger: slog.New(slog.NewTextHandler(&said, nil)),
				})
				w.post("tools/list", "", "", "")
				w.post("tools/list", "", "", "")
				w.post("tools/list", "", "", "")
				time.Sleep(time.Minute) // of the bubble: all is over
				synctest.Wait()
				if c.sent != 0 && len(to.at) != c.sent || c.sent == 0 && len(to.at) < 3 || to.at[len(to.at)-1] < c.least || to.at[len(to.at)-1] > c.most {
					t.Error("requests at", to.at)
				}
				lost := ""
				if _, rest, ok := strings.Cut(w.scrape(), `tenon_telemetry_dropped_total{tenon_signal="traces"} `); ok {
					lost, _, _ = strings.Cut(rest, "\n")
				}
				if want := c.lost; lost != want && (want != "" || lost != "0") {
					t.Errorf("%q were lost, not %q", lost, want)
				}
				if c.said == "" && said.Len() > 0 || !strings.Contains(said.String(), c.said) {
					t.Error("it is said", said.String())
				}
				w.end(t)
			})
		})
	}
}

// Lines of the audit log that a receiver refuses are not sent for ever.
func TestRefusedLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 1)
		to := &answers{all: []answer{{status: 200, body: protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), inner)}}}
		tel, err := telemetry.New(telemetry.Options{Endpoint: "http://receiver.test", Client: &http.Client{Transport: to}, Without: []telemetry.Signal{telemetry.Measurements}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tel.AuditWriter().Write([]byte("{}\n")); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute) // of the bubble
		synctest.Wait()
		if len(to.at) != 1 {
			t.Error("requests at", to.at)
		}
		if err := tel.Close(); err != nil {
			t.Error(err)
		}
	})
}
