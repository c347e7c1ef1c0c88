package app

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// reloading is a server whose config is changed.
type reloading struct {
	*App
	t      *testing.T
	config Config
	folder string
}

func newReloading(t *testing.T) *reloading {
	t.Helper()
	r := &reloading{t: t, folder: t.TempDir()}
	file := filepath.Join(r.folder, "shop.json")
	if err := os.WriteFile(file, []byte(twoTools), 0o600); err != nil {
		t.Fatal(err)
	}
	c := NewConfig()
	c.AddSpec("shop=" + file)
	c.HTTP, c.APIKeys = "127.0.0.1:0", []string{"alice=env:KEY"}
	var err error
	if r.App, err = New(t.Context(), c, Env{Getenv: aSecret}); err != nil {
		t.Fatal(asFlags(err))
	}
	t.Cleanup(r.Close)
	r.config = *c
	r.config.Sources[0].Options = &r.config.Defaults
	return r
}

// set puts a changed config in force. Its sources have copies of the options: they
// are another config's.
func (r *reloading) set(change func(*Config)) Change {
	r.t.Helper()
	c := r.config
	c.Sources = []Source{{Name: "shop", Spec: c.Sources[0].Spec, Options: &c.Defaults}}
	change(&c)
	got, err := r.Reconfigure(r.t.Context(), &c)
	if err != nil {
		r.t.Fatal(asFlags(err))
	}
	return got
}

// ask sends a request to the server and returns its status and body.
func (r *reloading) ask(path, body string, header ...string) (int, string) {
	w := httptest.NewRecorder()
	q := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	q = q.WithContext(context.WithValue(q.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80})))
	q.Host = "127.0.0.1"
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			q.Host = header[i+1]
		}
		q.Header.Set(header[i], header[i+1])
	}
	r.Handler().ServeHTTP(w, q)
	return w.Code, w.Body.String()
}

const listOfTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

// list is tools/list with a key.
func (r *reloading) list(header ...string) (int, string) {
	return r.ask("/jsonrpc", listOfTools, append([]string{"X-API-Key", "secret"}, header...)...)
}

// effects are the settings of the server that reload: how each is changed, and what
// shows that it is in force. Settings of sources need none: their sources are made
// anew.
func effects() map[string]struct {
	change func(*Config)
	shown  func(*reloading) bool
} {
	type effect = struct {
		change func(*Config)
		shown  func(*reloading) bool
	}
	has := func(text string) func(*reloading) bool {
		return func(r *reloading) bool { _, body := r.list(); return strings.Contains(body, text) }
	}
	identified := func(text string) func(*reloading) bool {
		return func(r *reloading) bool { return strings.Contains(fmt.Sprint(r.identity()), text) }
	}
	return map[string]effect{
		"prefix":         {func(c *Config) { c.Prefix = "always" }, has(`"shop_listBooks"`)},
		"tools-mode":     {func(c *Config) { c.ToolsMode = "search" }, has(`"search_tools"`)},
		"for":            {func(c *Config) { c.For = "claude-code" }, has(`"description":"Returns: `)},
		"output-schemas": {func(c *Config) { c.OutputSchemas = "off" }, func(r *reloading) bool { _, body := r.list(); return !strings.Contains(body, `"outputSchema"`) }},
		"name-budget":    {func(c *Config) { c.NameBudget = 40 }, func(r *reloading) bool { return r.options.NameBudget == 40 }},
		"describe":       {func(c *Config) { c.Describe = "off" }, func(r *reloading) bool { _, body := r.list(); return !strings.Contains(body, `"name":"describe`) }},
		"jsonrpc":        {func(c *Config) { c.JSONRPC = "off" }, func(r *reloading) bool { code, _ := r.list(); return code == http.StatusNotFound }},
		"name":           {func(c *Config) { c.Name = "other" }, identified("other")},
		"title":          {func(c *Config) { c.Title = "Other" }, identified("Other")},
		"instructions":   {func(c *Config) { c.Instructions = "Ask" }, identified("Ask")},
		"max-message-bytes": {func(c *Config) { c.MaxMessageBytes = 1024 }, func(r *reloading) bool {
			code, _ := r.ask("/jsonrpc", listOfTools+strings.Repeat(" ", 2000), "X-API-Key", "secret")
			return code == http.StatusRequestEntityTooLarge
		}},
		"page-size": {func(c *Config) { c.PageSize = 1 }, has("nextCursor")},
		"limit":     {func(c *Config) { c.Limits = []string{"everybody=day 3"} }, func(r *reloading) bool { return len(r.limits.Rules()) == 1 }},
		"api-key": {func(c *Config) { c.APIKeys = []string{"alice=sha256:" + strings.Repeat("0", 64)} }, func(r *reloading) bool {
			code, _ := r.list()
			return code == http.StatusUnauthorized
		}},
		"allowed-host": {func(c *Config) { c.AllowedHosts = []string{"tenon.test"} }, func(r *reloading) bool { code, _ := r.list("Host", "tenon.test"); return code == http.StatusOK }},
		"allowed-origin": {func(c *Config) { c.AllowedOrigins = []string{"https://page.test"} }, func(r *reloading) bool {
			code, _ := r.list("Origin", "https://page.test")
			return code == http.StatusOK
		}},
		"azure-paths": {func(c *Config) { c.AzurePaths = true }, func(r *reloading) bool {
			code, _ := r.ask(azurePath, listOfTools, "X-API-Key", "secret")
			return code != http.StatusNotFound
		}},
		"azure-key": {func(c *Config) { c.AzureKey = "${KEY}" }, func(r *reloading) bool {
			code, _ := r.ask("/jsonrpc", listOfTools, "X-Functions-Key", "secret")
			return code == http.StatusOK
		}},
		"azure-key-in-url": {func(c *Config) { c.AzureKey, c.AzureKeyInURL = "${KEY}", true }, func(r *reloading) bool {
			code, _ := r.ask("/jsonrpc?code=secret", listOfTools)
			return code == http.StatusOK
		}},
		"allow":          {func(c *Config) { c.Allow = []string{"key:alice=id:listBooks"} }, func(r *reloading) bool { _, body := r.list(); return !strings.Contains(body, "delete_book") }},
		"deny":           {func(c *Config) { c.Deny = []string{"key:alice=id:delete_book"} }, func(r *reloading) bool { _, body := r.list(); return !strings.Contains(body, "delete_book") }},
		"public":         {func(c *Config) { c.Public = []string{"id:listBooks"} }, func(r *reloading) bool { status, _ := r.ask("/jsonrpc", listOfTools); return status == http.StatusOK }},
		"shutdown-delay": {func(c *Config) { c.ShutdownDelay = time.Minute }, func(r *reloading) bool { return r.App.config.ShutdownDelay == time.Minute }},
		"drain":          {func(c *Config) { c.Drain = time.Minute }, func(r *reloading) bool { return r.drain() == time.Minute }},
	}
}

