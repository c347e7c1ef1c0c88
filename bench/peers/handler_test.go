package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/bench/sample"
)

// sink is a response that costs nothing.
type sink struct {
	header http.Header
	status int
}

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) WriteHeader(status int)      { s.status = status }
func (s *sink) Write(p []byte) (int, error) { return len(p), nil }

// message is a call of tool.
func message(tool string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":{"city":"Reykjavik","days":3},` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
}

// request carries body, a message to tool.
func request(t testing.TB, tool string, body io.Reader) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/mcp", io.NopCloser(body))
	if err != nil {
		t.Fatal(err)
	}
	r.ContentLength = int64(len(message(tool)))
	r.Header = http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {tool},
	}
	return r
}

// TestAlike: the floors of that name give tenon's answer.
func TestAlike(t *testing.T) {
	texts, err := bodies()
	if err != nil {
		t.Fatal(err)
	}
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header()["Date"] = nil // serveUpstream tells none
		w.Header().Set("Content-Length", strconv.Itoa(len(texts[r.URL.Path[1:]])))
		_, _ = w.Write(texts[r.URL.Path[1:]])
	}))
	defer upstream.Close()
	for _, pair := range [][2]string{{"alike", "tenon"}, {"limit-alike", "tenon-openapi"}} {
		for _, tool := range []string{sample.Small, sample.Big} {
			var answers [2]string
			for i, name := range pair {
				h, err := peers(upstream.URL)[name].http()
				if err != nil {
					t.Fatal(err)
				}
				w := httptest.NewRecorder()
				h.ServeHTTP(w, request(t, tool, strings.NewReader(message(tool))))
				answers[i] = w.Body.String()
			}
			if answers[0] != answers[1] || !strings.Contains(answers[0], `"structuredContent"`) {
				t.Errorf("%s of %v:\n%.900s\n%.900s", tool, pair, answers[0], answers[1])
			}
		}
	}
}

// BenchmarkHandler is a call without sockets: what a server spends itself. The
// kernel's share differs between machines, this much less.
func BenchmarkHandler(b *testing.B) {
	for _, name := range []string{"floor", "alike", "tenon"} {
		h, err := peers("")[name].http()
		if err != nil {
			b.Fatal(err)
		}
		for _, tool := range []string{sample.Small, sample.Big} {
			b.Run(name+"/"+tool, func(b *testing.B) {
				body := strings.NewReader(message(tool))
				r := request(b, tool, body)
				w := &sink{header: http.Header{}}
				b.ReportAllocs()
				for b.Loop() {
					body.Reset(message(tool))
					clear(w.header)
					w.status = http.StatusOK
					h.ServeHTTP(w, r)
				}
				if w.status != http.StatusOK {
					b.Fatalf("status %d", w.status)
				}
			})
		}
	}
}
