package auth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

const exchangeSecret = "the secret of the exchanging client"

// exchanging is an issuer that names in each token whose it is and what for, and an
// Authenticator that exchanges.
func exchanging(t *testing.T, by ...func(*Options)) (*fakeIssuer, *Authenticator) {
	f := newFakeIssuer()
	n := 0
	f.exchange = func(form url.Values) (int, any) {
		n++
		text := fmt.Sprintf("%x.%s.%d", questionOf(form.Get("subject_token"), Target{}), form.Get("audience"), n)
		return http.StatusOK, map[string]any{"access_token": text, "issued_token_type": accessTokenURN, "token_type": "Bearer", "expires_in": 300}
	}
	by = append([]func(*Options){func(o *Options) { o.Exchange = &Exchange{"ex", exchangeSecret} }}, by...)
	return f, f.authenticator(t, by...)
}

// as is the context of a caller with the token.
func as(t *testing.T, a *Authenticator, token string) context.Context {
	t.Helper()
	return NewContext(t.Context(), allowed(t, a, ask(token)))
}

func exchangedFor(t *testing.T, ctx context.Context, target Target) string {
	t.Helper()
	token, err := TokenFor(ctx, target)
	if err != nil {
		t.Fatal(err)
	}
	return token.Text()
}

// notFor fails unless there is no token, for the reason.
func notFor(t *testing.T, ctx context.Context, status int, text string) {
	t.Helper()
	token, err := TokenFor(ctx, Target{Audience: "shop"})
	e, ok := errors.AsType[*Error](err)
	if !ok || token != nil || e.Status != status || !strings.Contains(e.Message, text) {
		t.Errorf("got %v, %v (%+v); want %d %q", token, err, e, status, text)
	}
}

func TestTokensOfCallersAreExchanged(t *testing.T) {
	f, a := exchanging(t, func(o *Options) { o.Keys = []Key{NewKey("ops", "sesame")} })
	var form url.Values
	answer := f.exchange
	f.exchange = func(sent url.Values) (int, any) { form = sent; return answer(sent) }
	own := token("one", nil)
	ctx := as(t, a, own)
	got := exchangedFor(t, ctx, Target{Audience: "shop", Scopes: []string{"read", "write"}})
	for name, want := range map[string]string{
		"grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "subject_token": own, "subject_token_type": "urn:ietf:params:oauth:token-type:access_token",
		"requested_token_type": "urn:ietf:params:oauth:token-type:access_token", "audience": "shop", "scope": "read write",
	} {
		if form.Get(name) != want {
			t.Errorf("%s is %q, not %q", name, form.Get(name), want)
		}
	}
	r := &http.Request{Header: http.Header{"Authorization": {f.client}}}
	if id, secret, _ := r.BasicAuth(); id != "ex" || secret != url.QueryEscape(exchangeSecret) {
		t.Errorf("asked as %q %q", id, secret)
	}
	if got == own || got == "" {
		t.Errorf("got %q", got)
	}
	exchangedFor(t, ctx, Target{Audience: "shop"})
	if _, sent := form["scope"]; sent {
		t.Error("scopes that nobody wants were asked for")
	}
	before := f.count("/token")
	key := ask("")
	key.Header.Set("X-Api-Key", "sesame")
	notFor(t, NewContext(t.Context(), allowed(t, a, key)), 401, "no access token that could be exchanged")
	notFor(t, t.Context(), 401, "no access token that could be exchanged")
	if f.count("/token") != before {
		t.Error("the issuer was asked for somebody without a token")
	}
}

