package auth

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const back = "https://mcp.example.com/credentials/callback"

// loginAt begins a login, and has the issuer answer its code with the claims of an ID
// token, which by may change.
func loginAt(t *testing.T, f *fakeIssuer, by func(header, claims map[string]any)) (a *Authenticator, began LoginAttempt, came url.Values) {
	t.Helper()
	f.change(func() {
		f.metadata = map[string]any{"authorization_endpoint": "https://login.example.com/auth?tenant=1", "authorization_response_iss_parameter_supported": true}
	})
	a = f.authenticator(t, func(o *Options) { o.Login = &Login{"pages", "a-secret"} })
	page, began, err := a.BeginLogin(t.Context(), back)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(page)
	if err != nil {
		t.Fatal(err)
	}
	challenge := sha256.Sum256([]byte(began.Verifier))
	for name, want := range map[string]string{
		"tenant": "1", "response_type": "code", "client_id": "pages", "redirect_uri": back, "state": began.State, "nonce": began.Nonce, "scope": "openid",
		"code_challenge_method": "S256", "code_challenge": base64.RawURLEncoding.EncodeToString(challenge[:]),
	} {
		if got := u.Query().Get(name); got != want || got == "" {
			t.Errorf("%s is %q", name, got)
		}
	}
	header := map[string]any{"kid": "one"}
	claims := map[string]any{"iss": testIssuer, "sub": "alice", "aud": "pages", "exp": time.Now().Unix() + 300, "nonce": began.Nonce}
	by(header, claims)
	f.change(func() {
		f.exchange = func(form url.Values) (int, any) {
			if form.Get("code") != "the-code" || form.Get("code_verifier") != began.Verifier || form.Get("redirect_uri") != back || form.Get("grant_type") != "authorization_code" {
				return http.StatusBadRequest, map[string]any{"error": "invalid_grant"}
			}
			return http.StatusOK, map[string]any{"access_token": "x", "id_token": sign(jose.RS256, keyPair(fmt.Sprint(header["kid"])), header, claims)}
		}
	})
	return a, began, url.Values{"state": {began.State}, "code": {"the-code"}, "iss": {testIssuer}}
}

func TestALoginTellsWhoItIs(t *testing.T) {
	a, began, came := loginAt(t, newFakeIssuer(), func(_, _ map[string]any) {})
	who, err := a.FinishLogin(t.Context(), began, came)
	if err != nil || who.Issuer != testIssuer || who.Subject != "alice" {
		t.Fatal(who, err)
	}
}

func TestIDTokensAreChecked(t *testing.T) {
	for name, by := range map[string]func(header, claims map[string]any){
		"another issuer":    func(_, c map[string]any) { c["iss"] = "https://evil.example" },
		"another client":    func(_, c map[string]any) { c["aud"] = "other" },
		"several audiences": func(_, c map[string]any) { c["aud"] = []string{"pages", "other"} },
		"for others":        func(_, c map[string]any) { c["azp"] = "other" },
		"expired":           func(_, c map[string]any) { c["exp"] = time.Now().Unix() - 120 },
		"no expiry":         func(_, c map[string]any) { delete(c, "exp") },
		"another login":     func(_, c map[string]any) { c["nonce"] = "n" },
		"no nonce":          func(_, c map[string]any) { delete(c, "nonce") },
		"nobody":            func(_, c map[string]any) { c["sub"] = "" },
		"control":           func(_, c map[string]any) { c["sub"] = "a\nb" },
		"another key":       func(h, _ map[string]any) { h["kid"] = "two" },
	} {
		a, began, came := loginAt(t, newFakeIssuer(), by)
		if who, err := a.FinishLogin(t.Context(), began, came); err == nil || who != nil {
			t.Errorf("%s: %v", name, who)
		}
	}
	f := newFakeIssuer()
	a, began, came := loginAt(t, f, func(_, _ map[string]any) {})
	for name, token := range map[string]string{
		"unsigned": "eyJhbGciOiJub25lIn0." + base64.RawURLEncoding.EncodeToString([]byte(`{"iss":"`+testIssuer+`","sub":"alice","aud":"pages","exp":99999999999,"nonce":"`+began.Nonce+`"}`)) + ".",
		"a secret": sign(jose.HS256, []byte("a-secret-a-secret-a-secret-a-secret-"), map[string]any{"kid": "one"}, map[string]any{"iss": testIssuer, "sub": "alice", "aud": "pages", "exp": int64(99999999999), "nonce": began.Nonce}),
		"none":     "",
	} {
		f.change(func() {
			f.exchange = func(url.Values) (int, any) { return http.StatusOK, map[string]any{"id_token": token} }
		})
		if who, err := a.FinishLogin(t.Context(), began, came); err == nil {
			t.Errorf("%s: %v", name, who)
		}
	}
}

func TestAnswersToOtherLoginsAreRefused(t *testing.T) {
	for name, by := range map[string]func(began *LoginAttempt, came url.Values){
		"another state":    func(_ *LoginAttempt, q url.Values) { q.Set("state", "s") },
		"no state":         func(began *LoginAttempt, q url.Values) { began.State = ""; q.Set("state", "") },
		"two states":       func(_ *LoginAttempt, q url.Values) { q.Add("state", "s") },
		"another issuer":   func(_ *LoginAttempt, q url.Values) { q.Set("iss", "https://evil.example") },
		"no issuer":        func(_ *LoginAttempt, q url.Values) { q.Del("iss") },
		"another verifier": func(began *LoginAttempt, _ url.Values) { began.Verifier = "v" },
		"another redirect": func(began *LoginAttempt, _ url.Values) { began.Redirect = "https://evil.example" },
		"another code":     func(_ *LoginAttempt, q url.Values) { q.Set("code", "c") },
		"an error":         func(_ *LoginAttempt, q url.Values) { q.Set("error", "access_denied <b>") },
	} {
		f := newFakeIssuer()
		a, began, came := loginAt(t, f, func(_, _ map[string]any) {})
		came = maps.Clone(came)
		by(&began, came)
		who, err := a.FinishLogin(t.Context(), began, came)
		if err == nil || strings.Contains(err.Error(), "<b>") || strings.Contains(err.Error(), "the-code") {
			t.Errorf("%s: %v %v", name, who, err)
		}
	}
}

func TestWhereNobodyCanLogIn(t *testing.T) {
	f := newFakeIssuer()
	if _, _, err := f.authenticator(t).BeginLogin(t.Context(), back); err == nil {
		t.Error("without a client")
	}
	if _, err := f.authenticator(t).FinishLogin(t.Context(), LoginAttempt{State: "s"}, url.Values{"state": {"s"}}); err == nil {
		t.Error("without a client")
	}
	a := f.authenticator(t, func(o *Options) { o.Login = &Login{"pages", "a-secret"} })
	if _, _, err := a.BeginLogin(t.Context(), back); err == nil { // its metadata has no authorization endpoint
		t.Error("without an endpoint")
	}
	if _, err := New(Options{Issuer: testIssuer, Resource: testResource, Login: &Login{ClientID: "pages"}}); err == nil {
		t.Error("without a secret")
	}
}
