package openapi_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/openapi"
	"github.com/tenon-mcp/tenon/server"
)

// The services of this test tell every caller the hash of the credentials that
// came with its request. Sixteen clients, each with its own, call through one
// server with everything on that could mix them up, and each looks at each of
// its answers.

const crossingDocument = `{"openapi":"3.1.0","security":[{"token":[],"key":[],"sid":[]}],
	"components":{"securitySchemes":{"token":{"type":"http","scheme":"bearer"},"key":{"type":"apiKey","in":"query","name":"key"},
		"sid":{"type":"apiKey","in":"cookie","name":"sid"}}},
	"paths":{"/{what}":{"parameters":[{"name":"what","in":"path","required":true,"schema":{"type":"string"}}],
		"get":{"operationId":"get","responses":{"200":{"description":"","content":{"application/json":{"schema":{"type":"object",
			"properties":{"who":{"type":"string"},"key":{"type":"string"},"rows":{"type":"array","items":{"type":"string"}}}}}}}}},
		"put":{"operationId":"put"}}}}`

// hashOf is what the services say of a credential.
func hashOf(secret string) string {
	if secret == "" {
		return "none"
	}
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:8])
}

// service answers by the last word of the path. The other origin must not see
// a credential.
type service struct {
	asked     atomic.Int64
	failures  atomic.Int64
	elsewhere string
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := s.asked.Add(1)
	h := w.Header()
	h.Set("Content-Type", "application/json")
	who, key := hashOf(r.Header.Get("Authorization")), hashOf(r.URL.Query().Get("key"))
	if c, err := r.Cookie("sid"); err != nil || hashOf(c.Value) != key && key != "none" {
		key = "another than in the cookie"
	}
	rows := ""
	switch what, _, _ := strings.Cut(strings.Trim(r.URL.Path, "/"), "-"); what {
	case "fails": // now and then, with what would have been another's answer
		if n%3 == 0 {
			s.failures.Add(1)
			h.Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	case "cached":
		h.Set("Cache-Control", "public, max-age=600")
	case "validated":
		h.Set("Etag", `"same for all"`)
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	case "home":
		http.Redirect(w, r, "/plain-"+who, http.StatusFound)
		return
	case "away":
		http.Redirect(w, r, s.elsewhere+"/plain", http.StatusFound)
		return
	case "long":
		rows = strings.Repeat(`,"`+who+`"`, 60)[1:]
	}
	fmt.Fprintf(w, `{"who":%q,"key":%q,"rows":[%s]}`, who, key, rows)
}

// crossing is one client of the server.
type crossing struct {
	server     http.Handler
	token, key string
	seen       []byte // what the last answer was, whole
}

// call makes one call and returns what the tool's answer holds.
func (c *crossing) call(tool, arguments string) (answer crossingAnswer, err error) {
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},"name":"` + tool + `","arguments":` + arguments + `}}`
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/mcp", strings.NewReader(body))
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool,
		"X-Token": c.token, "X-Key": c.key, "Cookie": "not=forwarded",
	} {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	c.server.ServeHTTP(w, r)
	c.seen = w.Body.Bytes()
	return answer, json.Unmarshal(c.seen, &answer)
}

type crossingAnswer struct {
	Result struct {
		IsError    bool `json:"isError"`
		Structured struct {
			Data struct {
				Who  string   `json:"who"`
				Key  string   `json:"key"`
				Rows []string `json:"rows"`
			} `json:"data"`
			Token string `json:"resume_token"`
		} `json:"structuredContent"`
	} `json:"result"`
}

// check makes the n-th call of a client and looks whose answer came.
func (c *crossing) check(t *testing.T, n int) {
	kinds := []string{"fails", "cached", "plain", "validated", "home", "away", "long", "put"}
	kind := kinds[n%len(kinds)]
	tool, arguments := "get", fmt.Sprintf(`{"what":"%s-%d"}`, kind, n%5)
	wantWho, wantKey := hashOf("Bearer "+c.token), hashOf(c.key)
	switch kind {
	case "put":
		tool, arguments = "put", `{"what":"cached-1"}` // what is kept there is forgotten, for all
	case "home":
		wantKey = "none" // the redirect's query is its own
	case "away":
		wantWho, wantKey = "none", "none"
	}
	for part := 0; ; part++ {
		a, err := c.call(tool, arguments)
		got := a.Result.Structured
		if err != nil || a.Result.IsError || got.Data.Who != wantWho || got.Data.Key != wantKey {
			t.Errorf("%s: %v, got %s and %s, want %s and %s: %.500s", kind, err, got.Data.Who, got.Data.Key, wantWho, wantKey, c.seen)
		}
		for _, row := range got.Data.Rows {
			if row != wantWho {
				t.Errorf("part %d: row %s, want %s", part, row, wantWho)
			}
		}
		if bytes.Contains(c.seen, []byte("s3cret")) {
			t.Errorf("%s: a credential in the answer: %s", kind, c.seen)
		}
		if got.Token == "" {
			if kind == "long" && part == 0 {
				t.Error("the answer came in one part")
			}
			return
		}
		arguments = `{"resume_token":"` + got.Token + `"}`
	}
}

func TestNoCredentialCrosses(t *testing.T) {
	const clients = 16
	calls := 10_000 / clients
	if raced || testing.Short() {
		calls = 1_600 / clients
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name := range r.Header {
			if name != "Accept" && name != "Accept-Encoding" && name != "User-Agent" {
				t.Errorf("the other origin sees %s", name)
			}
		}
		if r.URL.RawQuery != "" {
			t.Errorf("the other origin sees the query %s", r.URL.RawQuery)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"who":"none","key":"none"}`)
	}))
	defer other.Close()
	far := &service{elsewhere: other.URL}
	home := httptest.NewServer(far)
	defer home.Close()
	var log safeBuffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	server := crossingServer(t, home, other, logger)

	var all sync.WaitGroup
	for i := range clients {
		c := &crossing{server: server, token: fmt.Sprintf("s3cret-token-%d", i), key: fmt.Sprintf("s3cret-key-%d", i%4)} // a key is shared by some
		all.Go(func() {
			for n := range calls {
				c.check(t, n+i)
				if t.Failed() {
					return
				}
			}
		})
	}
	all.Wait()
	foreignParts(t, server)
	if far.failures.Load() == 0 {
		t.Error("nothing was made again")
	}
	if n := far.asked.Load(); n >= clients*int64(calls)*5/4 {
		t.Errorf("the service was asked %d times: nothing was kept", n)
	}
	if strings.Contains(log.String(), "s3cret") {
		t.Error("a credential in the log")
	}
}