func TestAnExchangedTokenBelongsToOneToken(t *testing.T) {
	f, a := exchanging(t)
	seen := map[string]string{}
	for name, target := range map[string]Target{
		"": {Audience: "shop"}, "other audience": {Audience: "shop2"}, "one scope": {Audience: "shop", Scopes: []string{"a"}}, "two scopes": {Audience: "shop", Scopes: []string{"a", "b"}},
		"boundaries": {Audience: "shopa"},
	} {
		for who, claims := range map[string]map[string]any{
			"ann": nil, "bob": {"sub": "bob"}, "ann by another client": {"client_id": "app2"}, "ann with fewer scopes": {"scope": "read"}, "ann in a group": {"groups": []string{"g"}},
		} {
			ctx := as(t, a, token("one", claims))
			got := exchangedFor(t, ctx, target)
			if first := seen[got]; first != "" {
				t.Errorf("%s %s has the token of %s", who, name, first)
			}
			seen[got] = who + " " + name
			if again := exchangedFor(t, ctx, target); again != got {
				t.Errorf("%s %s: %q, then %q", who, name, got, again)
			}
		}
	}
	ctx := as(t, a, token("one", nil))
	if x, y := exchangedFor(t, ctx, Target{"shop", []string{"a", "b"}}), exchangedFor(t, ctx, Target{"shop", []string{"b", "a"}}); x != y {
		t.Error("the order of scopes makes another question")
	}
	if n := f.count("/token"); n != len(seen) {
		t.Errorf("%d exchanges for %d tokens", n, len(seen))
	}
}

func TestExchangesAreSharedAndKeptUntilShortlyBeforeExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, a := exchanging(t)
		ctx := as(t, a, token("one", map[string]any{"exp": time.Now().Add(500 * time.Second).Unix()}))
		f.change(func() { f.slow = time.Second })
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() { exchangedFor(t, ctx, Target{Audience: "shop"}) })
		}
		all.Wait()
		f.change(func() { f.slow = 0 })
		count := func(when string, want int) {
			t.Helper()
			exchangedFor(t, ctx, Target{Audience: "shop"})
			if n := f.count("/token"); n != want {
				t.Errorf("%s there were %d exchanges, not %d", when, n, want)
			}
		}
		count("for 50 at once", 1)
		time.Sleep(269 * time.Second)
		count("before the end", 1)
		time.Sleep(2 * time.Second)
		count("shortly before the exchanged token expires", 2)
		time.Sleep(228 * time.Second)
		count("where the caller's token has expired, within the skew of clocks", 3)
		time.Sleep(skew)
		notFor(t, ctx, 401, "has expired")
		if n := f.count("/token"); n != 3 {
			t.Error("an expired token was exchanged")
		}
	})
}

func TestACallerThatLeavesDoesNotEndTheExchangeOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, a := exchanging(t)
		ctx := as(t, a, token("one", nil))
		f.change(func() { f.slow = time.Second })
		gone, leave := context.WithCancel(ctx)
		var all sync.WaitGroup
		all.Go(func() { _, _ = TokenFor(gone, Target{Audience: "shop"}) })
		synctest.Wait()
		all.Go(func() { exchangedFor(t, ctx, Target{Audience: "shop"}) })
		leave()
		all.Wait()
		if n := f.count("/token"); n != 1 {
			t.Errorf("%d exchanges", n)
		}
	})
}

