package auth

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestRequirementsOfMCP has what the pages of 2026-07-28 on authorization ask of a
// server, each under its own words. What they ask of clients and of authorization
// servers is not here; what concerns forwarding is tested in package app.
func TestRequirementsOfMCP(t *testing.T) {
	for _, tt := range []struct {
		page, words string
		test        func(*testing.T, *fakeIssuer, *Authenticator)
	}{
		{"index", "MCP servers MUST implement OAuth 2.0 Protected Resource Metadata", metadataIsServed},
		{"discovery", "The document MUST include authorization_servers containing at least one authorization server", metadataNamesTheIssuer},
		{"discovery", "MCP servers MUST implement one of the discovery mechanisms: WWW-Authenticate, or a well-known URI", challengeNamesTheMetadata},
		{"index", "MCP servers SHOULD include a scope parameter in the WWW-Authenticate header", challengeHasScopes},
		{"index", "authorization MUST be included in every HTTP request", everyRequestNeedsAToken},
		{"index", "access tokens MUST NOT be included in the URI query string", queryIsNotRead},
		{"index", "MCP servers MUST validate access tokens", signatureCounts},
		{"index", "MCP servers MUST validate that access tokens were issued specifically for them", audienceCounts},
		{"index", "If validation fails, servers MUST respond according to OAuth 2.1 Section 5.3", errorsHaveCodes},
		{"index", "Invalid or expired tokens MUST receive a HTTP 401 response", expiredIs401},
		{"index", "MCP servers MUST only accept tokens that are valid for use with their own resources", audienceCounts},
		{"index", "MCP servers MUST NOT accept or transit any other tokens", foreignIssuerIsRefused},
		{"index", "MCP Servers SHOULD NOT include offline_access in scope or scopes_supported", noOfflineAccess},
		{"index", "Servers MUST return appropriate HTTP status codes: 400 malformed", malformedIs400},
		{"index", "insufficient scope SHOULD be answered with 403, insufficient_scope, scope and resource_metadata", insufficientScopeIs403},
		{"index", "servers SHOULD include all scopes required for the current operation in a single challenge", insufficientScopeIs403},
		{"index", "Servers MUST account for scope hierarchies, where a broader scope implies narrower ones", hierarchiesCount},
		{"index", "implementations SHOULD accept uppercase scheme and host components", capitalsAreAccepted},
		{"security", "MCP servers MUST reject tokens that do not include them in the audience claim", audienceCounts},
		{"security", "MCP servers MUST validate access tokens before processing the request, no data to unauthorized parties", nothingIsServedBefore},
		{"security", "Clients and servers MUST implement secure token storage", tokensAreNotKept},
		{"security", "All authorization server endpoints MUST be served over HTTPS", endpointsAreHTTPS},
	} {
		t.Run(tt.page+": "+tt.words, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeIssuer()
				tt.test(t, f, f.authenticator(t, func(o *Options) {
					o.Scopes, o.Implies, o.Name = []string{"read", "list"}, map[string][]string{"admin": {"write"}, "write": {"read", "list", "admin"}}, "books"
				}))
			})
		})
	}
}

const metadataAt = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp"

func metadataIsServed(t *testing.T, _ *fakeIssuer, a *Authenticator) {
	if got := a.MetadataPaths(); !reflect.DeepEqual(got, []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"}) {
		t.Errorf("paths %v", got)
	}
	for method, status := range map[string]int{"GET": 200, "HEAD": 200, "OPTIONS": 204, "POST": 405, "DELETE": 405} {
		r := httptest.NewRequest(method, metadataAt, http.NoBody)
		r.Header.Set("Origin", "https://app.example")
		w := httptest.NewRecorder()
		a.Metadata().ServeHTTP(w, r)
		if w.Code != status || w.Header().Get("Access-Control-Allow-Origin") != "*" || (w.Body.Len() > 0) != (method == "GET") {
			t.Errorf("%s: %d %v %s", method, w.Code, w.Header(), w.Body)
		}
	}
}

func metadataNamesTheIssuer(t *testing.T, _ *fakeIssuer, a *Authenticator) {
	w := httptest.NewRecorder()
	a.Metadata().ServeHTTP(w, httptest.NewRequest(http.MethodGet, metadataAt, http.NoBody))
	var got, want map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Header().Get("Content-Type") != "application/json" {
		t.Fatalf("%v %v", w.Header(), err)
	}
	_ = json.Unmarshal([]byte(`{"resource":"https://mcp.example.com/mcp","authorization_servers":["https://login.example.com/tenant"],
		"bearer_methods_supported":["header"],"scopes_supported":["read","list"],"resource_name":"books"}`), &want)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
}

func challengeNamesTheMetadata(t *testing.T, _ *fakeIssuer, a *Authenticator) {
	got := refused(t, a, ask(""), 401, "", "access token is missing")
	if want := `Bearer scope="read list", resource_metadata="` + metadataAt + `"`; got != want {
		t.Errorf("got %s", got)
	}
}

func challengeHasScopes(t *testing.T, _ *fakeIssuer, a *Authenticator) {
	for text, code := range map[string]string{"": "", token("two", nil): InvalidToken} {
		if got := refused(t, a, ask(text), 401, code, ""); !strings.Contains(got, `scope="read list"`) {
			t.Errorf("got %s", got)
		}
	}
}

func everyRequestNeedsAToken(t *testing.T, _ *fakeIssuer, a *Authenticator) {
	allowed(t, a, ask(token("one", map[string]any{"scope": "read list"})))
	refused(t, a, ask(""), 401, "", "missing")
	r := ask("")
	r.Header.Set("Authorization", "Basic YTpi")
	refused(t, a, r, 401, "", "missing")
}

