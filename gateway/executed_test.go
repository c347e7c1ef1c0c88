package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/gofunc"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/openapi"
	"github.com/tenon-mcp/tenon/server"
)

// The first sentence of a failure by what happened.
const (
	saysExecuted = "This call was executed and must not be repeated as it is. "
	saysUnknown  = "It is not known whether this call was executed: it must not be repeated before that is checked. "
)

// troubles are the ways in which an upstream fails: what the client is told
// after a request that changes something and is not idempotent, and whether
// the upstream saw it.
var troubles = []struct {
	name     string
	executed string
	seen     int
}{
	{"refused", "no", 0},
	{"reset", "unknown", 1},
	{"cut", "unknown", 1}, // reset after the headers
	{"slow", "unknown", 1},
	{"broken", "yes", 1}, // 503
	{"syntax", "yes", 1},
	{"violation", "yes", 1},
}

// retold is what must be said for a method, given what is true for a POST.
func retold(method, executed string) (toldExecuted, retry, says string) {
	switch {
	case method == "get":
		return executed, "safe", ""
	case method == "put" || executed == "no":
		return executed, "safe", ""
	case executed == "yes":
		return "yes", "unsafe", saysExecuted
	}
	return "unknown", "unsafe", saysUnknown
}

// misbehaving is an upstream that does what its path says and counts requests.
type misbehaving struct {
	mu   sync.Mutex
	seen map[string]int // by method and path
}

func (m *misbehaving) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	m.seen[strings.ToLower(r.Method)+r.URL.Path]++
	m.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/reset":
		hangUp(w, "")
	case "/cut":
		hangUp(w, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{")
	case "/slow":
		<-r.Context().Done()
	case "/broken":
		w.WriteHeader(http.StatusServiceUnavailable)
	case "/syntax":
		_, _ = w.Write([]byte(`{"n":`))
	case "/violation":
		_, _ = w.Write([]byte(`{"n":"x"}`))
	}
}

