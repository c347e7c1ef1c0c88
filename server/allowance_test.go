package server_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/server"
)

// full is an admission that admits nothing, but for three seconds later.
type full struct{ asked atomic.Int64 }

func (f *full) Admit(context.Context, gateway.Attempt) (func(), error) {
	f.asked.Add(1)
	return nil, &tenon.Error{Code: tenon.CodeRateLimited, Message: "Enough.", RetryAfter: 3 * time.Second}
}

// known says who sends a request by a header.
func known(r *http.Request) (context.Context, string, error) {
	return r.Context(), r.Header.Get("X-Api-Key"), nil
}

func serveWithContent(o server.Options, g gateway.Options) *server.Server {
	c := gateway.Build([]gateway.Mount{{Name: "test", Features: tenon.Features{
		Tools: []tenon.Tool{echo(), lasting()},
		Resources: []tenon.Resource{{URI: "a:b", Name: "r", Read: func(context.Context, string, *tenon.Call) ([]tenon.Content, error) {
			return []tenon.Content{{Text: []byte("read")}}, nil
		}}},
		Prompts: []tenon.Prompt{{
			Name: "p", Get: func(context.Context, map[string]string, *tenon.Call) ([]tenon.PromptMessage, error) { return nil, nil },
			Complete: func(context.Context, string, string, map[string]string) ([]string, error) { return []string{"x"}, nil },
		}},
	}}}, gateway.BuildOptions{})
	return server.New(gateway.New(c, g), o)
}

// A call above a limit is a result that says when to come again; what is no call of a
// tool is answered with a JSON-RPC error and status 429. Lists are free.
func TestALimitThatIsReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &full{}
		s := serveWithContent(server.Options{}, gateway.Options{Admission: []gateway.Admission{f}})
		session := opened(s)
		result := []string{`"isError":true`, `"executed":"no","retry":"safe","retry_after":3`}
		refused := []string{`"error":{"code":-32603,"message":"Enough.","data":{"code":"rate_limited","retry_after":3}}`}
		for _, c := range []struct {
			r    *http.Request
			code int
			want []string
		}{
			{postModern("tools/call", "echo", `"name":"echo"`), 200, result},
			{post(legacyBody("tools/call", `"name":"echo"`)), 200, result},
			{post(legacyBody("tools/call", `"name":"echo"`), session), 200, result},
			{post(withMeta("1", "tools/call", `"name":"last","arguments":{}`, taskClient, ""), "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: last"), 200, result},
			{postModern("tools/call", "none", `"name":"none"`), 429, refused},
			{postModern("resources/read", "a:b", `"uri":"a:b"`), 429, refused},
			{postModern("prompts/get", "p", `"name":"p"`), 429, refused},
			{post(legacyBody("prompts/get", `"name":"p"`), session), 429, refused},
			{postModern("completion/complete", "", `"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}`), 429, refused},
		} {
			w := answer(s, c.r)
			if problem := missing(w.Body.String(), c.want...); w.Code != c.code || problem != "" || c.code == 429 && w.Header().Get("Retry-After") != "3" {
				t.Errorf("%d %v %s", w.Code, w.Header(), problem)
			}
		}
		if n := f.asked.Load(); n != 9 {
			t.Errorf("%d attempts", n)
		}
		for _, method := range []string{"tools/list", "resources/list", "prompts/list"} {
			if w := answer(s, postModern(method, "", "")); w.Code != 200 || strings.Contains(w.Body.String(), "retry_after") {
				t.Error(method, w.Body)
			}
		}
		w := httptest.NewRecorder()
		s.JSONRPC().ServeHTTP(w, post(legacyBody("tools/call", `"name":"echo"`)))
		if problem := missing(w.Body.String(), `"error":{"code":"rate_limited","message":"Enough.","details":{"retry_after":3}`); w.Code != 200 || problem != "" {
			t.Error(w.Code, problem)
		}
		w = httptest.NewRecorder()
		s.JSONRPC().ServeHTTP(w, post(legacyBody("tools/call", `"name":"none"`)))
		if problem := missing(w.Body.String(), refused...); w.Code != 429 || problem != "" {
			t.Error(w.Code, problem)
		}
		if _, _, calls := s.InFlight(); calls != 0 {
			t.Errorf("%d places are lost", calls)
		}
	})
}

// Answers that refuse come at once for a while and then at a pace, whatever names or
// sessions the caller takes; those of others do not wait, and no call has a place
// meanwhile.
func TestRefusedCallsAreSlowedDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveWithContent(server.Options{Authenticate: known, ForwardHeaders: []string{"X-Credential"}}, gateway.Options{Admission: []gateway.Admission{&full{}}})
		flood := func(n int, headers ...string) time.Duration {
			began, done := time.Now(), make(chan struct{}, n)
			for range n {
				go func() {
					answer(s, post(legacyBody("tools/call", `"name":"echo"`), headers...))
					done <- struct{}{}
				}()
			}
			synctest.Wait()
			if _, _, calls := s.InFlight(); calls != 0 {
				t.Errorf("%d places are held", calls)
			}
			for range n {
				<-done
			}
			return time.Since(began)
		}
		if d := flood(20, "X-Api-Key: ann"); d != 0 {
			t.Errorf("the first wait for %v", d)
		}
		if d := flood(50, "X-Api-Key: ann"); d != 500*time.Millisecond {
			t.Errorf("fifty more wait for %v", d)
		}
		if d := flood(1, "X-Api-Key: bob"); d != 0 {
			t.Errorf("another caller waits for %v", d)
		}
		if d := flood(1000, "X-Api-Key: ann"); d != time.Second {
			t.Errorf("very many more wait for %v", d)
		}
		time.Sleep(2 * time.Second)
		if d := flood(20, "X-Api-Key: ann"); d != 0 {
			t.Errorf("after a pause they wait for %v", d)
		}
		flood(20)
		if d := flood(1, opened(s)); d == 0 {
			t.Error("a session is another caller")
		}
		if d := flood(1, "X-Credential: other"); d == 0 {
			t.Error("an invented credential is another caller")
		}
	})
}

