package app

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/auth"
	"github.com/tenon-mcp/tenon/internal/vault"
)

const userKey = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

// storing is an app whose users store the key of a service that knows "good-key".
func storing(t *testing.T) (a *App, origin string, sent *atomic.Int64) {
	sent = &atomic.Int64{}
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent.Add(1)
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("X-Key") != "good-key" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		_, _ = w.Write([]byte(`{"ok":true}`))
	}))
	t.Cleanup(up.Close)
	dir := t.TempDir()
	file := filepath.Join(dir, "api.json")
	text := `{"openapi":"3.1.0","info":{"title":"Shop","version":"1"},"servers":[{"url":"` + up.URL + `"}],"security":[{"k":[]}],
		"components":{"securitySchemes":{"k":{"type":"apiKey","in":"header","name":"X-Key"}}},"paths":{"/a":{"get":{"operationId":"a","responses":{"200":{"description":"d"}}}}}}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := NewConfig()
	c.HTTP, c.OAuthIssuer, c.OAuthResource, c.OAuthLogin = ":0", "https://login.example.com", "https://mcp.example.com/mcp", "pages=env:S"
	c.CredentialDir, c.CredentialKey = filepath.Join(dir, "credentials"), []string{"env:K"}
	c.Defaults.Auth, c.Defaults.AllowPrivateHost = []string{"k=user"}, []string{strings.TrimPrefix(up.URL, "http://")}
	c.AddSpec(file)
	a, err := New(t.Context(), c, Env{Getenv: func(name string) (string, bool) {
		v := map[string]string{"S": "sesame", "K": userKey}[name]
		return v, v != ""
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a, up.URL, sent
}

// person answers each page with an action, after by.
type person struct {
	action string
	by     func()
	asked  []tenon.InputRequest
}

func (p *person) RequestInput(_ context.Context, questions ...tenon.InputRequest) ([]tenon.InputResponse, error) {
	p.asked = append(p.asked, questions...)
	if p.by != nil {
		p.by()
	}
	return []tenon.InputResponse{{Action: p.action}}, nil
}

func callAs(t *testing.T, a *App, who *auth.Caller, by tenon.Requester) *tenon.Result {
	t.Helper()
	ctx := t.Context()
	if who != nil {
		ctx = auth.NewContext(ctx, who)
	}
	res, err := a.Gateway.Call(ctx, &tenon.Call{Tool: "a", Args: []byte(`{}`), Requester: by})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestCredentialsOfUsers(t *testing.T) {
	a, origin, sent := storing(t)
	alice := &auth.Caller{Issuer: "https://login.example.com", Subject: "alice"}
	label := vault.Label{Issuer: alice.Issuer, Subject: "alice", Source: "api", Scheme: "k", Origin: origin}
	store := func(value vault.Secret) func() {
		return func() {
			if err := a.users.vault.Put(label, value); err != nil {
				t.Error(err)
			}
		}
	}
	for name, who := range map[string]*auth.Caller{"nobody": nil, "a key": {Key: "nightly"}, "a client": {Issuer: alice.Issuer, ClientID: "c"}} {
		p := &person{action: "accept"}
		if res := callAs(t, a, who, p); res.Code != tenon.CodeAuthentication || !strings.Contains(res.Message, "no user") || len(p.asked) != 0 {
			t.Error(name, res.Message)
		}
	}
	if res := callAs(t, a, alice, nil); res.Code != tenon.CodeAuthentication || !strings.Contains(res.Message, "https://mcp.example.com/credentials/") || res.Outcome.Executed != "no" {
		t.Error(res.Message)
	}
	if res := callAs(t, a, alice, &person{action: "decline"}); res.Code != tenon.CodeAuthorization {
		t.Error(res.Message)
	}
	if res := callAs(t, a, alice, &person{action: "accept"}); res.Code != tenon.CodeAuthentication { // who is not done yet
		t.Error(res.Message)
	}
	if sent.Load() != 0 {
		t.Fatal("sent without a credential")
	}
	p := &person{action: "accept", by: store("good-key")}
	if res := callAs(t, a, alice, p); res.IsError || len(p.asked) != 1 || p.asked[0].Kind != tenon.ElicitURL || p.asked[0].ID == "" {
		t.Fatal(res.Message, p.asked)
	}
	var page struct{ Mode, Message, URL string }
	if err := json.Unmarshal(p.asked[0].Params, &page); err != nil || page.Mode != "url" || !strings.Contains(page.Message, origin) || strings.Contains(page.URL, "alice") {
		t.Error(page, err)
	}
	p = &person{action: "decline"}
	if res := callAs(t, a, alice, p); res.IsError || len(p.asked) != 0 {
		t.Error("asked again:", res.Message)
	}
	bob := *alice
	bob.Subject = "bob"
	if res := callAs(t, a, &bob, p); !res.IsError || len(p.asked) != 1 {
		t.Error("bob has alice's")
	}
}

func TestARefusedCredentialIsAskedForOnce(t *testing.T) {
	a, origin, sent := storing(t)
	alice := &auth.Caller{Issuer: "https://login.example.com", Subject: "alice"}
	label := vault.Label{Issuer: alice.Issuer, Subject: "alice", Source: "api", Scheme: "k", Origin: origin}
	put := func(value vault.Secret) {
		if err := a.users.vault.Put(label, value); err != nil {
			t.Error(err)
		}
	}
	put("older-key")
	if res := callAs(t, a, alice, nil); !strings.HasPrefix(res.Message, "the service refused the stored credential (401): Shop needs") || sent.Load() != 1 {
		t.Error(res.Message)
	}
	sent.Store(0)
	put("old-key")
	p := &person{action: "accept", by: func() { put("wrong-key") }}
	if res := callAs(t, a, alice, p); !res.IsError || len(p.asked) != 1 || sent.Load() != 2 {
		t.Fatal(res.Message, len(p.asked), sent.Load())
	}
	res := callAs(t, a, alice, nil) // it is known to be refused, and not sent again
	if !strings.Contains(res.Message, "/credentials/") || sent.Load() != 2 || strings.Contains(res.Message, "wrong-key") {
		t.Error(res.Message, sent.Load())
	}
	p = &person{action: "accept", by: func() { put("good-key") }}
	if res := callAs(t, a, alice, p); res.IsError || len(p.asked) != 1 {
		t.Error(res.Message)
	}
}

func TestMistakesAboutStoredCredentials(t *testing.T) {
	e := Env{Getenv: func(name string) (string, bool) {
		v := map[string]string{"S": "sesame", "K": userKey, "SHORT": "hunter2hunter2"}[name]
		return v, v != ""
	}}
	for name, tt := range map[string]struct {
		want string
		by   func(*Config)
	}{
		"a short key": {"--credential-key: a key is 32 random bytes", func(c *Config) { c.CredentialKey = []string{"env:SHORT"} }},
		"no variable": {"no variable T", func(c *Config) { c.CredentialKey = []string{"env:T"} }},
		"a literal":   {"does not belong there", func(c *Config) { c.CredentialKey = []string{userKey} }},
		"twice":       {"a key is given twice", func(c *Config) { c.CredentialKey = []string{"env:K", "env:K"} }},
		"no key":      {"--credential-key is missing", func(c *Config) { c.CredentialKey = nil }},
		"no dir":      {"--credential-dir is missing", func(c *Config) { c.CredentialDir = "" }},
		"no login":    {"--oauth-login is missing", func(c *Config) { c.OAuthLogin = "" }},
		"nothing":     {"is a credential of each user", func(c *Config) { c.CredentialKey, c.CredentialDir, c.OAuthLogin = nil, "", "" }},
		"plain http":  {"has to be an https URL", func(c *Config) { c.OAuthResource = "http://mcp.example.com/mcp" }},
		"a file":      {"--credential-dir: ", func(c *Config) { c.CredentialDir = c.Sources[0].Spec }},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "api.json")
		if err := os.WriteFile(file, []byte(`{"openapi":"3.1.0","info":{"title":"t","version":"1"},"components":{"securitySchemes":{"k":{"type":"http","scheme":"bearer"}}},"paths":{}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		c := NewConfig()
		c.HTTP, c.OAuthIssuer, c.OAuthResource, c.OAuthLogin = ":0", "https://login.example.com", "https://mcp.example.com/mcp", "pages=env:S"
		c.CredentialDir, c.CredentialKey, c.Defaults.Auth = filepath.Join(dir, "c"), []string{"env:K"}, []string{"k=user"}
		c.AddSpec(file)
		tt.by(c)
		a, err := New(t.Context(), c, e)
		if err == nil {
			a.Close()
		}
		if err == nil || !strings.Contains(asFlags(err), tt.want) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), userKey) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
