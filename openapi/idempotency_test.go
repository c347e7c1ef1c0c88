package openapi_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/memstore"
	"github.com/tenon-mcp/tenon/openapi"
)

const keyedDoc = `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"servers":[{"url":"https://api.test"}],"paths":{
	"/declared":{"post":{"operationId":"declared","parameters":[{"name":"idempotency-key","in":"header","required":true,"schema":{"type":"string","format":"uuid","maxLength":36}}],"requestBody":{"content":{"application/json":{"schema":{"type":"object"}}}}}},
	"/own":{"post":{"operationId":"own","parameters":[{"name":"X-Shop-Idempotency-Key","in":"header","schema":{"type":"string"}}]}},
	"/short":{"post":{"operationId":"short","parameters":[{"name":"Idempotency-Key","in":"header","required":true,"schema":{"type":"string","maxLength":8}}]}},
	"/other":{"post":{"operationId":"other"},"put":{"operationId":"put"}},
	"/read":{"get":{"operationId":"read","parameters":[{"name":"Idempotency-Key","in":"header","required":true,"schema":{"type":"string"}}]}}}}`

// headers answers with one status after the other, 0 for a connection that breaks, and
// keeps the headers that came.
type headers struct {
	statuses []int
	came     []http.Header
}

func (h *headers) RoundTrip(r *http.Request) (*http.Response, error) {
	status := h.statuses[min(len(h.came), len(h.statuses)-1)]
	h.came = append(h.came, r.Header.Clone())
	if status == 0 {
		return nil, errors.New("the connection broke")
	}
	return respond(r, status, `{}`), nil
}

