package server_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/server"
)

func TestResponseIsAStreamOnlyWhereMoreIsToBeSaid(t *testing.T) {
	s := open(t, server.Options{}, catalog(append(fixtures(), talker())...))
	id := s.session("2025-11-25", "{}")
	for name, want := range map[string]string{"greet": "application/json", "talk": "text/event-stream"} {
		for _, headers := range [][]string{nil, {id}} {
			w := s.post(legacyBody("tools/call", `"name":"`+name+`"`), headers...)
			if got := w.Header.Get("Content-Type"); got != want || w.StatusCode != http.StatusOK {
				t.Errorf("%s with %q: got %s and %s", name, headers, w.Status, got)
			}
			if body := w.all(); !strings.Contains(body, `"id":1,"result":`) {
				t.Errorf("%s with %q has no answer: %s", name, headers, body)
			}
		}
	}
	w := s.post(legacyBody("tools/call", `"name":"talk"`), id, "Accept: application/json")
	if got := w.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("a client that takes no stream got %s", got)
	}
}

func TestStreamHeaders(t *testing.T) {
	s := open(t, server.Options{}, catalog(talker()))
	w := s.post(legacyBody("tools/call", `"name":"talk"`))
	for name, want := range map[string]string{"Cache-Control": "no-cache", "X-Accel-Buffering": "no"} {
		if got := w.Header.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestQuestionOfASession(t *testing.T) {
	s := open(t, server.Options{}, catalog(asker()))
	for name, c := range map[string]struct{ answer, want string }{
		"accepted":      {`"result":{"action":"accept","content":{"name":"Ada"}}`, `accept {\"name\":\"Ada\"}`},
		"declined":      {`"result":{"action":"decline"}`, `"text":"decline "`},
		"refused":       {`"error":{"code":-1,"message":"no"}`, `"isError":true`},
		"not an answer": {`"result":{"action":"maybe"}`, `"isError":true`},
	} {
		t.Run(name, func(t *testing.T) {
			id := s.session("2025-06-18", forms)
			w := s.post(legacyBody("tools/call", `"name":"ask"`), id)
			question := w.next()
			if problem := missing(question, `"id":"tenon-1"`, `"method":"elicitation/create"`, `"message":"Who is it?"`); problem != "" {
				t.Fatal(problem)
			}
			if r := s.post(`{"jsonrpc":"2.0","id":"tenon-1",`+c.answer+`}`, id); r.StatusCode != http.StatusAccepted {
				t.Error(r.Status)
			}
			if problem := missing(w.next(), `"id":1,"result"`, c.want); problem != "" {
				t.Error(problem)
			}
		})
	}
}

func TestAnswerOfAnotherSessionIsNoAnswer(t *testing.T) {
	s := open(t, server.Options{}, catalog(asker()))
	mine, other := s.session("2025-06-18", forms), s.session("2025-06-18", forms)
	w := s.post(legacyBody("tools/call", `"name":"ask"`), mine)
	w.next()
	s.post(`{"jsonrpc":"2.0","id":"tenon-1","result":{"action":"decline"}}`, other)
	s.post(`{"jsonrpc":"2.0","id":"tenon-1","result":{"action":"cancel"}}`, mine)
	if problem := missing(w.next(), `"text":"cancel "`); problem != "" {
		t.Error(problem)
	}
}

func TestNobodyToAsk(t *testing.T) {
	s := open(t, server.Options{}, catalog(asker()))
	incapable := s.session("2025-06-18", `{"sampling":{}}`)
	for name, headers := range map[string][]string{"no session": nil, "a client that cannot": {incapable}} {
		if problem := missing(s.post(legacyBody("tools/call", `"name":"ask"`), headers...).all(), `"code":-32602`); problem != "" {
			t.Errorf("%s: %s", name, problem)
		}
	}
}

func TestCancelledRequestOfASession(t *testing.T) {
	began, ended := make(chan string, 1), make(chan string, 1)
	s := open(t, server.Options{}, catalog(waiter(began, ended)))
	id := s.session("2025-06-18", "{}")
	done := make(chan *response)
	go func() { done <- s.post(legacyBody("tools/call", `"name":"wait"`), id) }()
	<-began
	s.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, id)
	<-ended
	w := <-done
	if body := w.all(); w.StatusCode != http.StatusOK || w.Header.Get("Content-Type") != "text/event-stream" || strings.Contains(body, "data:") {
		t.Errorf("a cancelled request was answered: %s %s", w.Status, body)
	}
}

func TestEndedSessionEndsItsCalls(t *testing.T) {
	began, ended := make(chan string, 1), make(chan string, 1)
	s := open(t, server.Options{}, catalog(waiter(began, ended)))
	id := s.session("2025-06-18", "{}")
	done := make(chan *response)
	go func() { done <- s.post(legacyBody("tools/call", `"name":"wait"`), id) }()
	<-began
	s.do(t.Context(), http.MethodDelete, "", id)
	<-ended
	if problem := missing((<-done).all(), "the call was cancelled"); problem != "" {
		t.Error(problem)
	}
}

// paused talks, waits until it may go on, and ends.
func paused(on <-chan struct{}) tenon.Tool {
	return tool("pause", func(_ context.Context, c *tenon.Call) (tenon.Response, error) {
		c.Log("info", "first")
		<-on
		c.Log("info", "second")
		return tenon.Response{Content: []tenon.Content{{Text: []byte("done")}}}, nil
	})
}

// place returns the id of the last event that a reader saw, and its data.
func (r *response) place() (id, data string) {
	for r.lines.Scan() {
		if v, ok := strings.CutPrefix(r.lines.Text(), "id: "); ok {
			id = v
		}
		if v, ok := strings.CutPrefix(r.lines.Text(), "data: "); ok {
			return id, v
		}
	}
	return id, ""
}

func TestClientComesBackForTheRest(t *testing.T) {
	on := make(chan struct{})
	s := open(t, server.Options{}, catalog(paused(on)))
	id := s.session("2025-11-25", "{}")
	ctx, cancel := context.WithCancel(t.Context())
	w := s.do(ctx, http.MethodPost, legacyBody("tools/call", `"name":"pause"`), id)
	if at, data := w.place(); at == "" || data != "" {
		t.Errorf("the stream begins with %q at %q, not with a place to come back to", data, at)
	}
	at, data := w.place()
	if problem := missing(data, "first"); problem != "" {
		t.Fatal(problem)
	}
	cancel()
	close(on)
	again := s.do(t.Context(), http.MethodGet, "", id, "Last-Event-ID: "+at)
	for _, want := range []string{"second", `"id":1,"result"`} {
		if problem := missing(again.next(), want); problem != "" {
			t.Error(problem)
		}
	}
	if more := again.next(); more != "" {
		t.Errorf("after the answer comes %s", more)
	}
	once := s.do(t.Context(), http.MethodGet, "", id, "Last-Event-ID: "+at)
	if problem := missing(once.all(), "second", `"id":1,"result"`); problem != "" {
		t.Errorf("the rest does not come twice: %s", problem)
	}
	for _, unknown := range []string{"99-1", "x", "-", "1", "1-x", "1--1"} {
		if w := s.do(t.Context(), http.MethodGet, "", id, "Last-Event-ID: "+unknown); w.StatusCode != http.StatusBadRequest {
			t.Errorf("%q: got %s", unknown, w.Status)
		}
	}
}

func TestPollAfterClosesTheStreamBeforeTheEnd(t *testing.T) {
	on := make(chan struct{})
	s := open(t, server.Options{PollAfter: time.Millisecond}, catalog(paused(on)))
	id := s.session("2025-11-25", "{}")
	w := s.post(legacyBody("tools/call", `"name":"pause"`), id)
	at, _ := w.place()
	if rest := w.all(); strings.Contains(rest, `"result"`) || !strings.HasPrefix(at, "1-") {
		t.Fatalf("the stream did not end early: %q, then %s", at, rest)
	}
	close(on)
	if problem := missing(s.do(t.Context(), http.MethodGet, "", id, "Last-Event-ID: "+at).all(), "first", "second", `"result"`); problem != "" {
		t.Error(problem)
	}
}

func TestStandingStreamTellsChanges(t *testing.T) {
	c := gateway.Build([]gateway.Mount{{Features: library()}}, gateway.BuildOptions{})
	s := open(t, server.Options{}, c)
	id := s.session("2025-11-25", "{}")
	s.post(legacyBody("resources/subscribe", `"uri":"shop://book/1"`), id)
	w := s.do(t.Context(), http.MethodGet, "", id)
	if at, data := w.place(); at == "" || data != "" {
		t.Errorf("the stream begins with %q at %q", data, at)
	}
	s.gateway.Notify(gateway.Event{URI: "shop://book/2"}) // nobody asked
	s.gateway.Notify(gateway.Event{URI: "shop://book/1"})
	if problem := missing(w.next(), `"method":"notifications/resources/updated","params":{"uri":"shop://book/1"}`); problem != "" {
		t.Error(problem)
	}
	s.gateway.Swap(c)
	for _, list := range []string{"tools", "resources", "prompts"} {
		if problem := missing(w.next(), `"notifications/`+list+`/list_changed"}`); problem != "" {
			t.Error(problem)
		}
	}
	s.do(t.Context(), http.MethodDelete, "", id)
	if more := w.next(); more != "" {
		t.Errorf("the session ended, and then came %s", more)
	}
}

func TestSessionsOff(t *testing.T) {
	s := open(t, server.Options{NoSessions: true}, catalog(fixtures()...))
	w := s.post(legacyBody("initialize", `"protocolVersion":"2025-11-25"`))
	if id := w.Header.Get("Mcp-Session-Id"); id != "" || w.StatusCode != http.StatusOK {
		t.Errorf("%s with session %q", w.Status, id)
	}
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		if w := s.do(t.Context(), method, "", "Mcp-Session-Id: x"); w.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s: %s", method, w.Status)
		}
	}
	if w := s.post(legacyBody("ping", ""), "Mcp-Session-Id: x"); w.StatusCode != http.StatusOK {
		t.Error(w.Status)
	}
}

func TestSessionExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(server.Options{SessionIdle: time.Minute}, fixtures()...)
		id := "Mcp-Session-Id: " + answer(s, post(legacyBody("initialize", `"protocolVersion":"2025-11-25"`))).Header().Get("Mcp-Session-Id")
		for _, c := range []struct {
			after time.Duration
			want  int
		}{{59 * time.Second, 200}, {59 * time.Second, 200}, {61 * time.Second, 404}, {0, 404}} {
			time.Sleep(c.after)
			if got := answer(s, post(legacyBody("ping", ""), id)).Code; got != c.want {
				t.Errorf("after %v: got %d, want %d", c.after, got, c.want)
			}
		}
	})
}

func TestSessionsAreBounded(t *testing.T) {
	s := open(t, server.Options{MaxSessions: 2}, catalog(fixtures()...))
	first, second, third := s.session("2025-11-25", "{}"), s.session("2025-11-25", "{}"), s.session("2025-11-25", "{}")
	for i, id := range []string{first, second, third} {
		want := http.StatusOK
		if i == 0 {
			want = http.StatusNotFound
		}
		if w := s.post(legacyBody("ping", ""), id); w.StatusCode != want {
			t.Errorf("session %d: %s", i+1, w.Status)
		}
	}
}

func TestSetLevel(t *testing.T) {
	s := open(t, server.Options{}, catalog(talker()))
	id := s.session("2025-11-25", "{}")
	for level, want := range map[string]int{"debug": 2, "info": 1, "warning": 0} {
		s.post(legacyBody("logging/setLevel", `"level":"`+level+`"`), id)
		if got := strings.Count(s.post(legacyBody("tools/call", `"name":"talk"`), id).all(), "notifications/message"); got != want {
			t.Errorf("%s: %d messages, want %d", level, got, want)
		}
	}
	if problem := missing(s.post(legacyBody("logging/setLevel", `"level":"loud"`), id).all(), `"code":-32602`); problem != "" {
		t.Error(problem)
	}
}
