package auth

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	testIssuer   = "https://login.example.com/tenant"
	testResource = "https://mcp.example.com/mcp"
)

// keyPair returns the same key for a name, so that a test makes few.
func keyPair(name string) *rsa.PrivateKey {
	pairs.Lock()
	defer pairs.Unlock()
	if pairs.made[name] == nil {
		pairs.made[name], _ = rsa.GenerateKey(rand.Reader, 2048)
	}
	return pairs.made[name]
}

var pairs = struct {
	sync.Mutex
	made map[string]*rsa.PrivateKey
}{made: map[string]*rsa.PrivateKey{}}

// fakeIssuer answers requests without a network, so that time can be faked.
type fakeIssuer struct {
	mu       sync.Mutex
	requests map[string]int // by path
	down     bool
	slow     time.Duration
	issuer   string // what its metadata says; empty: the truth
	keys     []any  // of the JWK Set
	keyText  string // in place of the JWK Set
	tokens   map[string]any
	client   string // who introspected last, as Basic has it
	at       map[string]bool
	metadata map[string]any // more of it; nil leaves a member out
	// exchange answers token requests: a status, and what is written as JSON.
	exchange func(form url.Values) (int, any)
}

func newFakeIssuer() *fakeIssuer {
	f := &fakeIssuer{requests: map[string]int{}, tokens: map[string]any{}, at: map[string]bool{"/.well-known/oauth-authorization-server/tenant": true}}
	f.publish("one")
	return f
}

func (f *fakeIssuer) publish(names ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keys = nil
	for _, name := range names {
		f.keys = append(f.keys, jose.JSONWebKey{Key: keyPair(name).Public(), KeyID: name, Algorithm: "RS256", Use: "sig"})
	}
}

func (f *fakeIssuer) change(by func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	by()
}

func (f *fakeIssuer) count(path string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests[path]
}

func (f *fakeIssuer) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	slow := f.slow
	f.mu.Unlock()
	select {
	case <-time.After(slow):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests[r.URL.Path]++
	if f.down {
		return nil, errors.New("connection refused")
	}
	w := httptest.NewRecorder()
	switch {
	case f.at[r.URL.Path]:
		name := f.issuer
		if name == "" {
			name = testIssuer
		}
		all := map[string]any{
			"issuer": name, "jwks_uri": "https://login.example.com/jwks", "introspection_endpoint": "https://login.example.com/introspect",
			"token_endpoint": "https://login.example.com/token", "scopes_supported": []int{1},
		}
		maps.Copy(all, f.metadata)
		maps.DeleteFunc(all, func(_ string, v any) bool { return v == nil })
		_ = json.NewEncoder(w).Encode(all)
	case r.URL.Path == "/token" && f.exchange != nil:
		body, _ := io.ReadAll(r.Body)
		form, _ := url.ParseQuery(string(body))
		f.client = r.Header.Get("Authorization")
		status, said := f.exchange(form)
		if status/100 == 3 {
			w.Header().Set("Location", "https://login.example.com/elsewhere")
		}
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(said)
	case r.URL.Path == "/jwks" && f.keyText != "":
		_, _ = io.WriteString(w, f.keyText)
	case r.URL.Path == "/jwks":
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": f.keys})
	case r.URL.Path == "/introspect":
		body, _ := io.ReadAll(r.Body)
		form, _ := url.ParseQuery(string(body))
		f.client = r.Header.Get("Authorization")
		said, ok := f.tokens[form.Get("token")]
		if !ok {
			said = map[string]any{"active": false}
		}
		_ = json.NewEncoder(w).Encode(said)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
	got := w.Result()
	got.Request = r
	return got, nil
}

// authenticator is one for the issuer, with the options changed.
func (f *fakeIssuer) authenticator(t *testing.T, by ...func(*Options)) *Authenticator {
	t.Helper()
	o := Options{Issuer: testIssuer, Resource: testResource, Client: &http.Client{Transport: f}}
	for _, change := range by {
		change(&o)
	}
	a, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// token makes a token that is good but for the claims; nil leaves one out.
func token(key string, claims map[string]any) string {
	return sign(jose.RS256, keyPair(key), map[string]any{"kid": key, "typ": "at+jwt"}, goodClaims(claims))
}

func goodClaims(more map[string]any) map[string]any {
	all := map[string]any{
		"iss": testIssuer, "sub": "ann", "aud": testResource, "client_id": "app", "exp": time.Now().Add(5 * time.Minute).Unix(),
		"iat": time.Now().Unix(), "jti": "1", "scope": "read write",
	}
	maps.Copy(all, more)
	maps.DeleteFunc(all, func(_ string, v any) bool { return v == nil })
	return all
}

func sign(alg jose.SignatureAlgorithm, key any, header, claims map[string]any) string {
	o := &jose.SignerOptions{ExtraHeaders: map[jose.HeaderKey]any{}}
	for k, v := range header {
		o.ExtraHeaders[jose.HeaderKey(k)] = v
	}
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, o)
	if err != nil {
		panic(err)
	}
	text, _ := json.Marshal(claims)
	signed, err := s.Sign(text)
	if err != nil {
		panic(err)
	}
	compact, err := signed.CompactSerialize()
	if err != nil {
		panic(err)
	}
	return compact
}

// ask is a request with a bearer token; empty: without.
func ask(token string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "https://mcp.example.com/mcp", http.NoBody)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return r
}

