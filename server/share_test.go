package server_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/memstore"
	"github.com/tenon-mcp/tenon/server"
)

// from lets a request come from an address.
func from(address string, r *http.Request) *http.Request {
	r.RemoteAddr = address
	return r
}

func modernWaiting(method, name, params string) *http.Request {
	return post(withMeta("1", method, params, taskClient, ""), "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: "+method, "Mcp-Name: "+name)
}

// However much one caller wants, another one finds a place at once: among the
// calls, the tasks and the subscriptions.
func TestOneCallerLeavesSpaceForOthers(t *testing.T) {
	const greedy, other = "192.0.2.1:1", "198.51.100.7:2"
	for name, who := range map[string]func(s *server.Server) func(r *http.Request, greedily bool) *http.Request{
		"addresses": func(*server.Server) func(*http.Request, bool) *http.Request {
			return func(r *http.Request, greedily bool) *http.Request {
				if greedily {
					return from(greedy, r)
				}
				return from(other, r)
			}
		},
		"credentials": func(*server.Server) func(*http.Request, bool) *http.Request {
			return func(r *http.Request, greedily bool) *http.Request {
				r.Header.Set("X-Key", fmt.Sprint(greedily))
				return r
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				began, ended := make(chan string, 99), make(chan string, 99)
				s := serve(server.Options{MaxConcurrent: 8, MaxListeners: 8, TaskAfter: time.Hour, ForwardHeaders: []string{"X-Key"}}, waiter(began, ended), echo())
				as := who(s)
				var clients sync.WaitGroup
				for range 20 {
					clients.Go(func() { answer(s, as(modernWaiting("tools/call", "wait", `"name":"wait"`), true).WithContext(ctx)) })
					clients.Go(func() {
						answer(s, as(post(withMeta("1", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`, "{}", ""),
							"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: subscriptions/listen"), true).WithContext(ctx))
					})
				}
				synctest.Wait()
				if _, _, calls := s.InFlight(); calls != 4 {
					t.Errorf("%d calls of one caller run, want 4", calls)
				}
				if _, subscriptions, _ := s.Standing(); subscriptions != 4 {
					t.Errorf("%d subscriptions of one caller, want 4", subscriptions)
				}
				if w := answer(s, as(modernWaiting("tools/call", "echo", `"name":"echo"`), false)); w.Code != http.StatusOK {
					t.Errorf("another caller's call: %d %s", w.Code, w.Body)
				}
				short, enough := context.WithTimeout(ctx, time.Second)
				defer enough()
				w := answer(s, as(post(withMeta("1", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`, "{}", ""),
					"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: subscriptions/listen"), false).WithContext(short))
				if !strings.Contains(w.Body.String(), "acknowledged") {
					t.Errorf("another caller's subscription: %d %s", w.Code, w.Body)
				}
				cancel()
				clients.Wait()
				synctest.Wait()
				if _, _, calls := s.InFlight(); calls != 0 {
					t.Errorf("%d places are lost", calls)
				}
			})
		})
	}
}

// One session does not take the places of another, though both come from one
// address.
func TestSessionsHaveSharesOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, ended := make(chan string, 99), make(chan string, 99)
		s := serve(server.Options{MaxConcurrent: 16}, waiter(began, ended), echo())
		greedy, other := opened(s), opened(s)
		var clients sync.WaitGroup
		for range 20 {
			clients.Go(func() { answer(s, post(legacyBody("tools/call", `"name":"wait"`), greedy)) })
		}
		synctest.Wait()
		if len(began) != 8 {
			t.Errorf("%d calls of one session run, want 8", len(began))
		}
		if w := answer(s, post(legacyBody("tools/call", `"name":"echo"`), other)); !strings.Contains(w.Body.String(), `"result"`) {
			t.Errorf("another session's call: %d %s", w.Code, w.Body)
		}
		end := post("", greedy)
		end.Method = http.MethodDelete
		answer(s, end)
		clients.Wait()
	})
}