// heldByAnother are settings whose effect is not shown here: TestAuditReloads shows the
// audit log; those of tokens, of TLS and of who may call are read by the same code as
// at a start.
func heldByAnother(name string) bool {
	return strings.HasPrefix(name, "oauth-") || name == "require-scope" || name == "scopes-from-description" || strings.HasPrefix(name, "audit") || strings.HasPrefix(name, "tls-") ||
		name == "insecure" || name == "behind-proxy" || name == "poll-interval"
}

// TestEverySettingReloads, or is marked as one for the next start.
func TestEverySettingReloads(t *testing.T) {
	all := effects()
	for _, s := range Settings() {
		e, known := all[s.Name]
		delete(all, s.Name)
		switch {
		case s.AtStart() && known:
			t.Errorf("%s reloads, and is marked as one for the next start", s.Name)
		case s.AtStart():
			testAtStart(t, &s)
		case s.OfSources():
			testOfSources(t, &s)
		case known:
			t.Run(s.Name, func(t *testing.T) {
				r := newReloading(t)
				if e.shown(r) {
					t.Fatal("it shows before it is changed")
				}
				change := r.set(e.change)
				if !e.shown(r) {
					t.Errorf("it is not in force: %s", change)
				}
				r.set(func(*Config) {})
				if e.shown(r) {
					t.Error("it stays in force when it is taken away")
				}
			})
		case !heldByAnother(s.Name):
			t.Errorf("%s: say here what shows that it reloads, or give it atStart in the list of settings", s.Name)
		}
	}
	for name := range all {
		t.Errorf("%s is no setting of the server", name)
	}
}

// testAtStart: the setting is named and its value before stays.
func testAtStart(t *testing.T, s *Setting) {
	t.Run(s.Name, func(t *testing.T) {
		before, after := NewConfig(), NewConfig()
		other(s, after)
		change := after.keepAtStart(before)
		if len(change.Later) != 1 || change.Later[0] != s.Name || len(change.Now) != 0 {
			t.Errorf("it is not said to take effect at the next start: %s", change)
		}
		if !reflect.DeepEqual(s.Field(before), s.Field(after)) {
			t.Error("its value has changed")
		}
	})
}