// refused fails unless the request is answered with the status and the code, and
// returns the challenge.
func refused(t *testing.T, a *Authenticator, r *http.Request, status int, code, text string) (challenge string) {
	t.Helper()
	caller, err := a.Authenticate(r)
	e, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatalf("got the caller %+v, want %d %s", caller, status, code)
	}
	if e.Status != status || e.Code != code || !strings.Contains(e.Message, text) {
		t.Errorf("got %d %s %q, want %d %s %q", e.Status, e.Code, e.Message, status, code, text)
	}
	return e.Challenge()
}

// allowed fails unless the request has a caller.
func allowed(t *testing.T, a *Authenticator, r *http.Request) *Caller {
	t.Helper()
	caller, err := a.Authenticate(r)
	if err != nil {
		t.Fatal(err)
	}
	return caller
}

func TestMetadataOfAnIssuerIsFoundInTheOrderOfMCP(t *testing.T) {
	for _, at := range []string{"/.well-known/oauth-authorization-server/tenant", "/.well-known/openid-configuration/tenant", "/tenant/.well-known/openid-configuration"} {
		synctest.Test(t, func(t *testing.T) {
			f := newFakeIssuer()
			f.at = map[string]bool{at: true}
			allowed(t, f.authenticator(t), ask(token("one", nil)))
			if f.count(at) != 1 {
				t.Errorf("%s was asked %d times", at, f.count(at))
			}
		})
	}
}

func TestMetadataOfAnotherIssuerIsNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeIssuer()
		f.issuer = "https://login.example.com/tenant/"
		refused(t, f.authenticator(t), ask(token("one", nil)), 503, "", "another issuer")
		if f.count("/jwks") != 0 {
			t.Error("its keys were fetched")
		}
	})
}

func TestIssuerThatIsDownIsNotBlamedOnTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeIssuer()
		f.down = true
		a := f.authenticator(t)
		if challenge := refused(t, a, ask(token("one", nil)), 503, "", "try again later"); challenge != "" {
			t.Errorf("there is a challenge: %s", challenge)
		}
		asked := f.count("/.well-known/oauth-authorization-server/tenant")
		for range 50 {
			refused(t, a, ask(token("one", nil)), 503, "", "try again later")
		}
		if f.count("/.well-known/oauth-authorization-server/tenant") != asked {
			t.Error("every request asks the issuer again")
		}
		f.change(func() { f.down = false })
		time.Sleep(fetchAgain)
		allowed(t, a, ask(token("one", nil)))
	})
}

func TestKeysOutliveTheirIssuerForATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeIssuer()
		a := f.authenticator(t)
		allowed(t, a, ask(token("one", nil)))
		f.change(func() { f.down = true })
		time.Sleep(usableFor - time.Minute)
		allowed(t, a, ask(token("one", nil)))
		synctest.Wait()
		// A key that is not known may be new: the issuer would have to be asked.
		time.Sleep(fetchAgain)
		refused(t, a, ask(token("two", nil)), 503, "", "try again later")
		time.Sleep(2 * time.Minute)
		refused(t, a, ask(token("one", nil)), 503, "", "try again later")
	})
}

func TestSlowIssuerHoldsNobodyForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeIssuer()
		a := f.authenticator(t)
		allowed(t, a, ask(token("one", nil)))
		f.change(func() { f.slow = time.Hour })
		time.Sleep(freshFor + time.Second)
		began := time.Now()
		allowed(t, a, ask(token("one", nil))) // by the old keys
		if time.Since(began) != 0 {
			t.Errorf("a known key waited %v for the issuer", time.Since(began))
		}
		refused(t, a, ask(token("two", nil)), 503, "", "try again later")
		if time.Since(began) > fetchTime {
			t.Errorf("a request waited for %v", time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		time.Sleep(fetchAgain)
		refused(t, a, ask(token("two", nil)).WithContext(ctx), 503, "", "try again later")
		synctest.Wait()
		time.Sleep(fetchTime)
	})
}

func TestNewKeysAreFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeIssuer()
		a := f.authenticator(t)
		allowed(t, a, ask(token("one", nil)))
		time.Sleep(fetchAgain)
		f.publish("one", "two")
		allowed(t, a, ask(token("two", nil)))
		// And a key that was taken back is not trusted for long.
		f.publish("two")
		time.Sleep(freshFor + time.Second)
		allowed(t, a, ask(token("two", nil)))
		synctest.Wait()
		refused(t, a, ask(token("one", nil)), 401, InvalidToken, "does not publish")
	})
}

func TestVerifiedTokensEndWithTheirKeysAndTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeIssuer()
		a := f.authenticator(t)
		life := 3 * freshFor
		good := token("one", map[string]any{"exp": time.Now().Add(life).Unix()})
		short := token("one", map[string]any{"exp": time.Now().Add(time.Minute).Unix()})
		for _, text := range []string{good, short} {
			first := allowed(t, a, ask(text))
			first.Subject, first.Scopes[0] = "root", "admin"
			if again := allowed(t, a, ask(text)); again.Subject != "ann" || again.Scopes[0] != "read" {
				t.Errorf("a caller was changed by another request: %+v", again)
			}
		}
		if n := len(a.issuer.known.verified.callers); n != 2 {
			t.Fatalf("%d tokens are remembered", n)
		}
		refused(t, a, ask(good[:len(good)-8]), 401, InvalidToken, "wrong signature")
		time.Sleep(time.Minute + skew)
		refused(t, a, ask(short), 401, InvalidToken, "expired")
		f.publish("two")
		time.Sleep(freshFor)
		allowed(t, a, ask(good)) // by the old keys, while the new ones are fetched
		synctest.Wait()
		refused(t, a, ask(good), 401, InvalidToken, "does not publish")
	})
	var v verified
	for i := range maxVerified + 10 {
		v.keep(sha256.Sum256([]byte{byte(i), byte(i >> 8)}), &Caller{})
	}
	if len(v.callers) != 10 {
		t.Errorf("%d tokens are remembered", len(v.callers))
	}
}

func TestFloodOfUnknownKeysIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeIssuer()
		a := f.authenticator(t)
		allowed(t, a, ask(token("one", nil)))
		text := token("one", nil)
		_, rest, _ := strings.Cut(text, ".")
		began := time.Now()
		var all sync.WaitGroup
		for worker := range 20 {
			all.Go(func() {
				for i := range 60 {
					r := ask(b64(`{"alg":"RS256","kid":"`+strconv.Itoa(worker)+"-"+strconv.Itoa(i)+`"}`) + "." + rest)
					refused(t, a, r, 401, InvalidToken, "does not publish")
					time.Sleep(time.Second)
				}
			})
		}
		all.Wait()
		most := int(time.Since(began)/fetchAgain) + 2
		if n := f.count("/jwks"); n > most {
			t.Errorf("1,200 unknown keys made %d fetches in %v", n, time.Since(began))
		}
		allowed(t, a, ask(token("one", nil)))
	})
}

