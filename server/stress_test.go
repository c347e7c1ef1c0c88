package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/server"
)

// stressTime is how long TestStress runs: TENON_STRESS, else so short that it
// only shows that it works.
func stressTime(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("TENON_STRESS")
	if text == "" {
		return 2 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("TENON_STRESS is a time such as 50s: %v", err)
	}
	return d
}

// stressTools are tools that do all that a handler may do, and what it should
// not.
func stressTools() []tenon.Tool {
	parted := tool("parted", func(context.Context, *tenon.Call) (tenon.Response, error) {
		list := `{"items":[` + strings.Repeat(`{"name":"an item of a list"},`, 400) + `{}]}`
		return tenon.Response{Status: 200, MediaType: "application/json", Body: []byte(list)}, nil
	})
	parted.Policy, parted.Envelope, parted.MaxResult = tenon.Warn, tenon.OpenAPIMCP, 2000
	return append(fixtures(), talker(), asker(), parted, large(300<<10),
		tool("panics", func(_ context.Context, c *tenon.Call) (tenon.Response, error) {
			c.Log("info", "about to")
			panic("on purpose")
		}),
		tool("slow", func(ctx context.Context, c *tenon.Call) (tenon.Response, error) {
			select {
			case <-time.After(20 * time.Millisecond):
			case <-ctx.Done():
				return tenon.Response{}, ctx.Err()
			}
			if bytes.Contains(c.Args, []byte("panic")) {
				panic("in a task")
			}
			return tenon.Response{MediaType: "application/json", Body: c.Args}, nil
		}))
}

// stress is one run of everything at once.
type stress struct {
	*stand
	seen [12]atomic.Int64 // how often each step was taken
	ids  atomic.Int64
}

// body sends a request and returns all of its answer; empty: it was cut off.
func (s *stress) body(ctx context.Context, method, text string, headers ...string) (body string, header http.Header) {
	r, err := http.NewRequestWithContext(ctx, method, s.url, strings.NewReader(text))
	if err != nil {
		s.t.Error(err)
		return "", nil
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", nil
	}
	defer w.Body.Close()
	b, err := io.ReadAll(w.Body)
	if err != nil {
		return "", w.Header
	}
	return string(b), w.Header
}

// echoed makes a call whose answer has to be its own, byte by byte.
func (s *stress) echoed(ctx context.Context, random *rand.Rand, headers ...string) {
	id := s.ids.Add(1)
	value := fmt.Sprintf(`{"n":%d,"text":"%s"}`, id, strings.Repeat("é\\n", random.IntN(20_000)))
	body, _ := s.body(ctx, http.MethodPost, asked(fmt.Sprint(id), "tools/call", `"name":"echo","arguments":`+value), headers...)
	if diff := missing(body, fmt.Sprintf(`"id":%d,"result"`, id), `"structuredContent":`+value); diff != "" && ctx.Err() == nil {
		s.t.Errorf("%.300s", diff)
	}
}

// parts asks for all parts of an answer.
func (s *stress) parts(ctx context.Context) {
	arguments, items := `{}`, 0
	for range 100 {
		body, _ := s.body(ctx, http.MethodPost, legacyBody("tools/call", `"name":"parted","arguments":`+arguments))
		var m struct {
			Result struct {
				StructuredContent struct {
					Data  struct{ Items []json.RawMessage }
					Token string `json:"resume_token"`
				}
			}
		}
		if json.Unmarshal([]byte(body), &m) != nil {
			s.t.Errorf("no JSON: %.300s", body)
			return
		}
		items += len(m.Result.StructuredContent.Data.Items)
		if m.Result.StructuredContent.Token == "" {
			if items != 401 {
				s.t.Errorf("%d items in all parts: %.500s", items, body)
			}
			return
		}
		arguments = `{"resume_token":"` + m.Result.StructuredContent.Token + `"}`
	}
	s.t.Error("the parts have no end")
}

// task makes a call that becomes a task, and follows or cancels it.
func (s *stress) task(ctx context.Context, random *rand.Rand) {
	arguments := []string{`{"x":1}`, `{"panic":1}`}[random.IntN(2)]
	send := func(method, name, params string) string {
		body, _ := s.body(ctx, http.MethodPost, withMeta("1", method, params, taskClient, ""), "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: "+method, "Mcp-Name: "+name)
		return body
	}
	_, rest, ok := strings.Cut(send("tools/call", "slow", `"name":"slow","arguments":`+arguments), `"taskId":"`)
	id, _, _ := strings.Cut(rest, `"`)
	if !ok {
		return // it had ended already
	}
	if random.IntN(3) == 0 {
		send("tasks/cancel", id, `"taskId":"`+id+`"`)
	}
	for range 1000 {
		if body := send("tasks/get", id, `"taskId":"`+id+`"`); !strings.Contains(body, `"status":"working"`) {
			if !strings.Contains(body, `"status":`) {
				s.t.Errorf("%.300s", body)
			}
			return
		}
	}
	s.t.Error("a task has no end")
}

// left makes a request and goes away.
func (s *stress) left(ctx context.Context, random *rand.Rand, headers ...string) {
	ctx, leave := context.WithTimeout(ctx, time.Duration(random.IntN(30))*time.Millisecond)
	defer leave()
	method := http.MethodPost
	text := legacyBody("tools/call", `"name":"`+[]string{"slow", "large", "talk", "panics"}[random.IntN(4)]+`"`)
	if len(headers) > 0 && random.IntN(2) == 0 {
		method, text = http.MethodGet, ""
	}
	s.body(ctx, method, text, headers...)
}