// Of those who wait, whoever has the least comes first.
func TestWhoHasLeastComesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release, started := make(chan struct{}), make(chan string, 9)
		s := serve(server.Options{MaxConcurrent: 2, MaxPerCaller: 2, ForwardHeaders: []string{"X-Key"}}, tool("wait", func(_ context.Context, c *tenon.Call) (tenon.Response, error) {
			started <- c.Header.Get("X-Key")
			<-release
			return tenon.Response{Content: []tenon.Content{{Text: []byte("ok")}}}, nil
		}))
		var clients sync.WaitGroup
		for _, key := range []string{"greedy", "greedy", "greedy", "modest"} {
			clients.Go(func() { answer(s, post(legacyBody("tools/call", `"name":"wait"`), "X-Key: "+key)) })
			synctest.Wait()
		}
		var order []string
		for range 4 {
			order = append(order, <-started)
			if len(order) >= 2 {
				release <- struct{}{}
			}
		}
		close(release)
		clients.Wait()
		if got := strings.Join(order, " "); got != "greedy greedy modest greedy" {
			t.Error(got)
		}
	})
}

// Tasks of one caller take at most half of the room; a client that has no task
// waits, and one that leaves meanwhile is noticed at once.
func TestTasksAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		slow := tool("slow", func(ctx context.Context, _ *tenon.Call) (tenon.Response, error) {
			select {
			case <-stop:
			case <-ctx.Done():
				return tenon.Response{}, ctx.Err()
			}
			return tenon.Response{Content: []tenon.Content{{Text: []byte("done")}}}, nil
		})
		g := gateway.New(catalog(slow), gateway.Options{Timeout: 24 * time.Hour})
		s := server.New(g, server.Options{MaxConcurrent: 4000})
		s.HoldTasks(4)
		ask := func(address string, ctx context.Context) *httptest.ResponseRecorder {
			return answer(s, from(address, modernWaiting("tools/call", "slow", `"name":"slow"`)).WithContext(ctx))
		}
		for range 2 {
			if w := ask("a:1", t.Context()); !strings.Contains(w.Body.String(), `"resultType":"task"`) {
				t.Fatal(w.Body)
			}
		}
		ctx, leave := context.WithCancel(t.Context())
		gone := make(chan time.Time, 1)
		go func() { ask("a:1", ctx); gone <- time.Now() }()
		time.Sleep(time.Minute)
		synctest.Wait()
		leave()
		if at := <-gone; time.Since(at) > time.Second {
			t.Error("the client that left was noticed late")
		}
		if w := ask("b:1", t.Context()); !strings.Contains(w.Body.String(), `"resultType":"task"`) {
			t.Errorf("another caller has no task: %s", w.Body)
		}
		synctest.Wait()
		if _, _, calls := s.InFlight(); calls != 3 {
			t.Errorf("%d places are held, want 3", calls)
		}
		close(stop)
		synctest.Wait()
		if _, _, calls := s.InFlight(); calls != 0 {
			t.Errorf("%d places are lost", calls)
		}
		time.Sleep(2 * time.Hour) // the tasks' time is over
	})
}

// Nobody loses a session to a caller who has more of them.
func TestSessionsAreSharedAmongCallers(t *testing.T) {
	s := serve(server.Options{MaxSessions: 16}, fixtures()...)
	open := func(address string) string {
		w := answer(s, from(address, post(legacyBody("initialize", `"protocolVersion":"2025-11-25"`))))
		return "Mcp-Session-Id: " + w.Header().Get("Mcp-Session-Id")
	}
	alive := func(id string) bool { return answer(s, post(legacyBody("ping", ""), id)).Code == http.StatusOK }
	mine := []string{open("198.51.100.7:1"), open("198.51.100.7:2")}
	for i := range 100 {
		open(fmt.Sprintf("192.0.2.1:%d", i))
	}
	mine = append(mine, open("198.51.100.7:3"))
	for i := range 100 {
		open(fmt.Sprintf("192.0.2.1:%d", i))
	}
	for i, id := range mine {
		if !alive(id) {
			t.Errorf("session %d of another caller was ended", i+1)
		}
	}
	network := serve(server.Options{MaxSessions: 16}, fixtures()...)
	s = network
	mine = []string{open("[2001:db8:1::1]:1")}
	for i := range 100 {
		open(fmt.Sprintf("[2001:db8:2::%x]:1", i)) // one host has them all
	}
	if !alive(mine[0]) {
		t.Error("a host with many addresses ended the session of another")
	}
}

