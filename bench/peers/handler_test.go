package main

import (
	"io"
	"net/http"
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

// BenchmarkHandler is a call without sockets: what a server spends itself. The
// kernel's share differs between machines, this much less.
func BenchmarkHandler(b *testing.B) {
	for _, name := range []string{"floor", "tenon"} {
		h, err := peers("")[name].http()
		if err != nil {
			b.Fatal(err)
		}
		for _, tool := range []string{sample.Small, sample.Big} {
			b.Run(name+"/"+tool, func(b *testing.B) {
				text := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":{"city":"Reykjavik","days":3},` +
					`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
				body := strings.NewReader(text)
				r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, "http://127.0.0.1/mcp", io.NopCloser(body))
				if err != nil {
					b.Fatal(err)
				}
				r.ContentLength = int64(len(text))
				r.Header = http.Header{
					"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
					"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {tool},
				}
				w := &sink{header: http.Header{}}
				b.ReportAllocs()
				for b.Loop() {
					body.Reset(text)
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