// testOfSources: a source whose setting differs is not taken over.
func testOfSources(t *testing.T, s *Setting) {
	t.Run(s.Name, func(t *testing.T) {
		before, after, same := NewConfig(), NewConfig(), NewConfig()
		for _, c := range []*Config{before, after, same} {
			c.AddSpec("shop=shop.json")
		}
		other(s, after)
		old := &loaded{Source: before.Sources[0]}
		b := &App{inForce: inForce{config: before, sources: []*loaded{old}}}
		if (&App{before: b, inForce: inForce{config: same}}).kept(&loaded{Source: same.Sources[0]}) != old {
			t.Error("the source is not kept although nothing has changed")
		}
		if (&App{before: b, inForce: inForce{config: after}}).kept(&loaded{Source: after.Sources[0]}) != nil {
			t.Error("the source is kept although it has changed")
		}
	})
}

// other gives a setting another value.
func other(s *Setting, c *Config) {
	switch p := s.Field(c).(type) {
	case *string:
		*p += "x"
	case *bool:
		*p = !*p
	case *int:
		*p++
	case *int64:
		*p++
	case *float64:
		*p /= 2
		*p += 0.1
	case *time.Duration:
		*p += time.Second
	case *[]string:
		*p = append(*p, "x")
	case *PerTool:
		p.All += "x"
	}
}

// TestAuditReloads: a log that is replaced has all lines of its time.
func TestAuditReloads(t *testing.T) {
	r := newReloading(t)
	call := func() {
		r.ask("/jsonrpc", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nothing"}}`, "X-API-Key", "secret")
	}
	lines := func(name string) int {
		text, err := os.ReadFile(filepath.Join(r.folder, name))
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Count(text, []byte("\n"))
	}
	at := func(name string) func(*Config) { return func(c *Config) { c.Audit = filepath.Join(r.folder, name) } }
	r.set(at("one"))
	call()
	call()
	if code, _ := r.list("X-API-Key", "wrong"); code != http.StatusUnauthorized {
		t.Error("a wrong key got", code)
	}
	r.set(at("two"))
	call()
	r.set(func(*Config) {})
	call()
	if lines("one") != 3 || lines("two") != 1 {
		t.Errorf("%d and %d lines", lines("one"), lines("two"))
	}
	c := r.config
	c.Audit = filepath.Join(r.folder, "absent", "log")
	if _, err := r.Reconfigure(t.Context(), &c); err == nil {
		t.Error("a log that cannot be written came into force")
	}
	at("three")(&c)
	c.AuditArgument = []string{"no pointer"}
	if _, err := r.Reconfigure(t.Context(), &c); err == nil {
		t.Error("a pointer that is none came into force")
	}
	if _, err := os.Stat(filepath.Join(r.folder, "three")); err == nil {
		t.Error("a log was opened for a config that is wrong")
	}
}

// TestAWrongConfigChangesNothing, whichever part of it is wrong, and whatever else it
// would change.
func TestAWrongConfigChangesNothing(t *testing.T) {
	r := newReloading(t)
	_, before := r.list()
	for name, wrong := range map[string]func(*Config){
		"key":      func(c *Config) { c.APIKeys = append(c.APIKeys, "bob=env:ABSENT") },
		"limit":    func(c *Config) { c.Limits = []string{"key:nobody=day 1"} },
		"source":   func(c *Config) { c.Sources[0].Spec += ".absent" },
		"selector": func(c *Config) { c.Defaults.Include = []string{"id:absent"} },
		"tool":     func(c *Config) { c.Defaults.Policy.Tools = []ToolValue{{Pattern: "absent", Value: "warn"}} },
		"audit":    func(c *Config) { c.Audit = filepath.Join(r.folder, "absent", "log") },
		"issuer":   func(c *Config) { c.OAuthScope = []string{"read"} },
		"word":     func(c *Config) { c.ToolsMode = "both" },
		"number":   func(c *Config) { c.PageSize = -1 },
		"metrics":  func(c *Config) { c.TraceSample = 3; c.Prefix = "sometimes" },
	} {
		t.Run(name, func(t *testing.T) {
			c := r.config
			c.Sources = []Source{{Name: "shop", Spec: c.Sources[0].Spec, Options: &c.Defaults}}
			c.Name, c.Defaults.Names, c.APIKeys = "changed", "mcp", []string{"alice=env:KEY", "second=env:KEY"}[:1]
			c.AllowedHosts = []string{"*"}
			wrong(&c)
			if _, err := r.Reconfigure(t.Context(), &c); err == nil {
				t.Fatal("it came into force")
			}
			if _, now := r.list(); now != before {
				t.Errorf("something has changed: %s", now)
			}
			if code, _ := r.list("Host", "elsewhere.test"); code != http.StatusForbidden {
				t.Errorf("another host is served: %d", code)
			}
		})
	}
	if !strings.Contains(before, "listBooks") {
		t.Error("nothing was listed", before)
	}
}