func keyed(t *testing.T, h *headers, o openapi.Options) func(tool, args string) *tenon.Result {
	t.Helper()
	o.Client, o.Confirm = &http.Client{Transport: h}, tenon.ConfirmOff
	g := gateway.New(gateway.Build([]gateway.Mount{{Name: "api", Features: load(t, keyedDoc, o)}}, gateway.BuildOptions{}), gateway.Options{})
	return func(tool, args string) *tenon.Result {
		t.Helper()
		got, err := g.Call(t.Context(), &tenon.Call{Tool: tool, Subject: "ann", Args: []byte(args)})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
}

// TestWhichHeaderHasTheKey finds the header where a document declares one, and the
// operator's where it declares none.
func TestWhichHeaderHasTheKey(t *testing.T) {
	for _, c := range []struct {
		tool, args, operator, header, value string
		lost                                bool
	}{
		{tool: "declared", header: "Idempotency-Key"},
		{tool: "declared", args: `{"idempotency-key":"2c8d8e7c-1f1a-4b52-9d4e-9d3a3f6b1c11"}`, header: "Idempotency-Key", value: "2c8d8e7c-1f1a-4b52-9d4e-9d3a3f6b1c11"},
		{tool: "own", header: "X-Shop-Idempotency-Key"},
		{tool: "short", args: `{"Idempotency-Key":"mine"}`, header: "Idempotency-Key", value: "mine"},
		{tool: "short", args: `{"Idempotency-Key":"mine"}`, header: "Idempotency-Key", value: "mine", lost: true},
		{tool: "declared", header: "Idempotency-Key", lost: true},
		{tool: "other"},
		{tool: "other", lost: true},
		{tool: "other", operator: "request-token", header: "Request-Token"},
		{tool: "put", operator: "request-token"},
		{tool: "declared", operator: "request-token", header: "Idempotency-Key"},
		{tool: "read", header: "Idempotency-Key"},
	} {
		t.Run(c.tool+c.operator+c.value, func(t *testing.T) {
			h := &headers{statuses: []int{200}}
			if c.lost {
				h.statuses[0] = 0
			}
			got := keyed(t, h, openapi.Options{IdempotencyHeader: c.operator})(c.tool, c.args)
			if c.lost && (got.Outcome.Retry == "safe") != (c.header != "") {
				t.Errorf("retry is %s", got.Outcome.Retry)
			}
			if len(h.came) != 1 {
				t.Fatalf("%d requests", len(h.came))
			}
			for name, values := range h.came[0] {
				if !strings.HasSuffix(name, "Key") && !strings.HasSuffix(name, "Token") {
					continue
				}
				if name != c.header || len(values) != 1 || c.value != "" && values[0] != c.value || c.value == "" && len(values[0]) != 36 {
					t.Errorf("%s: %q", name, values)
				}
			}
			if c.header != "" && h.came[0][c.header] == nil {
				t.Errorf("no %s in %v", c.header, h.came[0])
			}
		})
	}
	for _, name := range []string{"two words", "Authorization", "Content-Type"} {
		if _, err := openapi.Parse("doc.json", []byte(keyedDoc), openapi.Options{IdempotencyHeader: name}); tenon.CodeOf(err) != tenon.CodeUsage {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestNobodyHasToMakeUpAKey: a model would send the same one twice.
func TestNobodyHasToMakeUpAKey(t *testing.T) {
	for _, tool := range load(t, keyedDoc, openapi.Options{}).Tools {
		published, _ := tool.Contract.PublishedContract()
		if required := strings.Contains(string(published.Input), `"required"`); required != (tool.Name == "short") {
			t.Errorf("%s: %s", tool.Name, published.Input)
		}
	}
}

// TestWhenTheSameKeyIsSent tells of two calls with the same arguments whether they
// have the same key, and what was said of the first.
func TestWhenTheSameKeyIsSent(t *testing.T) {
	for name, c := range map[string]struct {
		statuses    []int
		first, then string
		wait        time.Duration
		said        string
		same        bool
	}{
		"after an unknown outcome":   {statuses: []int{0, 200}, said: "unknown safe", same: true},
		"after a definite one":       {statuses: []int{200}, said: "yes unsafe"},
		"after a failure":            {statuses: []int{500, 200}, said: "yes unsafe"},
		"after ten minutes":          {statuses: []int{0, 200}, said: "unknown safe", wait: 11 * time.Minute},
		"with other arguments":       {statuses: []int{0, 200}, said: "unknown safe", then: `{"body":{"note":1}}`},
		"written otherwise":          {statuses: []int{0, 200}, said: "unknown safe", first: `{"body":{"note":"a","x":1}}`, then: `{ "body":{"x":1, "note":"\u0061"}}`, same: true},
		"after a redirect to nobody": {statuses: []int{302, 200}, said: "unknown safe", same: true},
		"of the caller's own":        {statuses: []int{0, 200}, said: "unknown safe", first: `{"idempotency-key":"2c8d8e7c-1f1a-4b52-9d4e-9d3a3f6b1c11"}`, then: `{"idempotency-key":"2c8d8e7c-1f1a-4b52-9d4e-9d3a3f6b1c11"}`, same: true},
		"of the caller's own, known": {statuses: []int{500}, said: "yes safe", first: `{"idempotency-key":"2c8d8e7c-1f1a-4b52-9d4e-9d3a3f6b1c11"}`, then: `{"idempotency-key":"2c8d8e7c-1f1a-4b52-9d4e-9d3a3f6b1c11"}`, same: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &headers{statuses: c.statuses}
				call := keyed(t, h, openapi.Options{Overrides: []openapi.OperationOverride{}})
				got := call("declared", c.first)
				if said := got.Outcome.Executed + " " + got.Outcome.Retry; said != c.said {
					t.Errorf("said %s, want %s", said, c.said)
				}
				if told := strings.Contains(strings.Join(got.Suggestions, " "), "within ten minutes is safe"); told != (c.statuses[0] == 0 && !strings.Contains(c.first, "key")) {
					t.Errorf("suggestions: %q", got.Suggestions)
				}
				time.Sleep(c.wait)
				if c.then == "" {
					c.then = c.first
				}
				call("declared", c.then)
				if keys := [2]string{h.came[0].Get("Idempotency-Key"), h.came[1].Get("Idempotency-Key")}; (keys[0] == keys[1]) != c.same {
					t.Errorf("keys %q", keys)
				}
			})
		})
	}
}

// TestWhatDoesNotSettle answers a repeated call in ways that say nothing of the first
// request: the key stays, and so does what is said.
func TestWhatDoesNotSettle(t *testing.T) {
	for status, settles := range map[int]bool{
		200: true, 201: true, 400: true, 404: true, 410: true, 422: true,
		0: false, 302: false, 307: false, 401: false, 403: false, 408: false, 409: false, 425: false, 429: false, 500: false, 502: false, 503: false, 504: false,
	} {
		synctest.Test(t, func(t *testing.T) {
			h := &headers{statuses: []int{0, status, 201}}
			call := keyed(t, h, openapi.Options{})
			call("declared", "{}")
			got := call("declared", "{}")
			if said := got.Outcome.Executed + " " + got.Outcome.Retry; said != map[bool]string{true: "yes unsafe", false: "unknown safe"}[settles] {
				t.Errorf("%d: %s", status, said)
			}
			call("declared", "{}")
			if same := h.came[1].Get("Idempotency-Key") == h.came[2].Get("Idempotency-Key"); same == settles {
				t.Errorf("%d: the same key is %t", status, same)
			}
		})
	}
}

// awayStore is a store that does not answer, or that keeps nothing more.
type awayStore struct {
	tenon.Store
	away, full bool
}

func (s *awayStore) Get(ctx context.Context, key string) ([]byte, bool, error) {
	if s.away {
		return nil, false, errors.New("the store is away")
	}
	return s.Store.Get(ctx, key)
}

func (s *awayStore) Put(ctx context.Context, key string, value []byte, life time.Duration) error {
	if s.away || s.full {
		return tenon.ErrStoreFull
	}
	return s.Store.Put(ctx, key, value, life)
}

// TestNothingIsSafeWithoutAStore: where a key cannot be kept, repeating is not said
// to be safe, and where it cannot be looked up, nothing is sent.
func TestNothingIsSafeWithoutAStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &awayStore{Store: memstore.New(memstore.Options{}), full: true}
		h := &headers{statuses: []int{0}}
		call := keyed(t, h, openapi.Options{Store: store})
		if got := call("declared", "{}"); got.Outcome.Executed != "unknown" || got.Outcome.Retry != "unsafe" {
			t.Errorf("not kept: %+v", got.Outcome)
		}
		store.away = true
		got := call("declared", "{}")
		if got.Outcome.Executed != "no" || got.Outcome.Retry != "safe" || got.Outcome.RetryAfter != 5*time.Second || len(h.came) != 1 {
			t.Errorf("not looked up: %+v, %d requests", got.Outcome, len(h.came))
		}
	})
}