// A caller has as many sessions as the operator allows: one that was not used for a
// minute makes space, else the next is refused.
func TestAllowedSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveWithContent(server.Options{Authenticate: known, Allowance: func(ctx context.Context) server.Allowance { return server.Allowance{Sessions: 2} }}, gateway.Options{})
		open := func(key string) *httptest.ResponseRecorder {
			return answer(s, post(legacyBody("initialize", `"protocolVersion":"2025-11-25"`), "X-Api-Key: "+key))
		}
		use := func(w *httptest.ResponseRecorder) int {
			return answer(s, post(legacyBody("ping", ""), "X-Api-Key: ann", "Mcp-Session-Id: "+w.Header().Get("Mcp-Session-Id"))).Code
		}
		first := open("ann")
		time.Sleep(20 * time.Second)
		second := open("ann")
		w := open("ann")
		if problem := missing(w.Body.String(), `"id":1,"error":{"code":-32603`, `"retry_after":40`, "allows 2 sessions"); w.Code != 429 || w.Header().Get("Retry-After") != "40" || w.Header().Get("Mcp-Session-Id") != "" || problem != "" {
			t.Error(w.Code, w.Header(), problem)
		}
		if w := open("bob"); w.Code != 200 || w.Header().Get("Mcp-Session-Id") == "" {
			t.Error("another caller has no session", w.Body)
		}
		time.Sleep(40 * time.Second)
		if use(second) != 200 {
			t.Error("a session ended that was used")
		}
		if w := open("ann"); w.Header().Get("Mcp-Session-Id") == "" || use(first) != 404 || use(second) != 200 {
			t.Error("the session that was not used did not make space", w.Body)
		}
	})
}

// A caller has as many tasks under way as the operator allows; observers see what is
// refused. A task that has ended makes space, and so does one that is cancelled.
func TestAllowedTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &refusals{}
		s := serveWithContent(server.Options{Allowance: func(context.Context) server.Allowance { return server.Allowance{Tasks: 1} }}, gateway.Options{Observers: []gateway.Observer{o}})
		again := func() string {
			return exchange(s, "tools/call", "last", `"name":"last","arguments":{"end":"value"}`, taskClient)
		}
		began := time.Now()
		begin(t, s, "value")
		if problem := missing(again(), `"isError":true`, `"executed":"no"`, `"retry_after":1`, "allows 1 tasks at a time"); problem != "" || o.n != 1 {
			t.Error(problem, o.n)
		}
		if w := answer(s, postModern("tools/call", "echo", `"name":"echo"`)); strings.Contains(w.Body.String(), "isError") {
			t.Error("a client without tasks is refused", w.Body)
		}
		time.Sleep(20*time.Second - time.Since(began))
		synctest.Wait()
		id := begin(t, s, "value")
		exchange(s, "tasks/cancel", id, `"taskId":"`+id+`"`, taskClient)
		synctest.Wait()
		begin(t, s, "value")
		time.Sleep(time.Minute)
	})
}

// refusals counts calls that a limit refused.
type refusals struct{ n int }

func (r *refusals) ObserveCall(_ context.Context, c *gateway.CallRecord) {
	if c.Code() == tenon.CodeRateLimited {
		r.n++
	}
}

// What a caller may hold of the bytes of answers is the operator's word, also against
// the share that everybody has.
func TestAllowedBytes(t *testing.T) {
	big := tool("big", func(context.Context, *tenon.Call) (tenon.Response, error) {
		return tenon.Response{MediaType: "application/json", Body: []byte(`"` + strings.Repeat("x", 300<<10) + `"`)}, nil
	})
	for allowed, together := range map[int64]int{0: 6, 400 << 10: 1, -1: 11, 1 << 40: 11} {
		synctest.Test(t, func(t *testing.T) {
			c := gateway.Build([]gateway.Mount{{Name: "test", Features: tenon.Features{Tools: []tenon.Tool{big}}}}, gateway.BuildOptions{})
			s := server.New(gateway.New(c, gateway.Options{}), server.Options{
				Authenticate: known, MaxInFlight: 8 << 20, Allowance: func(context.Context) server.Allowance { return server.Allowance{Bytes: allowed} },
			})
			read := make(chan struct{})
			writing := make(chan struct{}, 20)
			for range 20 {
				go func() {
					s.ServeHTTP(&slowWriter{ResponseRecorder: httptest.NewRecorder(), writing: writing, read: read}, post(legacyBody("tools/call", `"name":"big"`), "X-Api-Key: ann"))
				}()
			}
			synctest.Wait()
			if n := len(writing); n != together {
				t.Errorf("%d bytes allowed: %d answers at a time", allowed, n)
			}
			close(read)
			synctest.Wait()
			if answers, messages, calls := s.InFlight(); answers+messages+calls != 0 {
				t.Errorf("%d bytes of answers, %d of messages, %d calls stay", answers, messages, calls)
			}
		})
	}
}

// slowWriter is a client that does not read before it is told to.
type slowWriter struct {
	*httptest.ResponseRecorder

	writing chan<- struct{}
	read    <-chan struct{}
	begun   bool
}

func (w *slowWriter) Write(p []byte) (int, error) {
	if !w.begun && len(w.Header().Get("Content-Length")) == len("300000") { // else it says why there is no answer
		w.begun = true
		w.writing <- struct{}{}
		<-w.read
	}
	return w.ResponseRecorder.Write(p)
}