// crossingServer has everything on that keeps something between calls.
func crossingServer(t *testing.T, home, other *httptest.Server, logger *slog.Logger) http.Handler {
	t.Helper()
	offer := load(t, crossingDocument, openapi.Options{
		Client: outward(t, home, other), BaseURL: home.URL, Confirm: tenon.ConfirmOff,
		Credentials: map[string]openapi.Credential{"token": {Caller: "X-Token"}, "key@" + home.URL: {Caller: "X-Key"}, "sid": {Caller: "X-Key"}},
		Upstream: openapi.Upstream{
			Retries: 20, MaxWait: time.Minute, MaxConcurrent: 12, RequestsPerSecond: 1e6, BreakerFailures: 1000, CacheBytes: 1 << 20,
		},
	})
	for i := range offer.Tools {
		offer.Tools[i].MaxResult = 400
	}
	catalog := gateway.Build([]gateway.Mount{{Name: "far", Features: offer}}, gateway.BuildOptions{})
	g := gateway.New(catalog, gateway.Options{Logger: logger, Timeout: time.Minute})
	return server.New(g, server.Options{Name: "t", Version: "1", Logger: logger, ForwardHeaders: []string{"X-Token", "X-Key"}})
}

// foreignParts asks for the rest of an answer with another's credential, and
// with its own token but another's key.
func foreignParts(t *testing.T, server http.Handler) {
	t.Helper()
	owner := &crossing{server: server, token: "s3cret-owner", key: "s3cret-key"}
	first, err := owner.call("get", `{"what":"long"}`)
	if err != nil || first.Result.Structured.Token == "" {
		t.Fatalf("%v: %s", err, owner.seen)
	}
	arguments := `{"resume_token":"` + first.Result.Structured.Token + `"}`
	for _, c := range []*crossing{{server: server, token: "s3cret-thief", key: "s3cret-key"}, {server: server, token: "s3cret-owner", key: "s3cret-other"}} {
		a, err := c.call("get", arguments)
		if err != nil || !a.Result.IsError || a.Result.Structured.Data.Rows != nil {
			t.Errorf("a foreign part was given: %v, %s", err, c.seen)
		}
	}
	if a, err := owner.call("get", arguments); err != nil || a.Result.IsError {
		t.Errorf("the owner does not get it: %v, %s", err, owner.seen)
	}
}

// safeBuffer is a log that several write.
type safeBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
