package auth

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
)

func b64(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }

func TestForgedTokensAreRefused(t *testing.T) {
	mine, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(keyPair("one").Public())
	if err != nil {
		t.Fatal(err)
	}
	asPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
	asJWK, err := json.Marshal(jose.JSONWebKey{Key: keyPair("one").Public(), KeyID: "one"})
	if err != nil {
		t.Fatal(err)
	}
	kid := map[string]any{"kid": "one"}
	with := func(more map[string]any) map[string]any {
		all := maps.Clone(kid)
		maps.Copy(all, more)
		return all
	}
	a := newFakeIssuer().authenticator(t)
	good := token("one", nil)
	allowed(t, a, ask(good))
	parts := strings.Split(good, ".")
	claims, _ := json.Marshal(goodClaims(map[string]any{"sub": "root"}))
	for _, tt := range []struct{ name, token, want string }{
		{"alg none", b64(`{"alg":"none","kid":"one"}`) + "." + b64(string(claims)) + ".", "not accepted"},
		{"alg none in another case", b64(`{"alg":"nOnE","kid":"one"}`) + "." + b64(string(claims)) + ".", "not accepted"},
		{"no alg", b64(`{"kid":"one"}`) + "." + b64(string(claims)) + ".", "not accepted"},
		{"HS256 by the public key as PEM", sign(jose.HS256, asPEM, kid, goodClaims(nil)), "not accepted"},
		{"HS256 by the public key as JWK", sign(jose.HS256, asJWK, kid, goodClaims(nil)), "not accepted"},
		{"a stranger's key under the kid", sign(jose.RS256, mine, kid, goodClaims(nil)), "wrong signature"},
		{"a stranger's key without a kid", sign(jose.RS256, mine, nil, goodClaims(nil)), "wrong signature"},
		{"a key in the header", sign(jose.RS256, mine, with(map[string]any{"jwk": jose.JSONWebKey{Key: mine.Public()}}), goodClaims(nil)), "wrong signature"},
		{"the URL of keys in the header", sign(jose.RS256, mine, with(map[string]any{"jku": "https://evil.example/jwks", "x5u": "https://evil.example/x"}), goodClaims(nil)), "wrong signature"},
		{"a kid that is a path", sign(jose.RS256, mine, map[string]any{"kid": "../../../../dev/null"}, goodClaims(nil)), "does not publish"},
		{"a kid that is a statement", sign(jose.RS256, mine, map[string]any{"kid": "' OR 1=1 --"}, goodClaims(nil)), "does not publish"},
		{"changed claims", parts[0] + "." + b64(string(claims)) + "." + parts[2], "wrong signature"},
		{"no signature", parts[0] + "." + parts[1] + ".", "wrong signature"},
		{"a critical header", sign(jose.RS256, keyPair("one"), with(map[string]any{"crit": []string{"b64"}, "b64": true}), goodClaims(nil)), "critical"},
		{"a token of another type", sign(jose.RS256, keyPair("one"), with(map[string]any{"typ": "logout+jwt"}), goodClaims(nil)), "another type"},
		{"four parts", good + ".x", "not a JSON Web Token"},
		{"JSON serialization", b64(`{"payload":"x"}`), "not a JSON Web Token"},
		{"no ASCII", "ä.b.c", "characters"},
		{"two names alike", sign(jose.RS256, keyPair("one"), kid, goodClaims(map[string]any{"Aud": "x", "aud": "https://other.example"})), "another audience"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			refused(t, a, ask(tt.token), 401, InvalidToken, tt.want)
		})
	}
}

