package server_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/server"
)

// goexit is a tool whose handler ends its goroutine, as t.FailNow does.
func goexit() tenon.Tool {
	return tool("goexit", func(context.Context, *tenon.Call) (tenon.Response, error) {
		runtime.Goexit()
		return tenon.Response{}, nil
	})
}

// A handler that ends its goroutine costs its call alone, and whoever made it is
// answered.
func TestAHandlerThatEndsItsGoroutine(t *testing.T) {
	s := serve(server.Options{MaxConcurrent: 1}, goexit(), echo())
	web := httptest.NewServer(s)
	defer web.Close()
	plain := httptest.NewServer(s.JSONRPC())
	defer plain.Close()
	polled := httptest.NewServer(serve(server.Options{PollAfter: time.Minute}, goexit(), echo()))
	defer polled.Close()
	send := func(url, session, body string) (opened, answer string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.Header.Get("Mcp-Session-Id"), string(text)
	}
	opened := func(url string) string {
		session, _ := send(url, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
		return session
	}
	for name, where := range map[string]struct{ url, session string }{
		"without a session": {web.URL, ""}, "in a session": {web.URL, opened(web.URL)}, "polled": {polled.URL, opened(polled.URL)}, "plain JSON-RPC": {plain.URL, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for range 3 {
				if _, got := send(where.url, where.session, callOf("7", "goexit")); !strings.Contains(got, `"id":7`) || !strings.Contains(got, `"code":-32603`) || !strings.Contains(got, "incident") {
					t.Errorf("got %s", got)
				}
			}
			if _, got := send(where.url, where.session, callOf("8", "echo")); !strings.Contains(got, `"result"`) {
				t.Errorf("the next call: %s", got)
			}
		})
	}
	t.Run("stdio", func(t *testing.T) {
		var out strings.Builder
		in := callOf("7", "goexit") + "\n" + callOf("8", "goexit") + "\n" + callOf("9", "echo") + "\n"
		if err := s.ServeStdio(t.Context(), strings.NewReader(in), &out); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); strings.Count(got, `"code":-32603`) != 2 || strings.Count(got, `"result"`) != 1 {
			t.Errorf("got %s", got)
		}
	})
	t.Run("a batch", func(t *testing.T) {
		_, got := send(web.URL, "", "["+callOf("7", "goexit")+","+callOf("8", "echo")+"]")
		if !strings.Contains(got, `"code":-32603`) || !strings.Contains(got, `"result"`) {
			t.Errorf("got %s", got)
		}
	})
}
