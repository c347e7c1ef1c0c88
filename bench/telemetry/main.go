// Command telemetry measures what a call over HTTP costs more with metrics and with
// traces than without, in one process. It writes a report.
//
//	telemetry OUT
//
// The request reaches the server's handler without a network, and the tool is a
// function that returns at once: what remains is the work of the server. What counts
// is processor time, the collector's included, for others may load the machine; the
// turns are interleaved, and of the differences in each round the middle counts.
// What is sent goes to a receiver in this process, whose work counts for traces,
// because it is on the same processors; spans are sent within the turn that made them.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/server"
	"github.com/tenon-mcp/tenon/telemetry"
)

const (
	turns = 20
	aTurn = 50_000 // calls
)

// report is what OUT holds: nanoseconds and allocations of a call.
type report struct {
	OffNS         float64 `json:"offNS"`
	OffAgainNS    float64 `json:"offAgainMoreNS"` // than itself: what the machine adds
	MetricsNS     float64 `json:"metricsMoreNS"`
	MetricsAllocs float64 `json:"metricsMoreAllocs"`
	TracesNS      float64 `json:"tracesMoreNS"` // than metrics, at 1 %
	TracesAllocs  float64 `json:"tracesMoreAllocs"`
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: telemetry OUT")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "telemetry:", err)
		os.Exit(1)
	}
}

// kind is a way to serve.
type kind struct {
	handler http.Handler
	close   func() error
	ns      []float64
	allocs  []float64
}

func run(out string) error {
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	defer receiver.Close()
	sent := telemetry.Options{Endpoint: receiver.URL, Client: receiver.Client(), Prometheus: true, Sampler: "parentbased_traceidratio", Ratio: 0.01, SpanDelay: 50 * time.Millisecond}
	metrics := sent
	metrics.Without = []telemetry.Signal{telemetry.Traces}
	var all []*kind
	for _, o := range []*telemetry.Options{nil, nil, &metrics, &sent} {
		k, err := newKind(o)
		if err != nil {
			return err
		}
		defer k.close() //nolint:errcheck // what is not sent is no matter here
		all = append(all, k)
		k.turn() // warm
		k.ns, k.allocs = nil, nil
	}
	for i := range turns {
		for j := range all {
			all[(i+j)%len(all)].turn()
		}
	}
	off, again, with, traced := all[0], all[1], all[2], all[3]
	r := report{
		OffNS: middle(off.ns), OffAgainNS: middle(less(again.ns, off.ns)),
		MetricsNS: middle(less(with.ns, off.ns)), MetricsAllocs: middle(less(with.allocs, off.allocs)),
		TracesNS: middle(less(traced.ns, with.ns)), TracesAllocs: middle(less(traced.allocs, with.allocs)),
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	fmt.Println(string(text))
	return os.WriteFile(out, append(text, '\n'), 0o600)
}

func newKind(o *telemetry.Options) (*kind, error) {
	hello := tenon.Tool{Name: "hello", Handler: func(context.Context, *tenon.Call) (tenon.Response, error) {
		return tenon.Response{Status: 200, MediaType: "application/json", Body: []byte(`{"title":"Emma"}`)}, nil
	}}
	c := gateway.Build([]gateway.Mount{{Name: "bench", Features: tenon.Features{Tools: []tenon.Tool{hello}}}}, gateway.BuildOptions{})
	if o == nil {
		return &kind{handler: server.New(gateway.New(c, gateway.Options{}), server.Options{}), close: func() error { return nil }}, nil
	}
	with := *o
	with.Known = func(name string) bool { return c.Find(name) != nil }
	t, err := telemetry.New(with)
	if err != nil {
		return nil, err
	}
	g := gateway.New(c, gateway.Options{Observers: []gateway.Observer{t}})
	s := server.New(g, server.Options{Observer: t})
	return &kind{handler: s, close: t.Close}, t.Watch(telemetry.Source{Usage: s.Usage, Tools: func() int { return 1 }, Workers: func() int { return 0 }})
}

const message = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"hello","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`

// turn measures calls, one after the other.
func (k *kind) turn() {
	w := &discard{header: http.Header{}}
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/mcp", nil)
	r.Header = http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"hello"},
	}
	r.ContentLength = int64(len(message))
	body := bytes.NewReader(nil)
	r.Body = io.NopCloser(body)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := processorTime()
	for range aTurn {
		body.Reset([]byte(message))
		w.status = 0
		k.handler.ServeHTTP(w, r)
		if w.status != http.StatusOK {
			panic(w.status)
		}
	}
	took := processorTime() - began
	runtime.ReadMemStats(&after)
	k.ns = append(k.ns, float64(took)/aTurn)
	k.allocs = append(k.allocs, float64(after.Mallocs-before.Mallocs)/aTurn)
}

// discard is a response that nobody reads.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(status int)      { d.status = status }

// processorTime is what the process has used, in nanoseconds.
func processorTime() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

func less(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] - b[i]
	}
	return out
}

func middle(all []float64) float64 {
	all = slices.Clone(all)
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}
