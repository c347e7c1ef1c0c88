// Command evidence measures what a call costs its caller more where evidence of
// responses is counted than where it is not, in one process. It writes a report.
//
//	evidence OUT
//
// The tool is a function that returns at once, its response fits. Turns with and without
// are interleaved, with another one without to show what the machine adds; of the
// differences the middle counts. Within a turn nobody waits for the counting, which is
// beside the path and not measured: it takes place between turns.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/evidence"
	"github.com/tenon-mcp/tenon/gateway"
)

const (
	turns   = 20
	batches = 100 // of a turn
	aBatch  = 400 // calls, which the queue holds
)

// report is what OUT holds: nanoseconds and allocations of a call.
type report struct {
	CallNS      float64 `json:"callNS"`
	AgainMoreNS float64 `json:"againMoreNS"` // than itself: what the machine adds
	MoreNS      float64 `json:"moreNS"`
	MoreAllocs  float64 `json:"moreAllocs"`
	Dropped     int64   `json:"dropped"`
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: evidence OUT")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "evidence:", err)
		os.Exit(1)
	}
}

// observer tells a recorder what package app tells it.
type observer struct{ to *evidence.Recorder }

func (o observer) ObserveCall(_ context.Context, r *gateway.CallRecord) {
	c := &r.Checked
	if c.Verdict == "" || r.Tool == nil {
		return
	}
	o.to.Observe(&evidence.Observation{
		Tool: r.Tool, Declared: c.Declared, Status: c.AsStatus, MediaType: c.AsMedia, SentStatus: c.Status, SentMediaType: c.MediaType,
		Verdict: c.Verdict, Against: c.Against, Violations: c.Violations, Args: r.Args, Body: c.Body, At: r.Began,
	})
}

// silent is an observer that does nothing, so that both ways have one.
type silent struct{}

func (silent) ObserveCall(context.Context, *gateway.CallRecord) {}

func run(out string) error {
	dir, err := os.MkdirTemp("", "evidence")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is temporary
	path := filepath.Join(dir, "ledger")
	r, err := evidence.Open(evidence.Options{Path: path, Interval: time.Hour, Describe: func(any) evidence.Operation { return evidence.Operation{Name: "get"} }})
	if err != nil {
		return err
	}
	ways := []way{{serve(silent{}), nil}, {serve(silent{}), nil}, {serve(observer{r}), r}}
	var base, again, more, allocs []float64
	for range turns {
		ns, made, err := turn(ways)
		if err != nil {
			return err
		}
		base, again, more, allocs = append(base, ns[0]), append(again, ns[1]-ns[0]), append(more, ns[2]-ns[0]), append(allocs, made[2]-made[0])
	}
	if err := r.Close(); err != nil {
		return err
	}
	l, err := evidence.ReadFile(path)
	if err != nil {
		return err
	}
	rep := report{middle(base), middle(again), middle(more), middle(allocs), l.Dropped()}
	text, err := json.MarshalIndent(rep, "", "  ")
	if err != nil {
		return err
	}
	fmt.Println(string(text))
	return os.WriteFile(out, append(text, '\n'), 0o644)
}

func middle(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

func serve(o gateway.Observer) *gateway.Gateway {
	body := []byte(`{"id":17,"title":"Emma","price":9.5,"tags":["a","b"],"author":{"name":"Jane Austen"},"pages":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36]}`)
	schema := []byte(`{"type":"object","properties":{"id":{"type":"integer"},"title":{"type":"string"},"price":{"type":"number"},"tags":{"type":"array","items":{"type":"string"}},"author":{"type":"object","properties":{"name":{"type":"string"}}},"pages":{"type":"array","items":{"type":"integer"}}},"required":["id","title"]}`)
	return gateway.New(gateway.Build([]gateway.Mount{{Features: tenon.Features{Tools: []tenon.Tool{{
		Name: "get", Contract: tenon.Contract{Responses: []tenon.ResponseSchema{{Status: "200", MediaType: "application/json", Schema: schema}}},
		Handler: func(context.Context, *tenon.Call) (tenon.Response, error) {
			return tenon.Response{Status: 200, MediaType: "application/json", Body: body}, nil
		},
	}}}}}, gateway.BuildOptions{}), gateway.Options{Observers: []gateway.Observer{o}})
}

// way is how calls are served.
type way struct {
	gateway *gateway.Gateway
	flush   *evidence.Recorder // after each batch; nil: there is none
}

// turn returns nanoseconds and allocations of a call, each way: the middle batch of
// those that take turns.
func turn(ways []way) (ns, allocs []float64, err error) {
	spent, made := make([][]float64, len(ways)), make([][]float64, len(ways))
	runtime.GC()
	for i := range batches {
		for j := range ways {
			w := (i + j) % len(ways)
			n, m, err := ways[w].batch()
			if err != nil {
				return nil, nil, err
			}
			spent[w], made[w] = append(spent[w], n), append(made[w], m)
		}
	}
	for w := range ways {
		ns, allocs = append(ns, middle(spent[w])), append(allocs, middle(made[w]))
	}
	return ns, allocs, nil
}

func (w *way) batch() (ns, allocs float64, err error) {
	args := []byte(`{"id":17,"language":"en","expand":["author","tags"]}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	for range aBatch {
		if _, err := w.gateway.Call(context.Background(), &tenon.Call{Tool: "get", Args: args}); err != nil {
			return 0, 0, err
		}
	}
	spent := time.Since(began)
	runtime.ReadMemStats(&after)
	if w.flush != nil {
		err = w.flush.Flush()
	}
	return float64(spent.Nanoseconds()) / aBatch, float64(after.Mallocs-before.Mallocs) / aBatch, err
}
