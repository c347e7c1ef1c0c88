package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json"
)

// Login is the client as which people log in at the issuer with a browser, by the
// authorization code flow of OpenID Connect with PKCE.
type Login struct {
	ClientID, ClientSecret string
}

// LoginAttempt is a login that has begun. It belongs to one browser and must not be
// seen by another, nor be used twice.
type LoginAttempt struct {
	State    string `json:"state"`    // comes back with the browser
	Nonce    string `json:"nonce"`    // comes back in the ID token
	Verifier string `json:"verifier"` // of PKCE
	Redirect string `json:"redirect"` // where the browser comes back
}

var errNoLogin = errors.New("people cannot log in here: there is no client for it")

// BeginLogin returns where to send a browser that shall come back to redirect.
func (a *Authenticator) BeginLogin(ctx context.Context, redirect string) (page string, began LoginAttempt, err error) {
	if a.login == nil {
		return "", began, errNoLogin
	}
	now, err := a.issuer.get(ctx, nil)
	if now == nil {
		return "", began, err
	}
	if now.authorization == "" || now.token == "" {
		return "", began, fmt.Errorf("the issuer %s names no endpoints with https where people can log in", a.issuer.url)
	}
	began = LoginAttempt{State: rand.Text(), Nonce: rand.Text(), Verifier: rand.Text() + rand.Text(), Redirect: redirect}
	u, err := url.Parse(now.authorization)
	if err != nil {
		return "", LoginAttempt{}, err
	}
	challenge := sha256.Sum256([]byte(began.Verifier))
	q := u.Query()
	for name, value := range map[string]string{
		"response_type": "code", "client_id": a.login.ClientID, "redirect_uri": redirect, "scope": "openid", "state": began.State, "nonce": began.Nonce,
		"code_challenge": base64.RawURLEncoding.EncodeToString(challenge[:]), "code_challenge_method": "S256",
	} {
		q.Set(name, value)
	}
	u.RawQuery = q.Encode()
	return u.String(), began, nil
}

// FinishLogin tells who has logged in. came is the query with which the browser came
// back; what the issuer says there is not repeated in errors.
func (a *Authenticator) FinishLogin(ctx context.Context, began LoginAttempt, came url.Values) (*Caller, error) {
	if a.login == nil {
		return nil, errNoLogin
	}
	if began.State == "" || len(came["state"]) != 1 || subtle.ConstantTimeCompare([]byte(came.Get("state")), []byte(began.State)) != 1 {
		return nil, errors.New("this login was not begun by this browser, or not last")
	}
	now, err := a.issuer.get(ctx, nil)
	if now == nil {
		return nil, err
	}
	switch iss := came["iss"]; { // RFC 9207, 2.4: somebody else's code is not for this issuer
	case len(iss) > 1 || len(iss) == 1 && iss[0] != a.issuer.url, len(iss) == 0 && now.namesItself:
		return nil, errors.New("the answer to the login is from another issuer")
	case came.Has("error"):
		return nil, errors.New("the issuer did not let you in, or you declined")
	case len(came["code"]) != 1 || came.Get("code") == "":
		return nil, errors.New("the issuer sent no code")
	}
	got, err := a.issuer.post(ctx, now.token, a.login.ClientID, a.login.ClientSecret, url.Values{
		"grant_type": {"authorization_code"}, "code": {came.Get("code")}, "redirect_uri": {began.Redirect}, "code_verifier": {began.Verifier},
	})
	if err == nil && got.Status != http.StatusOK {
		err = fmt.Errorf("the issuer answered a code with %d", got.Status)
	}
	if err != nil {
		a.issuer.log.Warn("a login failed", "issuer", a.issuer.url, "error", err)
		return nil, errors.New("the issuer does not confirm the login")
	}
	var said struct {
		ID string `json:"id_token"`
	}
	if json.Unmarshal(got.Body, &said) != nil || said.ID == "" {
		return nil, errors.New("the issuer does not say who has logged in: its client needs OpenID Connect")
	}
	return a.identified(ctx, said.ID, began.Nonce)
}

// identity is what counts of an ID token (OpenID Connect Core 1.0, 2 and 3.1.3.7).
type identity struct {
	Issuer     string   `json:"iss"`
	Subject    string   `json:"sub"`
	Audience   audience `json:"aud"`
	Authorized string   `json:"azp"`
	Expires    *seconds `json:"exp"`
	Nonce      string   `json:"nonce"`
}

// identified reads an ID token for the client of logins. It is verified as if it had
// come by way of the browser.
func (a *Authenticator) identified(ctx context.Context, token, nonce string) (*Caller, error) {
	h, ok := headerOf(token)
	if !ok || h.Critical != nil || !slices.Contains(a.tokens.algorithms, jose.SignatureAlgorithm(h.Algorithm)) {
		return nil, errors.New("the ID token is not signed in a way that is accepted")
	}
	signed, err := jose.ParseSignedCompact(token, a.tokens.algorithms)
	if err != nil {
		return nil, errors.New("the ID token is malformed")
	}
	keys, _, e := a.issuer.keysFor(ctx, h)
	if e != nil {
		return nil, errors.New("the ID token cannot be verified")
	}
	for i := range keys {
		payload, err := signed.Verify(keys[i].Key)
		if err != nil {
			continue
		}
		var id identity
		if json.Unmarshal(payload, &id) != nil {
			return nil, errors.New("the ID token has malformed claims")
		}
		return a.person(&id, nonce)
	}
	return nil, errors.New("the ID token has a wrong signature")
}

// person checks the claims of an ID token whose signature holds.
func (a *Authenticator) person(id *identity, nonce string) (*Caller, error) {
	client := a.login.ClientID
	switch {
	case id.Issuer != a.issuer.url:
		return nil, errors.New("the ID token is from another issuer")
	case !slices.Contains(id.Audience, client), id.Authorized != "" && id.Authorized != client, id.Authorized == "" && len(id.Audience) > 1:
		return nil, errors.New("the ID token is for another client")
	case id.Expires == nil || !time.Now().Before(id.Expires.time().Add(skew)):
		return nil, errors.New("the ID token has expired")
	case nonce == "" || subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(nonce)) != 1:
		return nil, errors.New("the ID token belongs to another login")
	case id.Subject == "" || hasControl(id.Subject) || strings.ToValidUTF8(id.Subject, "") != id.Subject:
		return nil, errors.New("the ID token does not say who has logged in")
	}
	return &Caller{Issuer: id.Issuer, Subject: id.Subject, ClientID: client, Expires: id.Expires.time()}, nil
}
