package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestCallerIsWhatTheTokenSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newFakeIssuer().authenticator(t)
		c := allowed(t, a, ask(token("one", map[string]any{"groups": []any{"staff", 5}, "scp": []string{"more"}, "scope": "read write"})))
		if c.Issuer != testIssuer || c.Subject != "ann" || c.ClientID != "app" || c.Key != "" || c.Expires.Before(time.Now()) ||
			!slices.Equal(c.Scopes, []string{"read", "write", "more"}) || !slices.Equal(c.Groups, []string{"staff"}) {
			t.Errorf("got %+v", c)
		}
	})
}

func TestNoTwoCallersHaveOneID(t *testing.T) {
	ids := map[string]bool{}
	for _, c := range []Caller{
		{Key: "ann"},
		{Issuer: testIssuer, Subject: "ann"},
		{Issuer: testIssuer, ClientID: "ann"},
		{Issuer: testIssuer, Subject: "client ann"},
		{Issuer: testIssuer + "/x", Subject: "ann"},
		{Issuer: testIssuer, Subject: "ann sub ann"},
	} {
		if ids[c.ID()] {
			t.Errorf("%+v has the ID of another one", c)
		}
		ids[c.ID()] = true
	}
	for _, name := range []string{testIssuer + " sub ann", "", "a\tb"} {
		if _, err := New(Options{Keys: []Key{NewKey(name, "k")}}); err == nil {
			t.Errorf("a key can be named %q", name)
		}
	}
}

func TestAPIKeys(t *testing.T) {
	sum := sha256.Sum256([]byte("sesame"))
	ops, err := ParseKey("ops", hex.EncodeToString(sum[:]))
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(Options{Keys: []Key{ops, NewKey("ci", "open")}})
	if err != nil {
		t.Fatal(err)
	}
	for key, name := range map[string]string{"sesame": "ops", "open": "ci"} {
		if c := allowed(t, a, ask(key)); c.Key != name || c.ID() != name {
			t.Errorf("got %+v", c)
		}
		r := ask("")
		r.Header.Set("X-Api-Key", key)
		if c := allowed(t, a, r); c.Key != name {
			t.Errorf("got %+v", c)
		}
	}
	for _, key := range []string{"sesam", "sesamee", hex.EncodeToString(sum[:]), ""} {
		r := ask("")
		r.Header.Set("X-Api-Key", key)
		if challenge := refused(t, a, r, 401, map[bool]string{true: "", false: InvalidToken}[key == ""], "the key is missing or wrong"); challenge != "Bearer" {
			t.Errorf("%q: the challenge is %q", key, challenge)
		}
	}
	for _, sum := range []string{"", "00", strings.Repeat("g", 64), strings.Repeat("0", 66), strings.Repeat("0", 63)} {
		if _, err := ParseKey("x", sum); err == nil {
			t.Errorf("%q is read as a sum", sum)
		}
	}
	for what, keys := range map[string][]Key{"one name": {NewKey("a", "1"), NewKey("a", "2")}, "one key": {NewKey("a", "1"), NewKey("b", "1")}} {
		if _, err := New(Options{Keys: keys}); err == nil {
			t.Errorf("%s twice is accepted", what)
		}
	}
}

func TestMistakesInOptionsAreSaid(t *testing.T) {
	good := Options{Issuer: testIssuer, Resource: testResource}
	for _, tt := range []struct {
		name, want string
		by         func(*Options)
	}{
		{"none", "", func(*Options) {}},
		{"no issuer", "no issuer", func(o *Options) { o.Issuer = "" }},
		{"no URL", "is not a URL", func(o *Options) { o.Issuer = "login" }},
		{"plain http", "https", func(o *Options) { o.Issuer = "http://login.example.com" }},
		{"plain http on loopback", "", func(o *Options) { o.Issuer = "http://127.0.0.1:9000" }},
		{"plain http of an allowed host", "", func(o *Options) { o.Issuer, o.AllowHosts = "http://keycloak:8080", []string{"keycloak:8080"} }},
		{"no resource", "the resource", func(o *Options) { o.Resource = "" }},
		{"a fragment", "the resource", func(o *Options) { o.Resource += "#x" }},
		{"no scheme", "the resource", func(o *Options) { o.Resource = "mcp.example.com" }},
		{"no scope", "is not a scope", func(o *Options) { o.Scopes = []string{`a"b`} }},
		{"an implied one", "is not a scope", func(o *Options) { o.Implies = map[string][]string{"a": {"b c"}} }},
		{"refresh tokens", "offline_access", func(o *Options) { o.Scopes = []string{"offline_access"} }},
		{"no secret", "secret", func(o *Options) { o.Introspection = &Introspection{ClientID: "x"} }},
		{"no signature", "not a signature algorithm", func(o *Options) { o.Algorithms = []string{"none"} }},
		{"a shared secret", "not a signature algorithm", func(o *Options) { o.Algorithms = []string{"HS256"} }},
		{"a host", "allowed host", func(o *Options) { o.AllowHosts = []string{"https://x"} }},
		{"an audience", "audience", func(o *Options) { o.Audiences = []string{""} }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := good
			tt.by(&o)
			_, err := New(o)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestOtherAudiencesReplaceTheResource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newFakeIssuer().authenticator(t, func(o *Options) { o.Audiences = []string{"api://mcp", "1234"} })
		for _, aud := range []string{"api://mcp", "1234"} {
			allowed(t, a, ask(token("one", map[string]any{"aud": aud})))
		}
		refused(t, a, ask(token("one", nil)), 401, InvalidToken, "another audience")
	})
}

