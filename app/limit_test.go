package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/internal/limit"
)

const twoTools = `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"servers":[{"url":"https://example.com"}],"paths":{
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
		changed, err := a.Reconfigure(&c)
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
	page, err := os.ReadFile("../docs/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "```yaml\n")
	text, _, found := strings.Cut(text, "```")
	if !found {
		t.Fatal("there is no example")
	}
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
