package server_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/server"
)

func opened(s *server.Server) (header string) {
	return "Mcp-Session-Id: " + answer(s, post(legacyBody("initialize", `"protocolVersion":"2025-11-25"`))).Header().Get("Mcp-Session-Id")
}

// One session cannot take all places; the others are served meanwhile.
func TestCallsOfOneSessionAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 64
		began, ended := make(chan string, most+1), make(chan string, most+1)
		s := serve(server.Options{}, waiter(began, ended), echo())
		greedy, other := opened(s), opened(s)
		results := make(chan *httptest.ResponseRecorder, most+1)
		for range most + 1 {
			go func() { results <- answer(s, post(legacyBody("tools/call", `"name":"wait"`), greedy)) }()
			synctest.Wait()
		}
		w := <-results
		if problem := missing(w.Body.String(), "too many requests of one session"); w.Code != 503 || w.Header().Get("Retry-After") == "" || problem != "" {
			t.Error(w.Code, problem)
		}
		if w := answer(s, post(legacyBody("tools/call", `"name":"echo"`), other)); w.Code != 200 {
			t.Errorf("another session: %d %s", w.Code, w.Body)
		}
		end := post("", greedy) // the calls end with their session
		end.Method = http.MethodDelete
		answer(s, end)
	})
}

// What streams keep for clients that come back is bounded in all, and given
// back when a session ends, however it ends.
func TestStreamsKeepNoMoreThanTheirShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loud := tool("loud", func(_ context.Context, c *tenon.Call) (tenon.Response, error) {
			c.Log("info", strings.Repeat("x", 10_000))
			return tenon.Response{Content: []tenon.Content{{Text: []byte("said")}}}, nil
		})
		s := serve(server.Options{SessionIdle: time.Minute}, loud)
		s.Hold(50_000)
		call := func(id string) {
			if w := answer(s, post(legacyBody("tools/call", `"name":"loud"`), id)); !strings.Contains(w.Body.String(), "said") {
				t.Error(w.Body)
			}
		}
		for range 10 {
			id := opened(s)
			for range 3 {
				call(id)
			}
		}
		if got := s.Held(); got == 0 || got > 60_000 {
			t.Errorf("%d bytes are kept", got)
		}
		time.Sleep(2 * time.Minute)
		ended := opened(s) // whoever comes next clears up
		if got := s.Held(); got != 0 {
			t.Errorf("after all expired %d bytes are kept", got)
		}
		call(ended)
		r := post("", ended)
		r.Method = http.MethodDelete
		if w := answer(s, r); w.Code != 204 || s.Held() != 0 {
			t.Errorf("%d, and %d bytes are kept", w.Code, s.Held())
		}
	})
}

// A session keeps so many streams and no more, however little stands in them.
func TestStreamsOfOneSessionAreBounded(t *testing.T) {
	const kept = 16
	whisper := tool("whisper", func(_ context.Context, c *tenon.Call) (tenon.Response, error) {
		c.Log("info", "x")
		return tenon.Response{Content: []tenon.Content{{Text: []byte("said")}}}, nil
	})
	s := serve(server.Options{}, whisper)
	id := opened(s)
	var last []string // what a client of each stream saw last
	for range kept + 1 {
		_, rest, _ := strings.Cut(answer(s, post(legacyBody("tools/call", `"name":"whisper"`), id)).Body.String(), "id: ")
		at, _, _ := strings.Cut(rest, "\n")
		last = append(last, at)
	}
	for i, want := range map[int]int{0: http.StatusBadRequest, 1: http.StatusOK, kept: http.StatusOK} {
		r := post("", id, "Last-Event-ID: "+last[i])
		r.Method = http.MethodGet
		if w := answer(s, r); w.Code != want {
			t.Errorf("stream %d: %d, want %d: %s", i, w.Code, want, w.Body)
		}
	}
}