func TestClaimsAreChecked(t *testing.T) {
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // where synctest begins
	for _, tt := range []struct {
		name   string
		claims map[string]any
		want   string // empty: it is good
	}{
		{"audience", map[string]any{"aud": "https://other.example.com/mcp"}, "another audience"},
		{"audience is a list with this server", map[string]any{"aud": []string{"x", testResource}}, ""},
		{"audience is a list without", map[string]any{"aud": []string{"x", testResource + "/x"}}, "another audience"},
		{"audience in capital letters", map[string]any{"aud": "HTTPS://MCP.Example.COM/mcp"}, ""},
		{"audience with another path", map[string]any{"aud": "https://mcp.example.com/MCP"}, "another audience"},
		{"no audience", map[string]any{"aud": nil}, "another audience"},
		{"audience is an object", map[string]any{"aud": map[string]any{"a": testResource}}, "malformed"},
		{"issuer", map[string]any{"iss": "https://login.example.com/other"}, "another issuer"},
		{"issuer with a slash", map[string]any{"iss": testIssuer + "/"}, "another issuer"},
		{"no issuer", map[string]any{"iss": nil}, "another issuer"},
		{"expired", map[string]any{"exp": now.Add(-skew).Unix()}, "expired"},
		{"expired by the skew of clocks", map[string]any{"exp": now.Add(time.Second - skew).Unix()}, ""},
		{"expires with a fraction", map[string]any{"exp": float64(now.Unix()) + 100.5}, ""},
		{"expires at the end of time", map[string]any{"exp": 1e300}, ""},
		{"expired at the beginning of time", map[string]any{"exp": -1e300}, "expired"},
		{"never expires", map[string]any{"exp": nil}, "when it expires"},
		{"expires is a text", map[string]any{"exp": "tomorrow"}, "malformed"},
		{"not yet", map[string]any{"nbf": now.Add(skew + time.Second).Unix()}, "not valid yet"},
		{"not yet by the skew of clocks", map[string]any{"nbf": now.Add(skew).Unix()}, ""},
		{"nobody's", map[string]any{"sub": nil, "client_id": nil}, "whose"},
		{"of a client alone", map[string]any{"sub": nil}, ""},
		{"of a client by azp", map[string]any{"sub": nil, "client_id": nil, "azp": "c"}, ""},
		{"control characters", map[string]any{"sub": "a\nb"}, "whose"},
		{"bound to a key", map[string]any{"cnf": map[string]any{"jkt": "x"}}, "bound to a key"},
		{"an ID token", map[string]any{"at_hash": "x"}, "not an access token"},
		{"an ID token of Keycloak", map[string]any{"typ": "ID"}, "not an access token"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, r := newFakeIssuer().authenticator(t), ask(token("one", tt.claims))
				if tt.want == "" {
					allowed(t, a, r)
					return
				}
				refused(t, a, r, 401, InvalidToken, tt.want)
			})
		})
	}
}

func TestOversizedTokenIsNotDecoded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeIssuer()
		a := f.authenticator(t)
		refused(t, a, ask(token("one", map[string]any{"x": strings.Repeat("x", maxCredential)})), 401, InvalidToken, "longer than")
		if f.count("/jwks") != 0 {
			t.Error("the issuer was asked")
		}
	})
}

func TestNoSecretIsLoggedOrAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeIssuer()
		var log bytes.Buffer
		a := f.authenticator(t, func(o *Options) {
			o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			o.Introspection = &Introspection{ClientID: "tenon", ClientSecret: "sesame-secret"}
			o.Keys = []Key{NewKey("ops", "sesame-key")}
		})
		f.tokens["sesame-opaque"] = 5
		f.down = true
		for _, text := range []string{"sesame-opaque", token("one", map[string]any{"sub": "sesame", "aud": "sesame"}), "sesame-key-wrong"} {
			_, err := a.Authenticate(ask(text))
			if err == nil || strings.Contains(err.Error(), "sesame") {
				t.Errorf("got %v", err)
			}
			f.change(func() { f.down = false })
			time.Sleep(fetchAgain)
		}
		if log.Len() == 0 || strings.Contains(log.String(), "sesame") {
			t.Errorf("the log: %s", log.String())
		}
	})
}

// FuzzCredential gives all that a header can hold to the reader: it never panics, and
// nobody is known without a signature of the issuer.
func FuzzCredential(f *testing.F) {
	issuer := newFakeIssuer()
	a, err := New(Options{Issuer: testIssuer, Resource: testResource, Client: clientOf(issuer), Introspection: &Introspection{"c", "s"}, Keys: []Key{NewKey("ops", "sesame")}})
	if err != nil {
		f.Fatal(err)
	}
	good := token("one", map[string]any{"exp": 4e9})
	f.Add("Authorization", "Bearer "+good)
	f.Add("Authorization", "bearer sesame")
	f.Add("X-Api-Key", "sesame")
	f.Add("Authorization", "Bearer "+b64(`{"alg":"none"}`)+".e30.")
	f.Add("Authorization", "Bearer "+b64(`{"alg":"RS256","kid":"one","jwk":{"kty":"RSA"}}`)+"."+strings.SplitN(good, ".", 2)[1])
	f.Add("Authorization", "Basic x")
	f.Fuzz(func(t *testing.T, name, value string) {
		r := ask("")
		r.Header.Set(name, value)
		caller, err := a.Authenticate(r)
		switch {
		case err != nil:
		case caller.Key == "ops" && strings.Contains(value, "sesame"):
		case caller.Issuer == testIssuer && signedBy(good, value):
		default:
			t.Errorf("%q: %q is the caller %+v", name, value, caller)
		}
	})
}

// signedBy reports whether value has the signature of the good token over the same
// header and claims; the last letter of base64 may differ in bits that mean nothing.
func signedBy(good, value string) bool {
	i := strings.LastIndexByte(good, '.')
	if !strings.Contains(value, good[:i+1]) {
		return false
	}
	got, err := base64.RawURLEncoding.DecodeString(strings.TrimSpace(value[strings.LastIndexByte(value, '.')+1:]))
	want, _ := base64.RawURLEncoding.DecodeString(good[i+1:])
	return err == nil && bytes.Equal(got, want)
}
