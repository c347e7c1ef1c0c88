package server_test

import (
	"bytes"
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
	"github.com/tenon-mcp/tenon/server"
)

// A reader that is slower than what is sent misses events, which are bounded,
// but none that it gets is empty or out of order, and the answer always comes.
func TestSlowReaderOfAStreamSeesWholeEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const notes = 5000
		chatter := tool("chatter", func(_ context.Context, c *tenon.Call) (tenon.Response, error) {
			for i := range notes {
				c.Log("info", fmt.Sprintf("note %d %s", i, strings.Repeat("x", 500)))
			}
			return tenon.Response{Content: []tenon.Content{{Text: []byte("the end")}}}, nil
		})
		s := serve(server.Options{PollAfter: time.Hour}, chatter)
		id := opened(s)
		read := make(chan struct{})
		w := &unread{httptest.NewRecorder(), read}
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.ServeHTTP(w, post(legacyBody("tools/call", `"name":"chatter"`), id))
		}()
		synctest.Wait() // all is sent, and the buffer was trimmed
		close(read)
		<-done
		last, events := 0, 0
		for part := range strings.SplitSeq(w.Body.String(), "\n\n") {
			var at, number int
			if _, err := fmt.Sscanf(part[strings.Index(part+"id: ", "id: "):], "id: %d-%d", &at, &number); err != nil {
				continue
			}
			_, data, _ := strings.Cut(part, "data: ")
			primes := events == 0 && data == "" // the place before the first event that is still there
			if number > 0 && !primes && (number <= last || data == "") {
				t.Fatalf("event %d after %d has the data %.50q", number, last, data)
			}
			last = number
			events++
		}
		if !strings.Contains(w.Body.String(), "the end") || last != notes+1 || events > 2100 {
			t.Errorf("%d events, the last is %d", events, last)
		}
	})
}

// The standing stream can be come back to: what changed meanwhile is told, and
// the end of the old connection does not end the new one.
func TestClientComesBackToTheStandingStream(t *testing.T) {
	c := gateway.Build([]gateway.Mount{{Features: library()}}, gateway.BuildOptions{})
	s := open(t, server.Options{}, c)
	id := s.session("2025-11-25", "{}")
	s.post(legacyBody("resources/subscribe", `"uri":"shop://book/1"`), id)
	ctx, leave := context.WithCancel(t.Context())
	first := s.do(ctx, http.MethodGet, "", id)
	at, _ := first.place()

	// The old connection is still open when the client comes back.
	again := s.do(t.Context(), http.MethodGet, "", id, "Last-Event-ID: "+at)
	if place, _ := again.place(); place != at {
		t.Fatalf("the stream goes on at %q, not at %q", place, at)
	}
	leave()
	s.gateway.Notify(gateway.Event{URI: "shop://book/1"})
	at, data := again.place()
	if diff := missing(data, "resources/updated", "shop://book/1"); diff != "" {
		t.Fatal(diff)
	}
	_ = again.Body.Close()

	// A change while nobody is connected.
	s.gateway.Swap(c)
	third := s.do(t.Context(), http.MethodGet, "", id, "Last-Event-ID: "+at)
	third.place()
	for _, list := range []string{"tools", "resources", "prompts"} {
		if diff := missing(third.next(), `"notifications/`+list+`/list_changed"}`); diff != "" {
			t.Error(diff)
		}
	}
	if w := s.post(legacyBody("ping", ""), id); w.StatusCode != http.StatusOK {
		t.Error(w.Status)
	}
}

// Standing streams that clients leave behind do not add up, nor do those that
// are open.
func TestStandingStreamsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(server.Options{MaxSessions: 16}, fixtures()...)
		id := opened(s)
		var clients sync.WaitGroup
		ctx, leave := context.WithCancel(t.Context())
		refused := 0
		for range 20 {
			r := post("", id).WithContext(ctx)
			r.Method = http.MethodGet
			w := httptest.NewRecorder()
			clients.Go(func() { s.ServeHTTP(w, r) })
			synctest.Wait()
			if w.Code == http.StatusServiceUnavailable {
				refused++
			}
		}
		if _, _, streams := s.Standing(); streams != 8 || refused != 12 {
			t.Errorf("%d streams are open, %d were refused", streams, refused)
		}
		leave()
		clients.Wait()
		for range 100 {
			ctx, leave := context.WithCancel(t.Context())
			r := post("", id).WithContext(ctx)
			r.Method = http.MethodGet
			clients.Go(func() { answer(s, r) })
			synctest.Wait()
			leave()
			clients.Wait()
		}
		if _, _, streams := s.Standing(); streams != 0 || s.Kept(id) > 1 {
			t.Errorf("%d streams are open, %d are kept", streams, s.Kept(id))
		}
	})
}

// A session that ended keeps nothing of what its calls still say.
func TestEndedSessionKeepsNothing(t *testing.T) {
	for _, o := range []server.Options{{}, {PollAfter: time.Hour}} {
		synctest.Test(t, func(t *testing.T) {
			on := make(chan struct{})
			late := tool("late", func(_ context.Context, c *tenon.Call) (tenon.Response, error) {
				<-on
				for range 10 {
					c.Log("info", strings.Repeat("x", 1000))
				}
				return tenon.Response{Content: []tenon.Content{{Text: []byte(strings.Repeat("x", 100_000))}}}, nil
			})
			s := serve(o, late)
			id := opened(s)
			done := make(chan struct{})
			go func() { answer(s, post(legacyBody("tools/call", `"name":"late"`), id)); close(done) }()
			synctest.Wait()
			end := post("", id)
			end.Method = http.MethodDelete
			answer(s, end)
			close(on)
			<-done
			synctest.Wait()
			if answers, messages, calls := s.InFlight(); s.Held() != 0 || answers+messages+calls != 0 {
				t.Errorf("%d bytes are kept, %d and %d are on their way, %d places are held", s.Held(), answers, messages, calls)
			}
		})
	}
}

// A client that leaves before it could learn where to come back to leaves
// nothing behind, and neither does one that never comes back once its session
// ends.
func TestAnswersThatNobodyFetchesAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		on := make(chan struct{})
		s := serve(server.Options{PollAfter: time.Second}, tool("large", func(_ context.Context, c *tenon.Call) (tenon.Response, error) {
			if bytes.Contains(c.Args, []byte("loud")) {
				c.Log("info", "first")
			}
			<-on
			return tenon.Response{Content: []tenon.Content{{Text: []byte(strings.Repeat("x", 3<<20))}}}, nil
		}))
		id := opened(s)
		ctx, leave := context.WithCancel(t.Context())
		var clients sync.WaitGroup
		for range 5 {
			clients.Go(func() { answer(s, post(legacyBody("tools/call", `"name":"large"`), id).WithContext(ctx)) })
		}
		for range 5 {
			clients.Go(func() {
				answer(s, post(legacyBody("tools/call", `"name":"large","arguments":{"loud":1}`), id))
			})
		}
		synctest.Wait()
		leave()
		close(on)
		clients.Wait()
		synctest.Wait()
		answers, _, calls := s.InFlight()
		if held := s.Held(); answers+calls != 0 || held > 16<<20 {
			t.Errorf("%d bytes on their way, %d places, %d bytes kept", answers, calls, held)
		}
		end := post("", id)
		end.Method = http.MethodDelete
		answer(s, end)
		if s.Held() != 0 {
			t.Errorf("%d bytes are kept", s.Held())
		}
		time.Sleep(time.Minute)
	})
}