func TestRefusedExchangesSayWhatToDo(t *testing.T) {
	refusal := func(code string) any {
		return map[string]any{"error": code, "error_description": "SECRET text of the issuer"}
	}
	good := func(more map[string]any) map[string]any {
		all := map[string]any{"access_token": "x", "token_type": "Bearer", "issued_token_type": accessTokenURN}
		maps.Copy(all, more)
		return all
	}
	for name, tt := range map[string]struct {
		status int
		body   any
		want   int
		text   string
		again  time.Duration // after which the issuer is asked again
	}{
		"scope":               {400, refusal("invalid_scope"), 403, `scopes "" for "shop"`, keepRefused},
		"insufficient scope":  {403, refusal("insufficient_scope"), 403, "does not grant", keepRefused},
		"grant":               {400, refusal("invalid_grant"), 401, "does not accept the access token", keepRefused},
		"consent":             {400, refusal("consent_required"), 401, "consent again", keepRefused},
		"client":              {401, refusal("invalid_client"), 500, "does not let this server", keepRefused},
		"grant type":          {400, refusal("unsupported_grant_type"), 500, "does not let this server", keepRefused},
		"target":              {400, refusal("invalid_target"), 500, "refuses the caller a token", keepRefused},
		"no code":             {400, refusal("SECRET"), 500, "does not say why", keepRefused},
		"fails":               {500, map[string]any{}, 503, "try again later", keepFailed},
		"too many":            {429, map[string]any{}, 503, "try again later", keepFailed},
		"later":               {400, refusal("temporarily_unavailable"), 503, "try again later", keepFailed},
		"redirect":            {307, good(nil), 500, "does not say why", keepRefused},
		"no object":           {200, "SECRET", 500, "not the JSON object", keepRefused},
		"no token":            {200, good(map[string]any{"access_token": ""}), 500, "no token", keepRefused},
		"no characters of it": {200, good(map[string]any{"access_token": "a\r\nX: y"}), 500, "malformed", keepRefused},
		"too long":            {200, good(map[string]any{"access_token": strings.Repeat("a", maxCredential+1)}), 500, "too long", keepRefused},
		"not a bearer token":  {200, good(map[string]any{"token_type": "N_A"}), 500, "no bearer token", keepRefused},
		"an ID token":         {200, good(map[string]any{"issued_token_type": "urn:ietf:params:oauth:token-type:id_token"}), 500, "no access token", keepRefused},
		"expired":             {200, good(map[string]any{"expires_in": 0}), 500, "has expired", keepRefused},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				f, a := exchanging(t, func(o *Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
				own := token("one", nil)
				ctx := as(t, a, own)
				f.change(func() {
					f.tokens[own] = map[string]any{"active": true}
					f.exchange = func(url.Values) (int, any) { return tt.status, tt.body }
				})
				notFor(t, ctx, tt.want, tt.text)
				time.Sleep(tt.again - time.Millisecond)
				notFor(t, ctx, tt.want, tt.text)
				if n := f.count("/token"); n != 1 {
					t.Errorf("asked %d times", n)
				}
				time.Sleep(2 * time.Millisecond)
				notFor(t, ctx, tt.want, tt.text)
				if n := f.count("/token"); n != 2 {
					t.Errorf("asked %d times after a while", n)
				}
				if f.count("/elsewhere") != 0 {
					t.Error("a redirect was followed")
				}
				_, err := TokenFor(ctx, Target{Audience: "shop"})
				for _, secret := range []string{"SECRET", own, exchangeSecret} {
					if strings.Contains(log.String()+err.Error(), secret) {
						t.Errorf("%q is in %s %v", secret, log.String(), err)
					}
				}
				allowed(t, a, ask(own))
			})
		})
	}
}

func TestTheCallersOwnTokenIsNotTakenForAnother(t *testing.T) {
	f, a := exchanging(t)
	f.exchange = func(form url.Values) (int, any) {
		return 200, map[string]any{"access_token": form.Get("subject_token"), "token_type": "Bearer"}
	}
	notFor(t, as(t, a, token("one", nil)), 500, "the caller's own token")
}

func TestATokenThatIsTakenBackIsAnswered401(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, a := exchanging(t)
		own, other := token("one", nil), token("one", map[string]any{"sub": "bob"})
		ctx := as(t, a, own)
		f.change(func() {
			f.exchange = func(url.Values) (int, any) { return 400, map[string]any{"error": "invalid_request"} }
			f.tokens[other] = map[string]any{"active": true}
		})
		notFor(t, as(t, a, other), 500, "invalid_request")
		allowed(t, a, ask(other))
		notFor(t, ctx, 401, "revoked")
		refused(t, a, ask(own), 401, InvalidToken, "is not active")
		before := f.count("/token")
		time.Sleep(time.Minute)
		notFor(t, ctx, 401, "revoked")
		refused(t, a, ask(own), 401, InvalidToken, "is not active")
		if f.count("/token") != before {
			t.Error("the issuer was asked again about a token that has ended")
		}
		for i := range maxEnded + 10 {
			a.exchange.end(&Caller{bearer: &bearer{token: fmt.Sprint(i)}})
		}
		if n := len(a.exchange.ended); n > maxEnded {
			t.Errorf("%d tokens that have ended are remembered", n)
		}
	})
}