func (s *stress) subscribe(ctx context.Context, random *rand.Rand) {
	ctx, leave := context.WithTimeout(ctx, time.Duration(random.IntN(50))*time.Millisecond)
	defer leave()
	s.body(ctx, http.MethodPost, withMeta("1", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`, "{}", ""),
		"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: subscriptions/listen")
}

// lists goes through all pages; a reload in between may end that, no more.
func (s *stress) lists(ctx context.Context) {
	cursor := ""
	for {
		body, _ := s.body(ctx, http.MethodPost, legacyBody("tools/list", cursor))
		_, rest, more := strings.Cut(body, `"nextCursor":"`)
		if !strings.Contains(body, `"tools":[`) && !strings.Contains(body, "the list has changed") && ctx.Err() == nil {
			s.t.Errorf("%.300s", body)
		}
		if !more {
			return
		}
		next, _, _ := strings.Cut(rest, `"`)
		cursor = `"cursor":"` + next + `"`
	}
}

// client does one thing after the other, at random, until time is up.
func (s *stress) client(until time.Time, catalogs []*gateway.Catalog, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 1))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	session := ""
	for time.Now().Before(until) {
		step := random.IntN(len(s.seen))
		s.seen[step].Add(1)
		switch step {
		case 0:
			s.gateway.Swap(catalogs[random.IntN(len(catalogs))])
		case 1:
			if session != "" {
				s.body(ctx, http.MethodDelete, "", session)
			}
			_, h := s.body(ctx, http.MethodPost, legacyBody("initialize", `"protocolVersion":"2025-11-25"`))
			session = "Mcp-Session-Id: " + h.Get("Mcp-Session-Id")
		case 2:
			s.echoed(ctx, random)
		case 3:
			if session != "" {
				s.echoed(ctx, random, session)
			}
		case 4:
			s.parts(ctx)
		case 5:
			s.task(ctx, random)
		case 6:
			s.left(ctx, random)
		case 7:
			if session != "" {
				s.left(ctx, random, session)
			}
		case 8:
			s.subscribe(ctx, random)
		case 9:
			s.lists(ctx)
		case 10:
			if session != "" {
				s.body(ctx, http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, session)
			}
			if body, _ := s.body(ctx, http.MethodPost, legacyBody("tools/call", `"name":"panics"`)); !strings.Contains(body, "incident") {
				s.t.Errorf("%.300s", body)
			}
		case 11:
			batch := "[" + asked("1", "tools/call", `"name":"large"`) + "," + asked("2", "tools/call", `"name":"echo","arguments":{"b":2}`) + "]"
			if body, _ := s.body(ctx, http.MethodPost, batch); !json.Valid([]byte(body)) || !strings.Contains(body, `"id":2,"result"`) {
				s.t.Errorf("%.300s", body)
			}
		}
	}
	if session != "" {
		s.body(ctx, http.MethodDelete, "", session)
	}
}

// settles waits until what is counted has come down.
func settles(t *testing.T, what string, most int64, count func() int64) {
	t.Helper()
	var n int64
	for range 600 {
		if n = count(); n <= most {
			return
		}
		runtime.GC()
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("%s: %d are left, want at most %d", what, n, most)
}

// TestStress has many clients do everything at once, while the catalog is
// replaced: every answer belongs to its request and has its bytes, and in the
// end nothing is held: no place, no byte, no goroutine, no descriptor. It needs
// the race detector to show all that it can show.
func TestStress(t *testing.T) {
	transport, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		t.Fatal("another transport")
	}
	transport.CloseIdleConnections()
	descriptors := func() int64 {
		all, _ := filepath.Glob("/proc/self/fd/*")
		return int64(len(all))
	}
	goroutines, files := int64(runtime.NumGoroutine()), descriptors()
	catalogs := []*gateway.Catalog{catalog(stressTools()...), catalog(append(stressTools(), many(1200, strings.Repeat("x", 1000))...)...)}
	g := gateway.New(catalogs[0], gateway.Options{})
	srv := server.New(g, server.Options{
		MaxConcurrent: 64, MaxPerCaller: 64, MaxSessions: 64, TaskAfter: 10 * time.Millisecond, MaxInFlight: 1 << 30, PollAfter: 15 * time.Millisecond,
	})
	web := httptest.NewServer(srv)
	s := &stress{stand: &stand{t: t, url: web.URL, gateway: g, server: srv}}
	until := time.Now().Add(stressTime(t))
	var clients sync.WaitGroup
	for seed := range 12 {
		clients.Go(func() { s.client(until, catalogs, uint64(seed)) })
	}
	clients.Wait()
	settles(t, "bytes and places in flight", 0, func() int64 {
		answers, messages, calls := srv.InFlight()
		return answers + messages + calls
	})
	settles(t, "subscriptions and streams", 0, func() int64 {
		_, subscriptions, streams := srv.Standing()
		return subscriptions + streams
	})
	if err := srv.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	settles(t, "bytes kept for streams", 0, srv.Held)
	web.Close()
	transport.CloseIdleConnections()
	settles(t, "goroutines", goroutines+2, func() int64 { return int64(runtime.NumGoroutine()) })
	if files > 0 {
		settles(t, "descriptors", files+2, descriptors)
	}
	for i := range s.seen {
		if s.seen[i].Load() == 0 {
			t.Logf("step %d was never taken", i)
		}
	}
}
