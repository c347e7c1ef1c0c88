package server_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/server"
)

// sink is a ResponseWriter that costs nothing.
type sink struct {
	header http.Header
	status int
	size   int
}

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) WriteHeader(status int)      { s.status = status }
func (s *sink) Write(p []byte) (int, error) { s.size += len(p); return len(p), nil }

func (s *sink) reset() {
	clear(s.header)
	s.status, s.size = 0, 0
}

func benchmarkHTTP(b *testing.B, s *server.Server, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		b.Fatal(err)
	}
	text := string(body)
	reader := strings.NewReader(text)
	r.Body = io.NopCloser(reader)
	r.ContentLength = int64(len(text))
	w := &sink{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		reader.Reset(text)
		w.reset()
		s.ServeHTTP(w, r)
	}
	if w.status != http.StatusOK {
		b.Fatalf("status %d", w.status)
	}
	b.SetBytes(int64(w.size))
}

func BenchmarkCall(b *testing.B) {
	small := `{"id":1,"name":"` + strings.Repeat("x", 180) + `"}`
	big := `{"items":[` + strings.TrimSuffix(strings.Repeat(`{"id":12345,"name":"some name or other","active":true},`, 910), ",") + `]}`
	s := serve(server.Options{}, answered("small", "application/json", small), answered("big", "application/json", big))
	for _, name := range []string{"small", "big"} {
		b.Run(name+"/2026-07-28", func(b *testing.B) {
			benchmarkHTTP(b, s, postModern("tools/call", name, `"name":"`+name+`","arguments":{"city":"Wien","days":3}`))
		})
		b.Run(name+"/2025-11-25", func(b *testing.B) {
			benchmarkHTTP(b, s, post(legacyBody("tools/call", `"name":"`+name+`","arguments":{"city":"Wien","days":3}`), "MCP-Protocol-Version: 2025-11-25"))
		})
	}
}

// BenchmarkCallOfSession has a session, as clients of 2025-11-25 have.
func BenchmarkCallOfSession(b *testing.B) {
	s := serve(server.Options{}, answered("small", "application/json", `{"id":1,"name":"`+strings.Repeat("x", 180)+`"}`))
	id := answer(s, post(legacyBody("initialize", `"protocolVersion":"2025-11-25"`))).Header().Get("Mcp-Session-Id")
	benchmarkHTTP(b, s, post(legacyBody("tools/call", `"name":"small","arguments":{"city":"Wien","days":3}`), "Mcp-Session-Id: "+id))
}

func BenchmarkPing(b *testing.B) {
	benchmarkHTTP(b, serve(server.Options{}), post(legacyBody("ping", "")))
}

func BenchmarkList(b *testing.B) {
	benchmarkHTTP(b, serve(server.Options{}, many(500, strings.Repeat("x", 1000))...), postModern("tools/list", "", ""))
}

func BenchmarkStdio(b *testing.B) {
	s := serve(server.Options{}, echo())
	line := legacyBody("tools/call", `"name":"echo","arguments":{"city":"Wien","days":3}`) + "\n"
	b.ReportAllocs()
	in, w := io.Pipe()
	go func() {
		buf := strings.Repeat(line, 16)
		for n := 0; n < b.N; n += 16 {
			_, _ = io.WriteString(w, buf)
		}
		_ = w.Close()
	}()
	b.ResetTimer()
	if err := s.ServeStdio(b.Context(), in, io.Discard); err != nil {
		b.Fatal(err)
	}
}