// After a shutdown no call, subscription or session is taken any more.
func TestNothingIsTakenAfterShutdown(t *testing.T) {
	s := serve(server.Options{}, fixtures()...)
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if w := answer(s, post(legacyBody("tools/call", `"name":"greet"`))); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "shuts down") {
		t.Errorf("a call: %d %s", w.Code, w.Body)
	}
	if w := answer(s, post(legacyBody("initialize", `"protocolVersion":"2025-11-25"`))); w.Header().Get("Mcp-Session-Id") != "" {
		t.Errorf("a session was opened: %s", w.Body)
	}
	w := answer(s, post(withMeta("1", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`, "{}", ""),
		"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: subscriptions/listen"))
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("a subscription: %d %s", w.Code, w.Body)
	}
	if out := talk(t, s, legacyBody("tools/call", `"name":"greet"`)+"\n"); !strings.Contains(out, "shuts down") {
		t.Errorf("a call over stdio: %s", out)
	}
}

// One caller who keeps the parts of answers leaves room for those of others, and
// what was kept stays.
func TestKeptPartsHaveShares(t *testing.T) {
	list := tenon.Tool{Name: "list", Envelope: tenon.OpenAPIMCP, MaxResult: 1000, Handler: func(context.Context, *tenon.Call) (tenon.Response, error) {
		return tenon.Response{MediaType: "application/json", Body: []byte(`["` + strings.Repeat(strings.Repeat("a", 90)+`","`, 99) + `end"]`)}, nil
	}}
	token := func(w *httptest.ResponseRecorder) string {
		_, rest, _ := strings.Cut(w.Body.String(), `"resume_token":"`)
		token, _, _ := strings.Cut(rest, `"`)
		return token
	}
	for name, as := range map[string]func(r *http.Request, who string) *http.Request{
		"addresses":   func(r *http.Request, who string) *http.Request { return from(who+":1", r) },
		"credentials": func(r *http.Request, who string) *http.Request { r.Header.Set("X-Key", who); return r },
	} {
		t.Run(name, func(t *testing.T) {
			g := gateway.New(gateway.Build([]gateway.Mount{{Features: tenon.Features{Tools: []tenon.Tool{list}}}}, gateway.BuildOptions{}),
				gateway.Options{Store: memstore.New(memstore.Options{MaxBytes: 100_000})})
			s := server.New(g, server.Options{ForwardHeaders: []string{"X-Key"}})
			call := func(who, arguments string) *httptest.ResponseRecorder {
				return answer(s, as(post(legacyBody("tools/call", `"name":"list","arguments":`+arguments)), who))
			}
			var kept []string
			for range 20 {
				if w := call("greedy", "{}"); token(w) != "" {
					kept = append(kept, token(w))
				} else if !strings.Contains(w.Body.String(), "store is full") {
					t.Errorf("%.300s", w.Body)
				}
			}
			if len(kept) < 2 || len(kept) > 5 {
				t.Errorf("%d answers of one caller are kept in half the room", len(kept))
			}
			other := token(call("other", "{}"))
			if other == "" {
				t.Fatal("one caller has taken all the room")
			}
			for who, all := range map[string][]string{"greedy": kept, "other": {other}} {
				for _, token := range all {
					if w := call(who, `{"resume_token":"`+token+`"}`); !strings.Contains(w.Body.String(), "aaaa") {
						t.Errorf("a part of %s is lost: %.300s", who, w.Body)
					}
				}
			}
		})
	}
}
