package app

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon/internal/limit"
)

const twoTools = `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"servers":[{"url":"http://127.0.0.1:9"}],"paths":{
"/a":{"get":{"operationId":"listBooks","responses":{"200":{"description":"ok"}}},"delete":{"operationId":"delete_book","responses":{"204":{"description":"ok"}}}}}}`

// limited starts an App with limits.
func limited(t *testing.T, change func(*Config), limits ...string) (*App, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "shop.json")
	if err := os.WriteFile(file, []byte(twoTools), 0o600); err != nil {
		t.Fatal(err)
	}
	c := NewConfig()
	c.AddSpec("shop=" + file)
	c.HTTP, c.Limits, c.APIKeys = ":0", limits, []string{"alice=env:KEY"}
	if change != nil {
		change(c)
	}
	a, err := New(t.Context(), c, Env{Getenv: aSecret})
	if err == nil {
		t.Cleanup(a.Close)
	}
	return a, err
}

// A limit that can never be reached, or is about nobody or nothing, is a mistake.
func TestLimitsThatContradict(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		change     func(*Config)
		limits     []string
	}{
		{"what there is", "", nil, []string{"everybody=rate 1/m concurrent 128 sessions 2 tasks 3 bytes 128MiB", "key:alice=none", "everybody delete_*=day 1", "everybody shop/*=rate 1/s shared", "key:alice shop/listBooks=day 3"}},
		{"search mode", "", func(c *Config) { c.ToolsMode = "search" }, []string{"everybody listBooks=day 1"}},
		{"no form", "it wants WHO=LIMITS", nil, []string{"everybody"}},
		{"a tool", "no tool has such a name", nil, []string{"everybody listBook=day 1"}},
		{"a source", "no tool has such a name", nil, []string{"everybody shops/*=day 1"}},
		{"a key", "there is no --api-key bob", nil, []string{"key:bob=day 1"}},
		{"a token", "there is no --oauth-issuer", nil, []string{"group:staff=day 1"}},
		{"twice", "another limit says something else of the same: everybody=day 1", nil, []string{"everybody=day 1", "everybody=rate 1/m day 2"}},
		{"twice of different kinds", "", nil, []string{"everybody=day 1", "everybody=rate 1/m"}},
		{"calls", "more than --max-concurrent-calls 256", nil, []string{"everybody=concurrent 257"}},
		{"calls of a caller", "more than --max-calls-per-caller 3", func(c *Config) { c.MaxCallsPerCaller = 3 }, []string{"everybody=concurrent 4"}},
		{"shared calls", "", func(c *Config) { c.MaxCallsPerCaller = 3 }, []string{"everybody=concurrent 4 shared"}},
		{"bytes", "more than half of --max-bytes-in-flight", nil, []string{"everybody=bytes 129MiB"}},
		{"sessions", "there are no sessions", func(c *Config) { c.Sessions = "off" }, []string{"everybody=sessions 1"}},
		{"sessions on stdio", "there are no sessions", func(c *Config) { c.HTTP, c.APIKeys = "", nil }, []string{"everybody=sessions 1"}},
		{"tasks", "there are no tasks", func(c *Config) { c.TaskAfter = -1 }, []string{"everybody=tasks 1"}},
		{"failure", "is refuse or allow", func(c *Config) { c.LimitFailure = "open" }, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := limited(t, tt.change, tt.limits...)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(asFlags(err), tt.want)) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// Reconfigure takes all limits or none, and says whether they are others.
func TestReconfigure(t *testing.T) {
	a, err := limited(t, nil, "everybody=day 1")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		limits  []string
		changed bool
		fails   bool
		now     string
	}{
		{[]string{"everybody=day 1"}, false, false, "everybody=day 1"},
		{[]string{"everybody=day 2", "everybody nothing=day 1"}, false, true, "everybody=day 1"},
		{[]string{"everybody=day 2", "key:alice=none"}, true, false, "everybody=day 2"},
		{nil, true, false, ""},
	} {
		c := *a.config
		c.Limits = tt.limits
		change, err := a.Reconfigure(t.Context(), &c)
		changed := change.String() != ""
		now := ""
		if rules := a.limits.Rules(); len(rules) > 0 {
			now = rules[0].String()
		}
		if changed != tt.changed || (err != nil) != tt.fails || now != tt.now {
			t.Errorf("%v: changed %t, %v, now %q", tt.limits, changed, err, now)
		}
	}
}

