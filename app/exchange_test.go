package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

const (
	resource       = "https://mcp.example.com/mcp"
	exchangeSecret = "the secret of the exchanging client"
)

// exchangingIssuer is an issuer that gives tokens of callers for others.
func exchangingIssuer(t *testing.T, exchanges *atomic.Int64) *issuer {
	i := newIssuer(t)
	i.exchange = func(w http.ResponseWriter, r *http.Request) {
		exchanges.Add(1)
		claims, err := i.read(r.PostFormValue("subject_token"), resource)
		if id, secret, _ := r.BasicAuth(); err != nil || id != "tenon" || strings.ReplaceAll(secret, "+", " ") != exchangeSecret {
			w.WriteHeader(http.StatusBadRequest)
			_ = json.NewEncoder(w).Encode(map[string]any{"error": "invalid_grant"}) // the test sees what is missing
			return
		}
		claims["aud"] = r.PostFormValue("audience")
		token, err := i.sign(claims)
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": token, "issued_token_type": "urn:ietf:params:oauth:token-type:access_token", "token_type": "Bearer", "expires_in": 300})
	}
	return i
}

// read returns the claims of a token by the keys that the issuer publishes.
func (i *issuer) read(token, audience string) (map[string]any, error) {
	keys, err := i.published()
	if err != nil {
		return nil, err
	}
	signed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		return nil, err
	}
	text, err := signed.Verify(keys)
	if err != nil {
		return nil, err
	}
	claims := map[string]any{}
	if err := json.Unmarshal(text, &claims); err != nil {
		return nil, err
	}
	if claims["iss"] != i.URL || claims["aud"] != audience {
		return nil, errors.New("for another")
	}
	return claims, nil
}

func (i *issuer) fetchKeys() (keys jose.JSONWebKeySet, err error) {
	answer, err := http.Get(i.URL + "/jwks")
	if err != nil {
		return keys, err
	}
	defer answer.Body.Close()
	return keys, json.NewDecoder(answer.Body).Decode(&keys)
}

// upstreamOf echoes who the bearer of a request is. What is under /kept may be
// cached.
func upstreamOf(t *testing.T, i *issuer) (upstream *httptest.Server, requests *atomic.Int64) {
	requests = &atomic.Int64{}
	upstream = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		claims, err := i.read(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), "upstream")
		if err != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if r.URL.Path == "/kept" {
			w.Header().Set("Cache-Control", "max-age=600")
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"sub": claims["sub"], "scope": claims["scope"]})
	}))
	t.Cleanup(upstream.Close)
	return upstream, requests
}

// served is an app that calls the upstream with exchanged tokens.
func served(t *testing.T, i *issuer, upstream string, by ...func(*Config)) (*endpoint, *bytes.Buffer) {
	t.Helper()
	who := `"responses":{"200":{"description":"d","content":{"application/json":{"schema":{"type":"object","required":["sub"],"properties":{"sub":{"type":"string"},"scope":{"type":"string"}}}}}}}`
	file := filepath.Join(t.TempDir(), "api.json")
	text := `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"servers":[{"url":"` + upstream + `"}],"security":[{"corp":[]}],
		"components":{"securitySchemes":{"corp":{"type":"http","scheme":"bearer"}}},
		"paths":{"/kept":{"get":{"operationId":"kept",` + who + `}},"/fresh":{"get":{"operationId":"fresh",` + who + `}}}}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	c := NewConfig()
	c.HTTP, c.OAuthIssuer, c.OAuthResource, c.OAuthExchange = ":0", i.URL, resource, "tenon=env:EX"
	c.APIKeys = []string{"ops=env:KEY"}
	c.Defaults.Auth, c.Defaults.CacheBytes = []string{"corp=exchange:upstream"}, 1<<20
	c.Defaults.AllowPrivateHost = []string{"127.0.0.1"}
	for _, change := range by {
		change(c)
	}
	c.AddSpec(file)
	d := &endpoint{}
	var err error
	d.app, err = New(t.Context(), c, Env{
		Stderr: &d.stderr, Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Getenv: func(name string) (string, bool) {
			return map[string]string{"EX": exchangeSecret, "KEY": "sesame"}[name], true
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.app.Close)
	d.handler = d.app.Handler()
	return d, &log
}

func callOf(tool string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":{}}}`
}