func TestARefusedTokenIsReplacedOnceItIsNotYoung(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a := exchanging(t)
		ctx := as(t, a, token("one", nil))
		first, err := TokenFor(ctx, Target{Audience: "shop"})
		if err != nil || first.Reject() {
			t.Fatal("a young token would be replaced by its like")
		}
		time.Sleep(replaceAfter)
		if !first.Reject() || exchangedFor(t, ctx, Target{Audience: "shop"}) == first.Text() {
			t.Error("it was not replaced")
		}
	})
}

func TestWhatAnIssuerDoesNotOfferIsSaid(t *testing.T) {
	for name, tt := range map[string]struct {
		metadata map[string]any
		check    string
		status   int // of an exchange; 0: there is a token
	}{
		"all":               {nil, "", 0},
		"listed":            {map[string]any{"grant_types_supported": []string{"authorization_code", exchangeGrant}}, "", 0},
		"not listed":        {map[string]any{"grant_types_supported": []string{"authorization_code"}}, "does not list the grant type", 0},
		"no endpoint":       {map[string]any{"token_endpoint": nil}, "no token endpoint", 500},
		"endpoint in clear": {map[string]any{"token_endpoint": "http://login.example.com/token"}, "no token endpoint", 500},
	} {
		t.Run(name, func(t *testing.T) {
			f, a := exchanging(t)
			f.metadata = tt.metadata
			err := a.CheckExchange(t.Context())
			if (err == nil) != (tt.check == "") || err != nil && !strings.Contains(err.Error(), tt.check) {
				t.Errorf("the check says %v", err)
			}
			ctx := as(t, a, token("one", nil))
			if tt.status == 0 {
				exchangedFor(t, ctx, Target{Audience: "shop"})
			} else {
				notFor(t, ctx, tt.status, "token endpoint")
			}
		})
	}
	if err := newFakeIssuer().authenticator(t).CheckExchange(t.Context()); err == nil {
		t.Error("nobody exchanges")
	}
	f, a := exchanging(t)
	f.down = true
	if err := a.CheckExchange(t.Context()); err == nil || !strings.Contains(err.Error(), "cannot be asked") {
		t.Errorf("an issuer that is down: %v", err)
	}
}

func TestNothingThatIsPrintedHasTheToken(t *testing.T) {
	var log bytes.Buffer
	_, a := exchanging(t)
	own := token("one", nil)
	ctx := as(t, a, own)
	got, err := TokenFor(ctx, Target{Audience: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	c := FromContext(ctx)
	for _, h := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
		slog.New(h).Info("x", "caller", c, "value", *c, "ctx", ctx, "token", got, "token value", *got)
	}
	fmt.Fprintf(&log, "%v %+v %#v %s %v %+v %#v %+v %#v", c, c, *c, ctx, got, got, *got, ctx, []any{*c, *got})
	for _, secret := range []string{own, got.Text()} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("%q is printed", secret)
		}
	}
}

func FuzzExchangedToken(f *testing.F) {
	f.Add(200, []byte(`{"access_token":"abc","issued_token_type":"urn:ietf:params:oauth:token-type:access_token","token_type":"Bearer","expires_in":300}`))
	f.Add(200, []byte(`{"access_token":"abc","token_type":"bearer","expires_in":1e300}`))
	f.Add(400, []byte(`{"error":"invalid_scope","error_description":"no"}`))
	f.Add(200, []byte(`{"access_token":"a b","token_type":"Bearer","expires_in":-1}`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		got, err := readExchanged(status, body)
		switch {
		case err != nil:
			if got != (exchanged{}) {
				t.Fatalf("an error with %+v", got)
			}
		case got.refusal != "":
			if status == http.StatusOK || got.token != "" {
				t.Fatalf("%d is read as %+v", status, got)
			}
		case status != http.StatusOK || got.token == "" || len(got.token) > maxCredential || !isToken(got.token) || got.lifetime < 0 || got.lifetime > maxLifetime:
			t.Fatalf("%d is read as %+v", status, got)
		}
	})
}
