package openapi_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/openapi"
)

// turns answers with one status after the other, 0 for a connection that
// breaks, and writes down the idempotency keys that came.
type turns struct {
	mu       sync.Mutex
	statuses []int
	keys     []string
}

func (u *turns) RoundTrip(r *http.Request) (*http.Response, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	status := u.statuses[min(len(u.keys), len(u.statuses)-1)]
	u.keys = append(u.keys, r.Header.Get("Idempotency-Key"))
	if status == 0 {
		return nil, errors.New("the connection broke")
	}
	return respond(r, status, `{}`), nil
}

const waiting = `{"openapi":"3.0.0","servers":[{"url":"https://api.test"}],"paths":{"/a":{
	"get":{"operationId":"get"},"put":{"operationId":"put"},"post":{"operationId":"post"},"patch":{"operationId":"keyed","parameters":[{"name":"idempotency-key","in":"header","schema":{"type":"string"}}]}},
	"/b":{"post":{"operationId":"safe","x-mcp-safe":true}},"/c":{"post":{"operationId":"again","x-mcp-idempotent":true}},
	"/d":{"get":{"operationId":"stream","responses":{"200":{"content":{"text/event-stream":{"schema":{}}}}}}}}}`

// through calls a tool through the gateway and returns what its contract says
// of the call, as "STATUS executed retry".
func through(t *testing.T, u *turns, upstream openapi.Upstream, tool, args string) string {
	t.Helper()
	offer := load(t, waiting, openapi.Options{Client: &http.Client{Transport: u}, Upstream: upstream, TrustMarks: true, Confirm: tenon.ConfirmOff})
	catalog := gateway.Build([]gateway.Mount{{Name: "api", Features: offer}}, gateway.BuildOptions{})
	got, err := gateway.New(catalog, gateway.Options{}).Call(t.Context(), &tenon.Call{Tool: tool, Args: []byte(args)})
	if err != nil {
		t.Fatal(err)
	}
	meta := string(got.Meta)
	said := ""
	for _, member := range []string{`"status":`, `"executed":"`, `"retry":"`} {
		_, rest, found := strings.Cut(meta, member)
		value, _, _ := strings.Cut(strings.TrimSuffix(rest, "}"), ",")
		if !found {
			value = "none"
		}
		said += " " + strings.Trim(value, `"}`)
	}
	return said[1:]
}

// What the contract says of a call must be true however often it was tried.
func TestWhatIsSaidOfRepeatedCalls(t *testing.T) {
	for _, c := range []struct {
		tool     string
		statuses []int
		want     string
		asked    int
	}{
		{"get", []int{503, 0, 200}, "200 yes safe", 3},
		{"put", []int{503, 200}, "200 yes safe", 2},
		{"put", []int{503, 0}, "none yes safe", 3},
		{"put", []int{0}, "none unknown safe", 3},
		{"put", []int{0, 503, 0}, "none yes safe", 3},
		{"post", []int{503, 200}, "503 yes unsafe", 1},
		{"post", []int{0, 200}, "none unknown unsafe", 1},
		{"safe", []int{503, 200}, "200 yes safe", 2},
		{"again", []int{0, 200}, "200 yes safe", 2},
		{"keyed", []int{0, 502, 200}, "200 yes unsafe", 3}, // the caller's own repetition has another key
		{"keyed", []int{0}, "none unknown safe", 3},        // with the same key
		{"keyed", []int{0, 503}, "503 unknown safe", 3},
		{"keyed", []int{503, 0}, "none unknown safe", 3},
		{"keyed", []int{503}, "503 yes unsafe", 3},
		{"keyed", []int{0, 409}, "409 unknown safe", 2}, // the first attempt is at work
		{"keyed", []int{409}, "409 yes unsafe", 1},
	} {
		t.Run(fmt.Sprint(c.tool, c.statuses), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := &turns{statuses: c.statuses}
				if got := through(t, u, openapi.Upstream{Retries: 2}, c.tool, `{}`); got != c.want || len(u.keys) != c.asked {
					t.Errorf("got %s after %d attempts, want %s after %d", got, len(u.keys), c.want, c.asked)
				}
			})
		})
	}
}

type afterwards func(*http.Request) *http.Response

func (f afterwards) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }

// A recording that is replayed has the waits of its responses in it, and makes none.
func TestReplayDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, n := time.Now(), 0
		client := &http.Client{Transport: afterwards(func(r *http.Request) *http.Response {
			if n++; n == 1 {
				res := respond(r, 503, `{}`)
				res.Header.Set("Retry-After", "5")
				return res
			}
			return respond(r, 200, `{}`)
		})}
		tools := load(t, waiting, openapi.Options{Client: client, Upstream: openapi.Upstream{Retries: 1}, Replayed: true}).Tools
		if r, err := tools[0].Handler(t.Context(), &tenon.Call{}); err != nil || r.Status != 200 || n != 2 || time.Since(began) != 0 {
			t.Errorf("%d, %v after %d requests in %v", r.Status, err, n, time.Since(began))
		}
	})
}

func TestIdempotencyKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &turns{statuses: []int{503, 200}}
		through(t, u, openapi.Upstream{Retries: 2}, "keyed", `{}`)
		through(t, u, openapi.Upstream{Retries: 2}, "keyed", `{"idempotency-key":"mine"}`)
		if len(u.keys) != 3 || len(u.keys[0]) < 20 || u.keys[0] != u.keys[1] || u.keys[2] != "mine" {
			t.Errorf("keys %q", u.keys)
		}
	})
}

// What did not leave because of the operator's limits is told as that.
func TestCallsThatAreHeldBack(t *testing.T) {
	for _, c := range []struct {
		name     string
		upstream openapi.Upstream
		code     tenon.Code
	}{
		{"too many a second", openapi.Upstream{RequestsPerSecond: 0.1, MaxWait: time.Second}, tenon.CodeRateLimited},
		{"an upstream that fails", openapi.Upstream{BreakerFailures: 1}, tenon.CodeNetwork},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := &turns{statuses: []int{503}}
				tools := load(t, waiting, openapi.Options{Client: &http.Client{Transport: u}, Upstream: c.upstream}).Tools
				stream := tools[len(tools)-1].Handler
				post := tools[2].Handler
				if r, err := post(t.Context(), &tenon.Call{}); err != nil || r.Status != 503 {
					t.Fatal(r.Status, err)
				}
				r, err := post(t.Context(), &tenon.Call{})
				if tenon.CodeOf(err) != c.code || r.Execution != (tenon.Execution{}) || !strings.Contains(err.Error(), "https://api.test: not sent: ") {
					t.Errorf("%v, %+v", err, r.Execution)
				}
				if _, err := stream(t.Context(), &tenon.Call{}); tenon.CodeOf(err) != c.code {
					t.Errorf("a stream: %v", err)
				}
			})
		})
	}
}