// The example of docs/limits.md is a config that can be read, and says what the page
// says of a student.
func TestExampleOfTheLimitsPage(t *testing.T) {
	text := exampleOf(t, "limits")
	folder := t.TempDir()
	for name, content := range map[string]string{"tenon.yaml": text, "warehouse.yaml": twoTools, "books.yaml": strings.NewReplacer("listBooks", "listPages", "delete_book", "replace").Replace(twoTools)} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := ReadFile(filepath.Join(folder, "tenon.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(t.Context(), c, Env{Getenv: aSecret})
	if err != nil {
		t.Fatal(asFlags(err))
	}
	defer a.Close()
	rules := a.limits.Rules()
	if len(rules) != 5 || rules[1].Rate != (limit.Rate{Calls: 10, Per: 60e9, Burst: 20}) || !rules[4].Shared {
		t.Errorf("%+v", rules)
	}
}

// aSecret is an environment in which every key has a value.
func aSecret(name string) (string, bool) {
	if strings.HasPrefix(name, "OTEL_") {
		return "", false
	}
	return "secret", true
}

// A caller is the same caller, and a tool the same tool, however the call comes.
func TestLimitsHoldOnEveryPath(t *testing.T) {
	a, err := limited(t, func(c *Config) { c.ToolsMode, c.TaskAfter = "search", time.Second }, "key:alice listBooks=day 6")
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(a.Handler())
	defer web.Close()
	send := func(path, body string, headers ...string) (answer string, header http.Header) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, web.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range append(headers, "Content-Type: application/json", "Accept: application/json, text/event-stream", "X-Api-Key: secret") {
			name, value, _ := strings.Cut(h, ": ")
			r.Header.Set(name, value)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(b), resp.Header
	}
	_, opened := send("/mcp", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	session := "Mcp-Session-Id: " + opened.Get("Mcp-Session-Id")
	legacy := func(name, args string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":` + args + `}}`
	}
	modern := func(capabilities string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"call_tool","arguments":{"tool":"listBooks","arguments":{}},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{` + capabilities + `}}}}`
	}
	headers := []string{"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: call_tool"}
	inner := `{"tool":"listBooks","arguments":{}}`
	calls := []func() string{
		func() string { b, _ := send("/mcp", modern(""), headers...); return b },
		func() string {
			b, _ := send("/mcp", modern(`"extensions":{"io.modelcontextprotocol/tasks":{}}`), headers...)
			return b
		},
		func() string { b, _ := send("/mcp", legacy("call_tool", inner)); return b },
		func() string { b, _ := send("/mcp", legacy("call_tool", inner), session); return b },
		func() string { b, _ := send("/jsonrpc", legacy("call_tool", inner)); return b },
		func() string {
			b, _ := send("/mcp", "["+legacy("call_tool", inner)+"]", "MCP-Protocol-Version: 2025-03-26")
			return b
		},
	}
	for i, call := range calls {
		if answer := call(); !strings.Contains(answer, "is private") {
			t.Errorf("call %d: %s", i, answer)
		}
	}
	for i, call := range calls {
		if answer := call(); !strings.Contains(answer, "rate_limited") || !strings.Contains(answer, `"retry_after":`) {
			t.Errorf("call %d above the limit: %s", i, answer)
		}
	}
	if answer, _ := send("/jsonrpc", legacy("call_tool", `{"tool":"delete_book","arguments":{}}`)); strings.Contains(answer, "rate_limited") || strings.Contains(answer, "Invalid") {
		t.Errorf("another tool: %s", answer)
	}
}

// exampleOf is the config on a page of docs.
func exampleOf(t *testing.T, name string) string {
	t.Helper()
	page, err := os.ReadFile("../docs/" + name + ".md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "```yaml\n")
	text, _, found := strings.Cut(text, "```")
	if !found {
		t.Fatal("there is no example")
	}
	return text
}