func TestNoCallCrossesToTheTokenOfAnother(t *testing.T) {
	var exchanges atomic.Int64
	i := exchangingIssuer(t, &exchanges)
	upstream, requests := upstreamOf(t, i)
	d, log := served(t, i, upstream.URL)
	const subjects = 16
	var tokens [subjects * 2]string // two of each subject, with other scopes
	for k := range tokens {
		token, err := i.sign(map[string]any{"iss": i.URL, "sub": fmt.Sprintf("subject %d", k/2), "scope": fmt.Sprintf("scope-%d", k), "aud": resource, "exp": 4e9})
		if err != nil {
			t.Fatal(err)
		}
		tokens[k] = token
	}
	var calling sync.WaitGroup
	var calls, reloads atomic.Int64
	for k, token := range tokens {
		calling.Go(func() {
			want := fmt.Sprintf(`{"sub":"subject %d","scope":"scope-%d"}`, k/2, k)
			for n := range callsToCross/len(tokens) + 1 {
				if calls.Add(1)%(callsToCross/20) == 0 {
					d.app.Reload(t.Context())
					reloads.Add(1)
				}
				_, _, text := d.send("POST", "/jsonrpc", callOf([]string{"kept", "fresh"}[n%2]), "Authorization", "Bearer "+token)
				var got struct {
					Result struct {
						StructuredContent struct{ Data json.RawMessage }
					}
				}
				if err := json.Unmarshal([]byte(text), &got); err != nil || !sameJSON(got.Result.StructuredContent.Data, want) {
					t.Errorf("call %d of %d: %s, want %s", n, k, text, want)
					return
				}
			}
		})
	}
	calling.Wait()
	t.Logf("%d calls, %d reloads, %d exchanges, %d requests", calls.Load(), reloads.Load(), exchanges.Load(), requests.Load())
	if reloads.Load() < 20 || exchanges.Load() < int64(len(tokens)) || exchanges.Load() > int64(len(tokens))*(reloads.Load()+1) || requests.Load() >= calls.Load() {
		t.Error("the calls proved less than they should")
	}
	for _, secret := range append(tokens[:], exchangeSecret) {
		if strings.Contains(log.String()+d.stderr.String(), secret) {
			t.Fatal("the log has a token or a secret")
		}
	}
}

func sameJSON(got json.RawMessage, want string) bool {
	var a, b any
	return json.Unmarshal(got, &a) == nil && json.Unmarshal([]byte(want), &b) == nil && fmt.Sprint(a) == fmt.Sprint(b)
}

func TestCallersWhoseTokenIsNotExchangedAreToldWhatToDo(t *testing.T) {
	var exchanges atomic.Int64
	i := exchangingIssuer(t, &exchanges)
	upstream, requests := upstreamOf(t, i)
	d, _ := served(t, i, upstream.URL)
	ann := "Bearer " + i.token(t, "ann", resource)
	if _, _, text := d.send("POST", "/jsonrpc", callOf("fresh"), "X-API-Key", "sesame"); !strings.Contains(text, "corp (http bearer) is missing: the caller has no access token that could be exchanged: call with an access token") || exchanges.Load() != 0 {
		t.Errorf("with a key: %s", text)
	}
	for _, tt := range []struct {
		status       int
		refusal      string
		code, advice string
	}{
		{400, "invalid_scope", "authorization_error", "Consent to the scopes"},
		{400, "invalid_grant", "authentication_error", "Log in again"},
		{401, "invalid_client", "authentication_error", "Tell the operator"},
		{500, "", "authentication_error", "Wait a moment"},
	} {
		i.exchange = func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(tt.status)
			_, _ = io.WriteString(w, `{"error":"`+tt.refusal+`"}`)
		}
		d.app.Reload(t.Context()) // what was refused is forgotten
		_, _, text := d.send("POST", "/jsonrpc", callOf("fresh"), "Authorization", ann)
		for _, want := range []string{"cannot obtain the credential of corp (http bearer): ", tt.code, tt.advice, `"executed":"no"`} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %s has no %q", tt.refusal, text, want)
			}
		}
	}
	if requests.Load() != 0 {
		t.Error("something was sent")
	}
}

