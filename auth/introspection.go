package auth

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4/json"
)

const (
	keepActive   = time.Minute      // an answer, at most: so long a token lives that was revoked
	keepInactive = 10 * time.Second // the issuer's no
)

// introspector asks an issuer about opaque tokens.
type introspector struct {
	issuer  *issuer
	client  Introspection
	tokens  verifier
	answers *answers[*Caller]
}

func newIntrospector(i *issuer, c Introspection, v verifier) *introspector {
	return &introspector{issuer: i, client: c, tokens: v, answers: newAnswers[*Caller](unavailable)}
}

// verify asks about a token, once for all who send it at the same time. What could
// not be asked is not kept.
func (n *introspector) verify(ctx context.Context, token string) (*Caller, *Error) {
	known, e := n.answers.get(ctx, sha256.Sum256([]byte(token)), func(ctx context.Context) (*Caller, time.Time, *Error) {
		caller, e := n.ask(ctx, token)
		now := time.Now()
		switch {
		case e != nil && e.Status == http.StatusServiceUnavailable:
			return nil, time.Time{}, e
		case e != nil:
			return nil, now.Add(keepInactive), e
		}
		until := now.Add(keepActive)
		if !caller.Expires.IsZero() && caller.Expires.Before(until) {
			until = caller.Expires
		}
		return caller, until, nil
	})
	if e != nil {
		return nil, e
	}
	caller := *known // its scopes are extended by whoever has it
	return &caller, nil
}

// ask sends one introspection (RFC 7662, 2.1).
func (n *introspector) ask(ctx context.Context, token string) (*Caller, *Error) {
	p, err := n.issuer.get(ctx, nil)
	if err != nil || p == nil {
		return nil, unavailable(fmt.Sprint(err))
	}
	form := url.Values{"token": {token}, "token_type_hint": {"access_token"}}
	got, err := n.issuer.post(ctx, p.introspection, n.client.ClientID, n.client.ClientSecret, form)
	if err == nil && got.Status != http.StatusOK {
		err = fmt.Errorf("the issuer answered an introspection with %d", got.Status)
	}
	if err != nil {
		n.issuer.log.Error("the issuer cannot be asked about a token", "issuer", n.issuer.url, "error", err)
		return nil, unavailable("the issuer cannot be asked about it")
	}
	var said struct {
		Active bool `json:"active"`
		claims
		TokenType string `json:"token_type"`
	}
	switch {
	case json.Unmarshal(got.Body, &said) != nil:
		return nil, unavailable("the issuer's word about it is not understood")
	case !said.Active:
		return nil, invalidToken("is not active")
	case said.Issuer != "" && said.Issuer != n.issuer.url:
		return nil, invalidToken("is from another issuer")
	case said.TokenType != "" && !strings.EqualFold(said.TokenType, "Bearer") && !strings.EqualFold(said.TokenType, "access_token"):
		return nil, invalidToken("is not a bearer token")
	}
	return n.tokens.caller(&said.claims)
}