func TestOpaqueTokensAreIntrospected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeIssuer()
		a := f.authenticator(t, func(o *Options) { o.Introspection = &Introspection{"a b", "c:d"} })
		say := func(token string, more map[string]any) {
			all := goodClaims(more)
			if _, ok := all["active"]; !ok {
				all["active"] = true
			}
			f.change(func() { f.tokens[token] = all })
		}
		say("good", nil)
		c := allowed(t, a, ask("good"))
		if c.ID() != testIssuer+" sub ann" || !c.HasScope("write") || c.Expires.IsZero() {
			t.Errorf("got %+v", c)
		}
		if user, secret, ok := (&http.Request{Header: http.Header{"Authorization": {f.client}}}).BasicAuth(); !ok || user != "a+b" || secret != "c%3Ad" {
			t.Errorf("introspected as %q %q", user, secret)
		}
		say("dots.in.it", nil)
		allowed(t, a, ask("dots.in.it"))
		for _, tt := range []struct {
			token, want string
			more        map[string]any
		}{
			{"inactive", "not active", map[string]any{"active": false}},
			{"elsewhere", "another audience", map[string]any{"aud": "https://other.example"}},
			{"nowhere", "another audience", map[string]any{"aud": nil}},
			{"foreign", "another issuer", map[string]any{"iss": "https://other.example"}},
			{"expired", "expired", map[string]any{"exp": 5}},
			{"early", "not valid yet", map[string]any{"nbf": time.Now().Unix() + 1000}},
			{"dpop", "not a bearer token", map[string]any{"token_type": "DPoP"}},
			{"bound", "bound to a key", map[string]any{"cnf": map[string]any{"jkt": "x"}}},
		} {
			say(tt.token, tt.more)
			refused(t, a, ask(tt.token), 401, InvalidToken, tt.want)
		}
		// A signature that does not hold is not asked about.
		before := f.count("/introspect")
		say(token("two", nil), nil)
		refused(t, a, ask(token("two", nil)), 401, InvalidToken, "does not publish")
		if f.count("/introspect") != before {
			t.Error("a JSON Web Token was introspected")
		}
	})
}

func TestIntrospectionIsKeptForATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeIssuer()
		a := f.authenticator(t, func(o *Options) { o.Introspection = &Introspection{"a", "b"} })
		claims := goodClaims(map[string]any{"active": true})
		f.tokens["good"], f.tokens["short"] = claims, goodClaims(map[string]any{"active": true, "exp": time.Now().Unix() + 20})
		var all sync.WaitGroup
		f.change(func() { f.slow = time.Second })
		for range 50 {
			all.Go(func() { allowed(t, a, ask("good")) })
		}
		all.Wait()
		f.change(func() { f.slow = 0 })
		if n := f.count("/introspect"); n != 1 {
			t.Errorf("50 requests with one token made %d introspections", n)
		}
		allowed(t, a, ask("short"))
		time.Sleep(20 * time.Second)
		f.change(func() { f.tokens["short"] = map[string]any{"active": false} })
		refused(t, a, ask("short"), 401, InvalidToken, "not active")
		f.change(func() { f.tokens["good"] = map[string]any{"active": false} })
		allowed(t, a, ask("good"))
		time.Sleep(keepActive)
		refused(t, a, ask("good"), 401, InvalidToken, "not active")
		f.change(func() { f.tokens["good"], f.down = claims, true })
		time.Sleep(keepInactive)
		refused(t, a, ask("good"), 503, "", "try again later")
		f.change(func() { f.down = false }) // what could not be asked is not kept
		allowed(t, a, ask("good"))
	})
}

func TestFloodOfOpaqueTokensIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeIssuer()
		a := f.authenticator(t, func(o *Options) { o.Introspection = &Introspection{"a", "b"} })
		f.tokens["good"] = goodClaims(map[string]any{"active": true})
		allowed(t, a, ask("good"))
		for i := range maxAnswers + 100 {
			refused(t, a, ask("x"+strconv.Itoa(i)), 401, InvalidToken, "not active")
		}
		if n := len(a.opaque.answers.known); n > maxAnswers {
			t.Errorf("%d answers are kept", n)
		}
		before := f.count("/introspect")
		allowed(t, a, ask("good"))
		if f.count("/introspect") != before {
			t.Error("a caller who is known was forgotten for tokens that are not")
		}
	})
}