func TestOnlyKeysForSignaturesCount(t *testing.T) {
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	one := keyPair("one")
	for _, tt := range []struct {
		name string
		key  any
		alg  jose.SignatureAlgorithm
		by   any
		good bool
	}{
		{"one for signatures", jose.JSONWebKey{Key: one.Public(), KeyID: "k", Use: "sig"}, jose.RS256, one, true},
		{"one without a use", jose.JSONWebKey{Key: one.Public(), KeyID: "k"}, jose.PS384, one, true},
		{"one for encryption", jose.JSONWebKey{Key: one.Public(), KeyID: "k", Use: "enc"}, jose.RS256, one, false},
		{"one for another algorithm", jose.JSONWebKey{Key: one.Public(), KeyID: "k", Use: "sig", Algorithm: "PS256"}, jose.RS256, one, false},
		{"a short one", jose.JSONWebKey{Key: small.Public(), KeyID: "k", Use: "sig"}, jose.RS256, small, false},
		{"of a curve", jose.JSONWebKey{Key: ec.Public(), KeyID: "k", Use: "sig"}, jose.ES256, ec, true},
		{"of Edwards' curve", jose.JSONWebKey{Key: ed.Public(), KeyID: "k", Use: "sig"}, jose.EdDSA, ed, true},
		{"a shared secret", jose.JSONWebKey{Key: []byte("0123456789abcdef0123456789abcdef"), KeyID: "k"}, jose.HS256, []byte("0123456789abcdef0123456789abcdef"), false},
		{"a private one", jose.JSONWebKey{Key: ec, KeyID: "k"}, jose.ES256, ec, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeIssuer()
				f.keys = []any{map[string]any{"kty": "new"}, 5, tt.key}
				a := f.authenticator(t)
				_, err := a.Authenticate(ask(sign(tt.alg, tt.by, map[string]any{"kid": "k"}, goodClaims(nil))))
				if (err == nil) != tt.good {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

func TestJWKSetIsBounded(t *testing.T) {
	many := `{"keys":[` + strings.Repeat(`{},`, maxKeys) + `{}]}`
	for name, text := range map[string]string{"keys": many, "bytes": `{"keys":[],"x":"` + strings.Repeat("x", maxDocument) + `"}`, "no set": `[]`} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeIssuer()
				f.keyText = text
				refused(t, f.authenticator(t), ask(token("one", nil)), 503, "", "cannot be read")
			})
		})
	}
}

func TestIssuerOnAPrivateHostIsReachedByItsOwnNameAlone(t *testing.T) {
	var base string
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"issuer": base, "jwks_uri": base + "/jwks"})
	})
	mux.HandleFunc("/jwks", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": []any{jose.JSONWebKey{Key: keyPair("one").Public(), KeyID: "one"}}})
	})
	s := httptest.NewServer(mux)
	defer s.Close()
	base = s.URL
	var log bytes.Buffer
	a, err := New(Options{Issuer: base, Resource: testResource, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	allowed(t, a, ask(token("one", map[string]any{"iss": base})))

	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		t.Error("another private host was reached")
		w.WriteHeader(http.StatusInternalServerError)
	}))
	defer other.Close()
	elsewhere := http.NewServeMux()
	led := httptest.NewServer(elsewhere)
	defer led.Close()
	elsewhere.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"issuer": led.URL, "jwks_uri": other.URL + "/jwks"})
	})
	if a, err = New(Options{Issuer: led.URL, Resource: testResource}); err != nil {
		t.Fatal(err)
	}
	refused(t, a, ask(token("one", map[string]any{"iss": led.URL})), 503, "", "cannot be read")
}

func clientOf(f *fakeIssuer) *http.Client { return &http.Client{Transport: f} }
