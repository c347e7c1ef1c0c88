package app

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/tenon-mcp/tenon/auth"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/gofunc"
)

func TestMistakesAboutTokensSayWhatToDo(t *testing.T) {
	e := Env{Getenv: func(name string) (string, bool) { return map[string]string{"S": "sesame"}[name], name == "S" }}
	good := Config{HTTP: "0.0.0.0:80", OAuthIssuer: "https://login.example.com", OAuthResource: "https://mcp.example.com/mcp"}
	for _, tt := range []struct {
		name, want string
		by         func(*Config)
	}{
		{"none", "", func(*Config) {}},
		{"all", "", func(c *Config) {
			c.OAuthAudience, c.OAuthScope, c.OAuthScopeImplies = []string{"api://x"}, []string{"read"}, []string{"write=read,list"}
			c.OAuthIntrospection, c.APIKeys = "tenon=env:S", []string{"a=env:S", "b=sha256:" + strings.Repeat("0f", 32)}
		}},
		{"for stdio", "are for --http ADDR", func(c *Config) { c.HTTP = "" }},
		{"no resource", "--oauth-resource is missing", func(c *Config) { c.OAuthResource = "" }},
		{"no issuer", "--oauth-issuer says whose", func(c *Config) { c.OAuthIssuer = "" }},
		{"plain http", "--oauth-issuer: the issuer http://login.example.com has to be an https URL", func(c *Config) { c.OAuthIssuer = "http://login.example.com" }},
		{"plain http that is meant", "", func(c *Config) {
			c.OAuthIssuer, c.OAuthAllowPrivateHost = "http://keycloak:8080/realms/x", []string{"keycloak:8080"}
		}},
		{"a hierarchy", "BROAD=NARROW", func(c *Config) { c.OAuthScopeImplies = []string{"write"} }},
		{"a secret itself", "does not belong there", func(c *Config) { c.OAuthIntrospection = "tenon=sesame" }},
		{"no secret", "no variable T", func(c *Config) { c.OAuthIntrospection = "tenon=env:T" }},
		{"a sum", "64 hexadecimal digits", func(c *Config) { c.APIKeys = []string{"a=sha256:sesame"} }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := good
			tt.by(&c)
			_, err := ReadAccess(&c, e)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(asFlags(err), tt.want) || strings.Contains(err.Error(), "sesame")) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestTokensOfCallersAreNotForwarded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "api.json")
	text := `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"servers":[{"url":"https://api.example"}],"security":[{"k":[]}],
		"components":{"securitySchemes":{"k":{"type":"http","scheme":"bearer"}}},"paths":{"/a":{"get":{"operationId":"a","responses":{"200":{"description":"d"}}}}}}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for header, issuer := range map[string]string{"Authorization": "https://login.example.com", "authorization": "https://login.example.com", "X-Upstream": "https://login.example.com", "AUTHORIZATION": ""} {
		c := NewConfig()
		c.HTTP, c.OAuthIssuer, c.Defaults.Auth = ":0", issuer, []string{"k=caller:" + header}
		if issuer != "" {
			c.OAuthResource = "https://mcp.example.com/mcp"
		}
		c.AddSpec(file)
		a, err := New(t.Context(), c, Env{})
		refused := err != nil && strings.Contains(asFlags(err), "for this server alone (--oauth-issuer)")
		if wanted := issuer != "" && header != "X-Upstream"; refused != wanted || err != nil && !refused {
			t.Errorf("caller:%s with the issuer %q: %v", header, issuer, err)
		}
		if err == nil {
			a.Close()
		}
	}
}

// issuer signs tokens, and publishes its key at a loopback address.
type issuer struct {
	*httptest.Server
	key      *rsa.PrivateKey
	exchange http.HandlerFunc // answers token requests; nil: there is no token endpoint

	published func() (jose.JSONWebKeySet, error) // its keys as others read them
}

func newIssuer(t *testing.T) *issuer {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i := &issuer{key: key}
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := map[string]any{"issuer": i.URL, "jwks_uri": i.URL + "/jwks"}
		if i.exchange != nil {
			answer["token_endpoint"] = i.URL + "/token"
		}
		switch r.URL.Path {
		case "/token":
			i.exchange(w, r)
			return
		case "/jwks":
			answer = map[string]any{"keys": []any{jose.JSONWebKey{Key: key.Public(), KeyID: "k"}}}
		}
		_ = json.NewEncoder(w).Encode(answer) // the test sees what is missing
	}))
	i.published = sync.OnceValues(i.fetchKeys)
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) token(t *testing.T, subject, audience string) string {
	t.Helper()
	token, err := i.sign(map[string]any{"iss": i.URL, "sub": subject, "aud": audience, "exp": time.Now().Unix() + 600})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func (i *issuer) sign(claims map[string]any) (string, error) {
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: i.key}, (&jose.SignerOptions{}).WithHeader("kid", "k"))
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	signed, err := s.Sign(text)
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}

// endpoint is a served app with a tool that names its caller.
type endpoint struct {
	app     *App
	handler http.Handler
	stderr  bytes.Buffer
}

func newEndpoint(t *testing.T, c *Config, e Env) *endpoint {
	t.Helper()
	g, err := gateway.Load(t.Context(), gofunc.Functions{
		gofunc.Func("who_am_i", "Names the caller.", func(ctx context.Context, _ struct{}) (string, error) {
			name := "nobody"
			if caller := auth.FromContext(ctx); caller != nil {
				name = caller.ID()
			}
			return string(gofunc.CallFromContext(ctx).Subject) + ", " + name, nil
		}),
	}, gateway.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := &endpoint{}
	e.Stderr = &d.stderr
	if d.app, err = Wrap(g, c, e); err != nil {
		t.Fatal(err)
	}
	d.handler = d.app.Handler()
	return d
}

// send sends a message with a credential; header are names and values.
func (d *endpoint) send(method, path, body string, header ...string) (int, http.Header, string) {
	r := httptest.NewRequest(method, "http://127.0.0.1"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	d.handler.ServeHTTP(w, r)
	text, _ := io.ReadAll(w.Body)
	return w.Code, w.Header(), string(text)
}

const whoAmI = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"who_am_i"}}`

func TestTokensOpenTheServer(t *testing.T) {
	i := newIssuer(t)
	const resource = "https://mcp.example.com/mcp"
	c := NewConfig()
	c.HTTP, c.OAuthIssuer, c.OAuthResource, c.Name = ":0", i.URL, resource, "books"
	d := newEndpoint(t, c, Env{})
	ann, bob := "Bearer "+i.token(t, "ann", resource), "Bearer "+i.token(t, "bob", resource)
	challenge := `resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"`
	for _, path := range []string{"/mcp", "/jsonrpc"} {
		if status, h, text := d.send("POST", path, whoAmI); status != 401 || h.Get("WWW-Authenticate") != "Bearer "+challenge || strings.Contains(text, "result") {
			t.Errorf("%s without a token: %d %v %s", path, status, h, text)
		}
		if status, h, _ := d.send("POST", path, whoAmI, "Authorization", "Bearer "+i.token(t, "ann", "https://other.example")); status != 401 || !strings.Contains(h.Get("WWW-Authenticate"), `error="invalid_token"`) {
			t.Errorf("%s with a token for another audience: %d %v", path, status, h)
		}
		want := "caller " + i.URL + " sub ann, " + i.URL + " sub ann"
		if status, _, text := d.send("POST", path, whoAmI, "Authorization", ann); status != 200 || !strings.Contains(text, want) {
			t.Errorf("%s with a token: %d %s", path, status, text)
		}
	}
	for _, path := range []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"} {
		if status, _, text := d.send("GET", path, ""); status != 200 || !strings.Contains(text, `"resource":"`+resource+`"`) || !strings.Contains(text, i.URL) || !strings.Contains(text, "books") {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/": 404, "/.well-known/oauth-protected-resource/other": 404} {
		if status, _, _ := d.send("GET", path, ""); status != want {
			t.Errorf("%s: %d", path, status)
		}
	}
	initialize := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	_, h, _ := d.send("POST", "/mcp", initialize, "Authorization", ann)
	session := h.Get("Mcp-Session-Id")
	if session == "" {
		t.Fatal("there is no session")
	}
	for name, tt := range map[string]struct {
		token  string
		status int
	}{"its own": {ann, 200}, "another subject's": {bob, 404}, "nobody's": {"", 401}} {
		if status, _, text := d.send("POST", "/mcp", whoAmI, "Authorization", tt.token, "Mcp-Session-Id", session); status != tt.status {
			t.Errorf("a session that is %s: %d %s", name, status, text)
		}
	}
	i.Close()
	if status, h, text := newEndpoint(t, c, Env{}).send("POST", "/mcp", whoAmI, "Authorization", ann); status != 503 || h.Get("WWW-Authenticate") != "" || h.Get("Retry-After") == "" || !strings.Contains(text, "try again later") {
		t.Errorf("with an issuer that is down: %d %v %s", status, h, text)
	}
}

func TestKeysAreReplacedByReload(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("first")
	sum := sha256.Sum256([]byte("hashed"))
	c := NewConfig()
	c.HTTP, c.APIKeys = ":0", []string{"ops=file:" + file, "ci=sha256:" + hex.EncodeToString(sum[:])}
	d := newEndpoint(t, c, Env{})
	status := func(key string) int {
		s, _, _ := d.send("POST", "/mcp", whoAmI, "X-API-Key", key)
		return s
	}
	check := func(when string, first, second int) {
		if a, b, hashed := status("first"), status("second"), status("hashed"); a != first || b != second || hashed != 200 {
			t.Errorf("%s: %d, %d, %d", when, a, b, hashed)
		}
	}
	check("before", 200, 401)
	write("second")
	check("before the reload", 200, 401)
	d.app.Reload(t.Context())
	check("after the reload", 401, 200)
	write(" ")
	d.app.Reload(t.Context())
	check("after one that fails", 401, 200)
	if said := d.stderr.String(); !strings.Contains(said, "--api-key ops: the key is empty") || strings.Contains(said, "second") {
		t.Errorf("said %q", said)
	}
}
