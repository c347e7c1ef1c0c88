// Command contract measures what honesty costs: the processor time of a call
// with a 50 KB answer, validated and in the shape openapi-mcp, beside the same
// server with policy off and shape native. Both are measured in turns, with
// the door's and the upstream's HTTP; the client is left out.
//
//	contract OUT
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/openapi"
	"github.com/tenon-mcp/tenon/server"
)

const (
	rounds = 21
	calls  = 150 // of one round
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
	plain, err := serverOf(upstream.URL, tenon.Off, tenon.Native)
	if err != nil {
		return err
	}
	honest, err := serverOf(upstream.URL, tenon.Enforce, tenon.OpenAPIMCP)
	if err != nil {
		return err
	}
	var off, on []float64
	for range rounds {
		for s, times := range map[*server.Server]*[]float64{plain: &off, honest: &on} {
			spent, err := round(s)
			if err != nil {
				return err
			}
			*times = append(*times, spent)
		}
	}
	slices.Sort(off)
	slices.Sort(on)
	a, b := off[rounds/2], on[rounds/2]
	report, err := json.MarshalIndent(map[string]any{"bytes": len(body), "offMicros": a, "enforceMicros": b, "ratio": b / a}, "", "  ")
	if err != nil {
		return err
	}
	fmt.Printf("%d bytes: %.0f µs of processor a call with policy off, %.0f µs with enforce: %.2f\n", len(body), a, b, b/a)
	return os.WriteFile(out, append(report, '\n'), 0o600)
}

func serverOf(url string, p tenon.Policy, s tenon.Shape) (*server.Server, error) {
	offer, err := openapi.Parse("b", []byte(document), openapi.Options{Client: http.DefaultClient, BaseURL: url, Policy: p, Shape: s})
	if err != nil {
		return nil, err
	}
	catalog := tenon.Build([]tenon.Named{{Offer: offer}}, tenon.BuildOptions{})
	return server.New(tenon.NewGateway(catalog, tenon.GatewayOptions{}), server.Options{NoSessions: true}), nil
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