func TestExchangeGoesWhereTheCredentialMayGo(t *testing.T) {
	var exchanges atomic.Int64
	i := exchangingIssuer(t, &exchanges)
	upstream, requests := upstreamOf(t, i)
	ann := "Bearer " + i.token(t, "ann", resource)
	for name, by := range map[string]func(*Config){
		"another origin after @":     func(c *Config) { c.Defaults.Auth = []string{"corp@https://elsewhere.example=exchange:upstream"} },
		"another origin is the only": func(c *Config) { c.Defaults.AuthOrigin = []string{"https://elsewhere.example"} },
	} {
		d, _ := served(t, i, upstream.URL, by)
		if _, _, text := d.send("POST", "/jsonrpc", callOf("fresh"), "Authorization", ann); !strings.Contains(text, "authentication_error") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if exchanges.Load() != 0 || requests.Load() != 0 {
		t.Errorf("%d exchanges, %d requests", exchanges.Load(), requests.Load())
	}
}

func TestExchangeNeedsAClientAndAnAudience(t *testing.T) {
	for _, tt := range []struct {
		want string
		by   func(*Config)
	}{
		{"--oauth-exchange says as which client", func(c *Config) { c.OAuthExchange = "" }},
		{"--oauth-issuer says whose", func(c *Config) { c.OAuthIssuer, c.OAuthResource = "", "" }},
		{"the secret itself does not belong there", func(c *Config) { c.OAuthExchange = "tenon=sesame" }},
		{"no variable T", func(c *Config) { c.OAuthExchange = "tenon=env:T" }},
		{"behind exchange: it wants the audience", func(c *Config) { c.Defaults.Auth = []string{"corp=exchange: "} }},
		{"cannot be used for apiKey", func(c *Config) { c.Defaults.Auth = []string{"key=exchange:upstream"} }},
	} {
		file := filepath.Join(t.TempDir(), "api.json")
		text := `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"servers":[{"url":"https://api.example"}],"security":[{"corp":[]},{"key":[]}],
			"components":{"securitySchemes":{"corp":{"type":"http","scheme":"bearer"},"key":{"type":"apiKey","in":"header","name":"K"}}},"paths":{"/a":{"get":{"operationId":"a","responses":{"200":{"description":"d"}}}}}}`
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c := NewConfig()
		c.HTTP, c.OAuthIssuer, c.OAuthResource, c.OAuthExchange, c.Defaults.Auth = ":0", "https://login.example.com", resource, "tenon=env:S", []string{"corp=exchange:upstream"}
		tt.by(c)
		c.AddSpec(file)
		a, err := New(t.Context(), c, Env{Getenv: func(name string) (string, bool) { return map[string]string{"S": "s"}[name], true }})
		if err == nil {
			a.Close()
			t.Errorf("accepted, want %q", tt.want)
			continue
		}
		if said := asFlags(err); !strings.Contains(said, tt.want) || strings.Contains(said, "sesame") {
			t.Errorf("said %q, want %q", said, tt.want)
		}
	}
}

func TestCheckSaysWhetherTokensCanBeExchanged(t *testing.T) {
	i := newIssuer(t)
	d, _ := served(t, i, "https://api.example")
	if err := d.app.CheckExchange(t.Context()); err == nil || !strings.Contains(asFlags(err), "names no token endpoint") {
		t.Errorf("without a token endpoint: %v", err)
	}
	var exchanges atomic.Int64
	d, _ = served(t, exchangingIssuer(t, &exchanges), "https://api.example")
	if err := d.app.CheckExchange(t.Context()); err != nil {
		t.Error(err)
	}
}
