package server_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/server"
)

// TestSlowReaderIsCut: a client that does not read what it asked for is cut,
// and its call ends.
func TestSlowReaderIsCut(t *testing.T) {
	ended := make(chan string, 1)
	flood := tool("flood", func(ctx context.Context, c *tenon.Call) (tenon.Response, error) {
		for ctx.Err() == nil {
			c.Log("info", strings.Repeat("x", 1<<16))
		}
		ended <- "ended"
		return tenon.Response{}, ctx.Err()
	})
	s := open(t, server.Options{WriteTimeout: 200 * time.Millisecond}, catalog(flood))
	w := s.do(t.Context(), http.MethodPost, withMeta("1", "tools/call", `"name":"flood"`, "{}", `"io.modelcontextprotocol/logLevel":"info"`),
		"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: flood")
	if w.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatal(w.Status)
	}
	<-ended
}

// TestSlowReaderOfOneAnswerIsCut: an answer larger than all buffers does not
// wait for its reader forever.
func TestSlowReaderOfOneAnswerIsCut(t *testing.T) {
	large := tool("large", func(context.Context, *tenon.Call) (tenon.Response, error) {
		return tenon.Response{Content: []tenon.Content{{Text: []byte(strings.Repeat("x", 24<<20))}}}, nil
	})
	s := serve(server.Options{WriteTimeout: 200 * time.Millisecond}, large)
	served := make(chan string, 1)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.ServeHTTP(w, r)
		served <- "served"
	}))
	defer web.Close()
	var d net.Dialer
	c, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(web.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() // before web, which waits for its connections
	body := legacyBody("tools/call", `"name":"large"`)
	if _, err := fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		t.Fatal(err)
	}
	select {
	case <-served:
	case <-time.After(time.Minute):
		t.Error("the answer still waits for its reader")
	}
}

func TestPagesOfNamedOrigins(t *testing.T) {
	s := serve(server.Options{AllowedOrigins: []string{"https://friend.example"}}, fixtures()...)
	ask := post("", "Origin: https://friend.example", "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: mcp-method, mcp-param-region")
	ask.Method = http.MethodOptions
	w := answer(s, ask)
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin":   "https://friend.example",
		"Access-Control-Allow-Headers":  "mcp-method, mcp-param-region",
		"Access-Control-Expose-Headers": "Mcp-Session-Id, WWW-Authenticate",
		"Vary":                          "Origin",
	} {
		if got := w.Header().Get(name); got != want || w.Code != http.StatusNoContent {
			t.Errorf("%d %s: got %q, want %q", w.Code, name, got, want)
		}
	}
	ask.Header.Set("Origin", "https://evil.example")
	if w := answer(s, ask); w.Code != http.StatusForbidden || w.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a foreign page got %d %v", w.Code, w.Header())
	}
}

// TestSlowBodyIsCut: a client that announces a body and sends half of it, or
// nothing of it, holds nothing for long.
func TestSlowBodyIsCut(t *testing.T) {
	for _, sent := range []string{"{", ""} {
		s := open(t, server.Options{ReadTimeout: 20 * time.Millisecond}, catalog(fixtures()...))
		for _, endpoint := range []string{"/", "/jsonrpc"} {
			var d net.Dialer
			c, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n%s", endpoint, sent); err != nil {
				t.Fatal(err)
			}
			w, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatalf("%q: %v", sent, err)
			}
			if w.StatusCode != http.StatusBadRequest {
				t.Errorf("%q: %s", sent, w.Status)
			}
			_ = w.Body.Close()
			_ = c.Close()
		}
	}
}