func queryIsNotRead(t *testing.T, _ *fakeIssuer, a *Authenticator) {
	text := token("one", map[string]any{"scope": "read list"})
	r := httptest.NewRequest(http.MethodPost, "/mcp?access_token="+text, strings.NewReader("access_token="+text))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	refused(t, a, r, 401, "", "missing")
}

func signatureCounts(t *testing.T, f *fakeIssuer, a *Authenticator) {
	f.publish("one", "two")
	text, other := token("one", nil), token("two", nil)
	i, j := strings.LastIndexByte(text, '.'), strings.LastIndexByte(other, '.')
	refused(t, a, ask(text[:i]+other[j:]), 401, InvalidToken, "wrong signature")
}

func audienceCounts(t *testing.T, _ *fakeIssuer, a *Authenticator) {
	for _, aud := range []any{nil, "", "https://mcp.example.com", []string{"https://login.example.com/tenant"}, "app"} {
		refused(t, a, ask(token("one", map[string]any{"aud": aud})), 401, InvalidToken, "another audience")
	}
}

func errorsHaveCodes(t *testing.T, _ *fakeIssuer, a *Authenticator) {
	got := refused(t, a, ask(token("one", map[string]any{"aud": "x"})), 401, InvalidToken, "")
	want := `Bearer error="invalid_token", error_description="the access token is for another audience", scope="read list", resource_metadata="` + metadataAt + `"`
	if got != want {
		t.Errorf("got %s", got)
	}
}

func expiredIs401(t *testing.T, _ *fakeIssuer, a *Authenticator) {
	text := token("one", map[string]any{"scope": "read list"})
	allowed(t, a, ask(text))
	time.Sleep(5*time.Minute + skew)
	refused(t, a, ask(text), 401, InvalidToken, "expired")
}

func foreignIssuerIsRefused(t *testing.T, _ *fakeIssuer, a *Authenticator) {
	refused(t, a, ask(token("one", map[string]any{"iss": "https://other.example"})), 401, InvalidToken, "another issuer")
}

func noOfflineAccess(t *testing.T, _ *fakeIssuer, _ *Authenticator) {
	if _, err := New(Options{Issuer: testIssuer, Resource: testResource, Scopes: []string{"offline_access"}}); err == nil {
		t.Error("offline_access is accepted as a scope of this server")
	}
}

func malformedIs400(t *testing.T, _ *fakeIssuer, a *Authenticator) {
	two := ask("x")
	two.Header.Add("Authorization", "Bearer y")
	empty := ask("")
	empty.Header.Set("Authorization", "Bearer ")
	for _, r := range []*http.Request{two, empty} {
		got := refused(t, a, r, 400, InvalidRequest, "")
		if !strings.Contains(got, `error="invalid_request"`) {
			t.Errorf("got %s", got)
		}
	}
}

func insufficientScopeIs403(t *testing.T, _ *fakeIssuer, a *Authenticator) {
	for _, scope := range []any{nil, "", "read", "other", 5} {
		got := refused(t, a, ask(token("one", map[string]any{"scope": scope})), 403, InsufficientScope, "lacks a scope")
		for _, part := range []string{`error="insufficient_scope"`, `scope="read list"`, `resource_metadata="` + metadataAt + `"`} {
			if !strings.Contains(got, part) {
				t.Errorf("%s lacks %s", got, part)
			}
		}
	}
}

func hierarchiesCount(t *testing.T, _ *fakeIssuer, a *Authenticator) {
	for _, scope := range []string{"admin", "write", "read list"} {
		allowed(t, a, ask(token("one", map[string]any{"scope": scope})))
	}
}

func capitalsAreAccepted(t *testing.T, _ *fakeIssuer, a *Authenticator) {
	allowed(t, a, ask(token("one", map[string]any{"scope": "admin", "aud": "HTTPS://MCP.EXAMPLE.COM/mcp"})))
}

func nothingIsServedBefore(t *testing.T, _ *fakeIssuer, a *Authenticator) {
	var who *Caller
	h := a.Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { who = FromContext(r.Context()) }))
	for _, text := range []string{"", "x", token("one", map[string]any{"aud": "x"})} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, ask(text))
		if w.Code != 401 || who != nil || w.Header().Get("WWW-Authenticate") == "" {
			t.Errorf("%d %v, served %v", w.Code, w.Header(), who)
		}
	}
	h.ServeHTTP(httptest.NewRecorder(), ask(token("one", map[string]any{"scope": "admin"})))
	if who == nil || who.Subject != "ann" {
		t.Errorf("the handler sees %+v", who)
	}
}

// tokensAreNotKept looks at the one place that keeps anything by token.
func tokensAreNotKept(t *testing.T, f *fakeIssuer, _ *Authenticator) {
	a := f.authenticator(t, func(o *Options) { o.Introspection = &Introspection{"a", "b"} })
	f.tokens["sesame"] = goodClaims(map[string]any{"active": true})
	c := allowed(t, a, ask("sesame"))
	if len(a.opaque.answers.known) != 1 {
		t.Fatal("nothing is kept: look elsewhere")
	}
	for sum, kept := range a.opaque.answers.known {
		if sum != sha256.Sum256([]byte("sesame")) || strings.Contains(fmt.Sprintf("%+v %+v", *kept.value, *c), "sesame") {
			t.Errorf("kept: %x %+v", sum, kept.value)
		}
	}
}

func endpointsAreHTTPS(t *testing.T, _ *fakeIssuer, a *Authenticator) {
	if _, err := New(Options{Issuer: "http://login.example.com", Resource: testResource}); err == nil {
		t.Error("an issuer over plain http is accepted")
	}
	if a.issuer.may("http://login.example.com/jwks") || !a.issuer.may("https://keys.example.com/jwks") {
		t.Error("an endpoint over plain http is accepted, or one over https is not")
	}
}
