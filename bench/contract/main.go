// Command contract measures the cost of validation: the processor time of a call
// with a 50 KB answer, validated and in the envelope openapi-mcp, and the same
// with a projection, beside the same server with policy off and envelope native.
// All are measured in turns, with the endpoint's and the upstream's HTTP; the
// client is left out. A ratio is the median of those of the rounds: what else
// runs on the machine costs all turns of a round the same. Then what cutting a
// 10 MB answer allocates.
//
//	contract OUT
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/openapi"
	"github.com/tenon-mcp/tenon/server"
)

const (
	rounds = 81
	calls  = 40 // of one round
)

// document describes an upstream with one operation; its records have the
// usual kinds of members.
const document = `{"openapi":"3.1.0","info":{"title":"b","version":"1"},"paths":{"/list":{"get":{"operationId":"list","responses":{"200":{"description":"",
"content":{"application/json":{"schema":{"type":"object","required":["items"],"additionalProperties":false,"properties":{"items":{"type":"array","items":{"type":"object",
"required":["id","name","score","active","tags"],"additionalProperties":false,"properties":{"id":{"type":"integer"},"name":{"type":"string","maxLength":100},
"score":{"type":"number"},"active":{"type":"boolean"},"tags":{"type":"array","items":{"enum":["sea","voyage"]}}}}}}}}}}}}}}}`

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: contract OUT")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "contract:", err)
		os.Exit(1)
	}
}

func run(out string) error {
	var records []string
	for i := range 500 {
		records = append(records, fmt.Sprintf(`{"id":%d,"name":"a record with a name, number %d","score":%d.25,"active":true,"tags":["sea","voyage"]}`, i, i, i))
	}
	body := []byte(`{"items":[` + strings.Join(records, ",") + `]}`)
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	}))
	defer upstream.Close()
	settings := map[string]func(*tenon.Tool){
		"off":     func(t *tenon.Tool) { t.Policy, t.Envelope = tenon.Off, tenon.Native },
		"enforce": func(t *tenon.Tool) { t.Policy, t.Envelope = tenon.Enforce, tenon.OpenAPIMCP },
		"select": func(t *tenon.Tool) {
			t.Policy, t.Envelope = tenon.Enforce, tenon.OpenAPIMCP
			t.Projection.Select = []string{"items[].id", "items[].name"}
		},
	}
	servers, times := map[string]*server.Server{}, map[string][]float64{}
	for name, set := range settings {
		s, err := serverOf(upstream.URL, set)
		if err != nil {
			return err
		}
		servers[name] = s
	}
	names := []string{"off", "enforce", "select"}
	for range rounds {
		for _, name := range names {
			spent, err := round(servers[name])
			if err != nil {
				return err
			}
			times[name] = append(times[name], spent)
		}
		names = append(names[1:], names[0])
	}
	cut, err := cutAllocates()
	if err != nil {
		return err
	}
	enforce, selected := ratios(times["enforce"], times["off"]), ratios(times["select"], times["off"])
	report, err := json.MarshalIndent(map[string]any{
		"bytes": len(body), "offMicros": median(times["off"]), "enforceMicros": median(times["enforce"]), "selectMicros": median(times["select"]),
		"ratio": median(enforce), "selectRatio": median(selected), "cutAllocated": cut,
	}, "", "  ")
	if err != nil {
		return err
	}
	fmt.Printf("%d bytes: %.0f µs of processor a call with policy off\n", len(body), median(times["off"]))
	say := func(name string, r []float64) {
		fmt.Printf("%s: %.2f of that (half of the rounds: %.2f to %.2f)\n", name, median(r), r[rounds/4], r[rounds*3/4])
	}
	say("with enforce", enforce)
	say("with a projection, too", selected)
	fmt.Printf("cutting 10 MB allocates %.2f times that\n", cut)
	return os.WriteFile(out, append(report, '\n'), 0o600)
}

// ratios are those of the rounds, sorted.
func ratios(a, b []float64) []float64 {
	r := make([]float64, len(a))
	for i := range a {
		r[i] = a[i] / b[i]
	}
	slices.Sort(r)
	return r
}

func median(a []float64) float64 {
	a = slices.Sorted(slices.Values(a))
	return a[len(a)/2]
}

// cutAllocates is what the first part of a 10 MB answer allocates, in sizes of
// the answer. The answer itself is not counted.
func cutAllocates() (float64, error) {
	item := `{"id":1,"name":"` + strings.Repeat("x", 1000) + `"}`
	body := []byte(`{"items":[` + strings.Repeat(item+",", 10_000) + item + `]}`)
	tool := tenon.Tool{
		Name: "list", Envelope: tenon.OpenAPIMCP, Policy: tenon.Enforce, MaxResult: 100 << 10,
		Contract: tenon.Contract{Responses: []tenon.ResponseSchema{{MediaType: "application/json", Schema: []byte(`{"type":"object","properties":{"items":{"type":"array","items":{"type":"object"}}}}`)}}},
		Handler: func(context.Context, *tenon.Call) (tenon.Response, error) {
			return tenon.Response{MediaType: "application/json", Body: body}, nil
		},
	}
	g := gateway.New(gateway.Build([]gateway.Mount{{Features: tenon.Features{Tools: []tenon.Tool{tool}}}}, gateway.BuildOptions{}), gateway.Options{})
	var before, after runtime.MemStats
	for range 2 { // schemas are compiled once
		runtime.ReadMemStats(&before)
		res, err := g.Call(context.Background(), &tenon.Call{Tool: "list"})
		if err != nil || res.IsError || !bytes.Contains(res.Meta, []byte("resume_token")) {
			return 0, fmt.Errorf("the answer is not cut: %v", err)
		}
		runtime.ReadMemStats(&after)
	}
	return float64(after.TotalAlloc-before.TotalAlloc) / float64(len(body)), nil
}

func serverOf(url string, set func(*tenon.Tool)) (*server.Server, error) {
	client, err := egress.NewClient(egress.Options{AllowHosts: []string{"127.0.0.1"}})
	if err != nil {
		return nil, err
	}
	offer, err := openapi.Parse("b", []byte(document), openapi.Options{Client: client, BaseURL: url})
	if err != nil {
		return nil, err
	}
	catalog := gateway.Build([]gateway.Mount{{Features: offer}}, gateway.BuildOptions{Configure: func(_ string, t *tenon.Tool) { set(t) }})
	return server.New(gateway.New(catalog, gateway.Options{}), server.Options{NoSessions: true}), nil
}

// round makes calls and returns the processor time of one in microseconds.
func round(s *server.Server) (float64, error) {
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list","arguments":{}}}`
	before := spent()
	for range calls {
		r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/mcp", strings.NewReader(call))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("MCP-Protocol-Version", "2025-06-18")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != http.StatusOK || bytes.Contains(w.Body.Bytes(), []byte(`"isError":true`)) {
			return 0, fmt.Errorf("status %d: %.300s", w.Code, w.Body)
		}
	}
	return float64((spent() - before).Microseconds()) / calls, nil
}

// spent is the processor time of this process.
func spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