// hangUp says something and resets the connection.
func hangUp(w http.ResponseWriter, said string) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	_, _ = conn.Write([]byte(said))
	if tcp, ok := conn.(*net.TCPConn); ok && said == "" {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// count returns how often the upstream saw a request, and forgets it.
func (m *misbehaving) count(method, path string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.seen[method+path]
	delete(m.seen, method+path)
	return n
}

// troubled are the tools of a document that contracts the best.
func troubled(t *testing.T, s tenon.Envelope, baseURL string) tenon.Features {
	var paths []string
	for _, trouble := range troubles {
		var methods []string
		for _, method := range []string{"get", "put", "post"} {
			methods = append(methods, fmt.Sprintf(`%q:{"operationId":"%s_%s","responses":{"200":{"description":"","content":{"application/json":{"schema":%s}}}}}`,
				method, method, trouble.name, numberSchema))
		}
		paths = append(paths, `"/`+trouble.name+`":{`+strings.Join(methods, ",")+`}`)
	}
	document := `{"openapi":"3.1.0","info":{"title":"trouble","version":"1"},"paths":{` + strings.Join(paths, ",") + `}}`
	client, err := egress.NewClient(egress.Options{AllowHosts: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	offer, err := openapi.Parse("trouble", []byte(document), openapi.Options{Client: client, BaseURL: baseURL, Policy: tenon.Enforce, Envelope: s, Confirm: tenon.ConfirmOff})
	if err != nil || len(offer.Diagnostics) > 0 {
		t.Fatal(err, offer.Diagnostics)
	}
	return offer
}

// impatient is a timeout within which a call begins on any machine that is not busy.
const impatient = 200 * time.Millisecond

// TestExecutedAgreesWithTheUpstream has every trouble with every kind of
// request, in every envelope and revision, over HTTP on both sides. What is said
// of the call is held against what the upstream counted.
func TestExecutedAgreesWithTheUpstream(t *testing.T) {
	m := &misbehaving{seen: map[string]int{}}
	upstream := httptest.NewServer(m)
	defer upstream.Close()
	gone := httptest.NewServer(m)
	gone.Close()
	for _, s := range allEnvelopes {
		here, away := troubled(t, s, upstream.URL), troubled(t, s, gone.URL)
		var offer tenon.Features
		for i, tool := range here.Tools {
			if strings.HasSuffix(tool.Name, "refused") {
				tool = away.Tools[i]
			}
			offer.Tools = append(offer.Tools, tool)
		}
		catalog := gateway.Build([]gateway.Mount{{Features: offer}}, gateway.BuildOptions{})
		within := func(timeout time.Duration) *server.Server {
			return server.New(gateway.New(catalog, gateway.Options{Timeout: timeout}), server.Options{NoSessions: true})
		}
		unhurried := within(time.Minute)
		for _, trouble := range troubles {
			for _, method := range []string{"get", "put", "post"} {
				for _, revision := range revisions {
					t.Run(strings.Join([]string{string(s), trouble.name, method, revision}, " "), func(t *testing.T) {
						transport := unhurried
						if trouble.name == "slow" {
							transport = within(impatient)
						}
						res := callOver(t, transport, revision, method+"_"+trouble.name)
						seen := m.count(method, "/"+trouble.name)
						for timeout := 4 * impatient; trouble.name == "slow" && seen == 0 && timeout < time.Minute; timeout *= 4 { // a busy machine
							res = callOver(t, within(timeout), revision, method+"_"+trouble.name)
							seen = m.count(method, "/"+trouble.name)
						}
						executed, retry, says := retold(method, trouble.executed)
						res.check(t, executed, retry, says)
						if s == tenon.OpenAPIMCP {
							if method == "get" {
								executed = "no" // there was nothing to change
							}
							res.checkNext(t, executed, retry)
						}
						if method != "get" && seen != trouble.seen || (seen == 0) != (trouble.seen == 0) {
							t.Errorf("the upstream saw it %d times, want %d", seen, trouble.seen)
						}
					})
				}
			}
		}
	}
}

// TestExecutedOfFunctions has the ways in which a function ends.
func TestExecutedOfFunctions(t *testing.T) {
	type none struct{}
	const slow = "unknown: it takes too long"
	var began atomic.Bool
	ways := map[string]func(context.Context, none) (map[string]int, error){
		"yes: it returns an error": func(context.Context, none) (map[string]int, error) { return nil, errors.New("no such thing") },
		"unknown: it panics":       func(context.Context, none) (map[string]int, error) { panic("inside") },
		slow: func(ctx context.Context, _ none) (map[string]int, error) {
			began.Store(true)
			<-ctx.Done()
			return nil, ctx.Err()
		},
	}
	yes := true
	for method, hints := range map[string]tenon.Annotations{"get": {ReadOnly: &yes}, "put": {Idempotent: &yes}, "post": {}} {
		for name, way := range ways {
			executed, _, _ := strings.Cut(name, ":")
			offer, err := gofunc.Functions{gofunc.Func("f", "", way).With(gofunc.Options{Annotations: hints})}.Load(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range allEnvelopes {
				offer.Tools[0].Envelope = s
				catalog := gateway.Build([]gateway.Mount{{Features: offer}}, gateway.BuildOptions{Configure: func(_ string, t *tenon.Tool) { t.Confirmation.Mode = tenon.ConfirmOff }})
				within := func(timeout time.Duration) *server.Server {
					return server.New(gateway.New(catalog, gateway.Options{Timeout: timeout}), server.Options{NoSessions: true})
				}
				for _, revision := range revisions {
					t.Run(strings.Join([]string{name, method, string(s), revision}, " "), func(t *testing.T) {
						executed, retry, says := retold(method, executed)
						if name != slow {
							callOver(t, within(time.Minute), revision, "f").check(t, executed, retry, says)
							return
						}
						began.Store(false)
						res := callOver(t, within(impatient/4), revision, "f")
						for timeout := impatient; !began.Load() && timeout < time.Minute; timeout *= 4 { // a busy machine
							res = callOver(t, within(timeout), revision, "f")
						}
						res.check(t, executed, retry, says)
					})
				}
			}
		}
	}
}

// TestOwnOutputsHaveNoNull gives nil where Go writes null by itself.
func TestOwnOutputsHaveNoNull(t *testing.T) {
	type none struct{}
	type all struct {
		List  []string
		Map   map[string]int
		Inner struct{ Deep [][]int }
	}
	g, err := gateway.Load(t.Context(), gofunc.Functions{gofunc.Func("f", "", func(context.Context, none) (all, error) { return all{}, nil })}, gateway.Options{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := g.Call(t.Context(), &tenon.Call{Tool: "f"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(res.Structured), `{"List":[],"Map":{},"Inner":{"Deep":[]}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, s := range allEnvelopes {
		for _, r := range []tenon.Response{{Status: 404}, {Status: 200, MediaType: "application/json", Body: []byte(`{"title":7}`)}, jsonResponse(200, `{"title":"Emma"}`)} {
			res := call(t, one(tenon.Tool{Envelope: s, Contract: bookContract()}, answer(r)), `{"id":1}`)
			for _, text := range []string{string(res.Structured), string(res.Meta)} {
				if text = strings.ReplaceAll(text, `"data":null`, ""); strings.Contains(text, "null") {
					t.Errorf("%s: %s", s, text)
				}
			}
		}
	}
}

// told is a result as a client reads it.
type told struct {
	IsError           bool
	Content           []struct{ Text string }
	StructuredContent json.RawMessage
	Meta              struct {
		Contract struct{ Executed, Retry string } `json:"tenon/contract"`
	} `json:"_meta"`
}

// checkNext holds what is suggested after a call without an answer against what
// is said of its effect.
func (r told) checkNext(t *testing.T, executed, retry string) {
	t.Helper()
	var form struct {
		Error struct {
			Code        tenon.Code
			Suggestions []string
		}
	}
	if err := json.Unmarshal(r.StructuredContent, &form); err != nil {
		t.Fatal(err)
	}
	if form.Error.Code != tenon.CodeNetwork && form.Error.Code != tenon.CodeTimeout {
		return
	}
	want := map[string]string{"no safe": "Nothing was changed: try once more", "unknown safe": "Repeating this call is safe: try once more", "unknown unsafe": "Find out with a tool that reads whether "}[executed+" "+retry]
	if next := form.Error.Suggestions; len(next) != 2 || want == "" || !strings.HasPrefix(next[0], want) || !strings.Contains(next[1], "tell the operator") {
		t.Errorf("%s: executed %s, retry %s, suggested %q", form.Error.Code, executed, retry, next)
	}
}

func (r told) check(t *testing.T, executed, retry, says string) {
	t.Helper()
	if !r.IsError || len(r.Content) == 0 {
		t.Fatalf("no failure: %+v", r)
	}
	if c := r.Meta.Contract; c.Executed != executed || c.Retry != retry {
		t.Errorf("executed %s, retry %s, want %s, %s", c.Executed, c.Retry, executed, retry)
	}
	message := r.Content[0].Text
	var form struct {
		Error    struct{ Message string }
		Messages []string
	}
	if json.Unmarshal([]byte(message), &form) == nil {
		message = form.Error.Message + strings.Join(form.Messages, "")
	}
	for _, before := range []string{"Error executing tool ", "E00"} {
		if after, ok := strings.CutPrefix(message, before); ok {
			_, message, _ = strings.Cut(after, ": ")
		}
	}
	for _, sentence := range []string{saysExecuted, saysUnknown} {
		if strings.HasPrefix(message+" ", sentence) != (sentence == says) || strings.Contains(message, sentence) != (sentence == says) {
			t.Errorf("the text says %q, its first sentence has to be %q", message, says)
		}
	}
}

// revisions are those in use, and the transport without any.
var revisions = []string{"2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "jsonrpc"}

// callOver calls a tool without arguments as a client of a revision does.
func callOver(t *testing.T, s *server.Server, revision, tool string) (r told) {
	t.Helper()
	var handler http.Handler = s
	meta := ""
	if revision == "2026-07-28" {
		meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	}
	req := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":{}`+meta+`}}`))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	switch revision {
	case "jsonrpc":
		handler = s.JSONRPC()
	case "2026-07-28":
		req.Header.Set("Mcp-Method", "tools/call")
		req.Header.Set("Mcp-Name", tool)
		fallthrough
	default:
		req.Header.Set("MCP-Protocol-Version", revision)
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, req)
	var answer struct{ Result json.RawMessage }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || answer.Result == nil {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if err := json.Unmarshal(answer.Result, &r); err != nil {
		t.Fatal(err)
	}
	return r
}
