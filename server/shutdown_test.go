package server_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/server"
)

func health(s *server.Server, path string) int {
	w := httptest.NewRecorder()
	s.Health().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Code
}

func TestShutdownWaitsForCalls(t *testing.T) {
	on := make(chan struct{})
	began := make(chan string, 1)
	slow := tool("slow", func(context.Context, *tenon.Call) (tenon.Response, error) {
		began <- "began"
		<-on
		return tenon.Response{Content: []tenon.Content{}}, nil
	})
	s := serve(server.Options{MaxConcurrent: 3}, slow)
	if a, b := health(s, "/healthz"), health(s, "/readyz"); a != 200 || b != 200 {
		t.Errorf("before: %d and %d", a, b)
	}
	done := make(chan int)
	go func() { done <- answer(s, post(legacyBody("tools/call", `"name":"slow"`))).Code }()
	<-began
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Shutdown(over); err == nil {
		t.Error("a shutdown without patience says that all calls have ended")
	}
	if a, b := health(s, "/healthz"), health(s, "/readyz"); a != 200 || b != 503 {
		t.Errorf("after: %d and %d", a, b)
	}
	close(on)
	if got := <-done; got != 200 {
		t.Errorf("the call ended with %d", got)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Errorf("the second shutdown: %v", err)
	}
}

func TestShutdownEndsStandingStreams(t *testing.T) {
	s := open(t, server.Options{}, catalog(fixtures()...))
	w := s.do(t.Context(), http.MethodGet, "", s.session("2025-11-25", "{}"))
	if err := s.server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if more := w.next(); more != "" {
		t.Errorf("then came %s", more)
	}
}

// A call of a session outlives its connection, so its session has to end it.
func TestShutdownEndsSessions(t *testing.T) {
	began, ended, enough := make(chan struct{}), make(chan struct{}), make(chan struct{})
	waits := tool("wait", func(ctx context.Context, _ *tenon.Call) (tenon.Response, error) {
		close(began)
		select {
		case <-ctx.Done():
			close(ended)
		case <-enough: // the test has failed
		}
		return tenon.Response{}, ctx.Err()
	})
	s := open(t, server.Options{}, catalog(waits))
	id := s.session("2025-11-25", "{}")
	var asking sync.WaitGroup
	defer asking.Wait()
	defer close(enough)
	asking.Go(func() { s.post(asked("1", "tools/call", `"name":"wait"`), id).all() })
	<-began
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.server.Shutdown(over); err == nil {
		t.Error("the call had ended before the shutdown")
	}
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Error("the call of a session goes on after the shutdown")
	}
	if w := s.post(asked("2", "ping", ""), id); w.StatusCode != http.StatusNotFound {
		t.Errorf("the session lives on: %d", w.StatusCode)
	}
}

// TestHammer lets many clients do everything at once. The race detector is the
// judge; and every request has its own answer.
func TestHammer(t *testing.T) {
	offer := library()
	offer.Tools = append(append(offer.Tools, fixtures()...), talker(), asker())
	c := gateway.Build([]gateway.Mount{{Features: offer}}, gateway.BuildOptions{})
	s := open(t, server.Options{MaxSessions: 10}, c)
	var clients sync.WaitGroup
	for n := range 8 {
		clients.Go(func() {
			id := s.session("2025-11-25", forms)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if n%2 == 0 {
				s.do(ctx, http.MethodGet, "", id)
			}
			for i := range 10 {
				for _, name := range []string{"greet", "talk"} {
					w := s.post(asked(fmt.Sprint(i), "tools/call", `"name":"`+name+`"`), id)
					if problem := missing(w.all(), fmt.Sprintf(`"id":%d,"result"`, i)); problem != "" {
						t.Error(problem)
					}
				}
				s.post(asked("0", "resources/subscribe", `"uri":"shop://book/1"`), id)
				s.gateway.Notify(gateway.Event{URI: "shop://book/1"})
				s.gateway.Swap(c)
				s.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, id)
				s.modern(t.Context(), modernBody("tools/call", `"name":"talk"`), "tools/call", "talk").all()
			}
			s.do(t.Context(), http.MethodDelete, "", id)
		})
	}
	clients.Wait()
}
