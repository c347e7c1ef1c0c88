package auth

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	keepRefused    = 10 * time.Second // an issuer's no to an exchange
	keepFailed     = 2 * time.Second  // that it could not be asked
	keepUnknown    = time.Minute      // a token that does not say how long it lives
	beforeExpiry   = 30 * time.Second // a token is replaced; of a short life the last quarter
	replaceAfter   = 10 * time.Second // a token that its service refuses is not replaced sooner
	maxEnded       = 4096             // tokens of callers that are known to have ended
	exchangeGrant  = "urn:ietf:params:oauth:grant-type:token-exchange"
	accessTokenURN = "urn:ietf:params:oauth:token-type:access_token" //nolint:gosec // the name of a kind of token
	jwtURN         = "urn:ietf:params:oauth:token-type:jwt"
)

// Exchange is the client as which the issuer is asked for tokens of callers for
// other services (RFC 8693).
type Exchange struct {
	ClientID, ClientSecret string
}

// Target is what a token is for.
type Target struct {
	Audience string   // the service, as the issuer calls it
	Scopes   []string // empty: the issuer chooses
}

// Token is the access token of a caller for another service. It prints as nothing
// that opens anything.
type Token struct {
	text   *secret
	reject func() bool
}

// secret is behind a pointer, so that printing what has one prints an address.
type secret struct{ text string }

// Text is the token itself.
func (t *Token) Text() string { return t.text.text }

// Reject forgets a token that the service refused, and reports whether another one
// may be accepted: one that is young would be replaced by its like.
func (t *Token) Reject() bool { return t.reject() }

// bearer is the token with which a caller came, and who can exchange it.
type bearer struct {
	token string
	by    *exchanger
}

// TokenFor returns the token of the caller of ctx for another service. It is
// requested once for all who wait for the same, and kept until shortly before it or
// the caller's own token expires. Every error is an [*Error], of which the status
// says what has to be done: 401 the caller needs another access token, 403 one with
// more scopes, 503 nobody can tell now, 500 the operator has to act.
func TokenFor(ctx context.Context, t Target) (*Token, error) {
	c := FromContext(ctx)
	if c == nil || c.bearer == nil {
		return nil, &Error{Status: http.StatusUnauthorized, Message: "the caller has no access token that could be exchanged"}
	}
	token, e := c.bearer.by.exchange(ctx, c, t)
	if e != nil {
		return nil, e
	}
	return token, nil
}

// exchanger asks an issuer for tokens of callers. It never changes with the
// settings: another one has answers of its own.
type exchanger struct {
	issuer  *issuer
	client  Exchange
	shared  Shared // with other replicas; nil: with none
	answers *answers[*granted]

	mu    sync.Mutex
	ended map[sum]time.Time // callers' tokens that the issuer takes back, and when they expire
}

// granted is a token that an issuer gave, and when.
type granted struct {
	secret
	at time.Time
}

func newExchanger(i *issuer, c Exchange, s Shared) (*exchanger, error) {
	if c.ClientID == "" || c.ClientSecret == "" {
		return nil, errors.New("an exchange of tokens needs the id of a client and its secret")
	}
	return &exchanger{issuer: i, client: c, shared: s, answers: newAnswers[*granted](notExchanged), ended: map[sum]time.Time{}}, nil
}

func (x *exchanger) exchange(ctx context.Context, c *Caller, t Target) (*Token, *Error) {
	if !c.Expires.IsZero() && !time.Now().Before(c.Expires.Add(skew)) || x.hasEnded(sha256.Sum256([]byte(c.bearer.token))) {
		return nil, invalidToken("has expired or was revoked")
	}
	of := questionOf(c.bearer.token, t)
	got, e := x.answers.get(ctx, of, func(ctx context.Context) (*granted, time.Time, *Error) {
		return x.request(ctx, c, t, of)
	})
	if e != nil {
		return nil, e
	}
	return &Token{text: &got.secret, reject: func() bool { //nolint:contextcheck // the call that it was for may be over
		if time.Since(got.at) < replaceAfter {
			return false
		}
		x.answers.drop(of)
		x.forget(of, got)
		return true
	}}, nil
}

// questionOf names what is asked. The caller's token stands for its issuer,
// subject, client and scopes, and for all else that an issuer may look at, such as
// groups and how the user logged in: no two tokens share an answer.
func questionOf(token string, t Target) sum {
	scopes := slices.Clone(t.Scopes)
	slices.Sort(scopes)
	h := sha256.New()
	for _, part := range []string{token, t.Audience, strings.Join(scopes, " ")} {
		_ = binary.Write(h, binary.BigEndian, uint64(len(part))) // a hash does not fail
		_, _ = h.Write([]byte(part))
	}
	return sum(h.Sum(nil))
}

// request returns the token that another replica was given, or asks for one, and says
// until when the answer counts.
func (x *exchanger) request(ctx context.Context, c *Caller, t Target, of sum) (*granted, time.Time, *Error) {
	got, until, ended := x.fromOthers(ctx, c, of)
	switch {
	case ended:
		x.end(c)
		return nil, time.Now().Add(keepRefused), invalidToken("has expired or was revoked")
	case got != nil:
		return got, until, nil
	}
	said, e := x.ask(ctx, c, t)
	now := time.Now()
	switch {
	case e == nil:
	case e.Status == http.StatusServiceUnavailable:
		return nil, now.Add(keepFailed), e
	default:
		return nil, now.Add(keepRefused), e
	}
	keep := keepUnknown
	if said.lifetime > 0 {
		keep = said.lifetime - min(beforeExpiry, said.lifetime/4)
	}
	until = now.Add(keep)
	if !c.Expires.IsZero() && c.Expires.Before(until) {
		until = c.Expires
	}
	got = &granted{secret{said.token}, now}
	x.forOthers(ctx, of, got, until)
	return got, until, nil
}

func (x *exchanger) ask(ctx context.Context, c *Caller, t Target) (said exchanged, e *Error) {
	p, _ := x.issuer.get(ctx, nil) // what fails is in the log
	if p == nil {
		return said, notExchanged("the issuer cannot be asked")
	}
	if p.token == "" {
		return said, misconfigured("the issuer names no token endpoint with https")
	}
	form := url.Values{
		"grant_type": {exchangeGrant}, "subject_token": {c.bearer.token}, "subject_token_type": {accessTokenURN},
		"requested_token_type": {accessTokenURN}, "audience": {t.Audience},
	}
	if len(t.Scopes) > 0 {
		form.Set("scope", strings.Join(t.Scopes, " "))
	}
	got, err := x.issuer.post(ctx, p.token, x.client.ClientID, x.client.ClientSecret, form)
	if err != nil {
		x.issuer.log.Error("the issuer cannot be asked to exchange a token", "issuer", x.issuer.url, "error", err)
		return said, notExchanged("the issuer cannot be asked")
	}
	said, err = readExchanged(got.Status, got.Body)
	switch {
	case err == nil && said.token == c.bearer.token: // it is for this server, and goes nowhere else
		err = errors.New("the issuer returned the caller's own token")
		fallthrough
	case err != nil:
		x.issuer.log.Error("the issuer does not exchange tokens as RFC 8693 has it", "issuer", x.issuer.url, "audience", t.Audience, "status", got.Status, "error", err)
		if got.Status >= http.StatusInternalServerError || got.Status == http.StatusTooManyRequests {
			return exchanged{}, notExchanged("the issuer fails")
		}
		return exchanged{}, misconfigured(err.Error())
	case said.refusal != "":
		x.issuer.log.Warn("the issuer does not exchange a token", "issuer", x.issuer.url, "audience", t.Audience, "client", x.client.ClientID, "error", said.refusal)
		return exchanged{}, x.refused(ctx, p, c, t, said.refusal)
	}
	return said, nil
}

// refused says what an error code of an issuer means. Some say the same of a token
// that ended as of an audience that they do not know, so they are asked which it is.
func (x *exchanger) refused(ctx context.Context, p *published, c *Caller, t Target, code string) *Error {
	switch code {
	case "invalid_scope", InsufficientScope:
		return &Error{Status: http.StatusForbidden, Code: InsufficientScope, Message: fmt.Sprintf("the issuer does not grant the caller the scopes %q for %q", strings.Join(t.Scopes, " "), t.Audience)}
	case "invalid_client", "unauthorized_client", "unsupported_grant_type":
		return misconfigured(fmt.Sprintf("the issuer does not let this server exchange tokens for %q (%s)", t.Audience, code))
	case "temporarily_unavailable", "server_error":
		return notExchanged("the issuer fails")
	}
	if p.introspection != "" && !x.active(ctx, p, c.bearer.token) {
		x.tellEnded(ctx, sha256.Sum256([]byte(c.bearer.token)), x.end(c))
		return invalidToken("has expired or was revoked")
	}
	switch code {
	case "interaction_required", "consent_required", "login_required":
		return &Error{Status: http.StatusUnauthorized, Code: InvalidToken, Message: fmt.Sprintf("the issuer wants the user to log in or consent again before there is a token for %q (%s)", t.Audience, code)}
	case "invalid_grant", InvalidToken:
		return &Error{Status: http.StatusUnauthorized, Code: InvalidToken, Message: fmt.Sprintf("the issuer does not accept the access token in exchange for one for %q", t.Audience)}
	}
	return misconfigured(fmt.Sprintf("the issuer refuses the caller a token for %q (%s)", t.Audience, code))
}

// misconfigured is for what the operator has to change, here or at the issuer.
func misconfigured(what string) *Error {
	return &Error{Status: http.StatusInternalServerError, Message: what}
}

// notExchanged is for what may succeed a moment later.
func notExchanged(why string) *Error {
	return &Error{Status: http.StatusServiceUnavailable, Message: "the caller's access token cannot be exchanged now: " + why + "; try again later"}
}

// active reports whether the issuer still stands to a token. Only a clear no counts.
func (x *exchanger) active(ctx context.Context, p *published, token string) bool {
	got, err := x.issuer.post(ctx, p.introspection, x.client.ClientID, x.client.ClientSecret, url.Values{"token": {token}, "token_type_hint": {"access_token"}})
	return err != nil || got.Status != http.StatusOK || !saysInactive(got.Body)
}

// end remembers that the issuer takes a caller's token back: from then on its
// requests are answered 401, so that the client gets another. It returns until when.
func (x *exchanger) end(c *Caller) (until time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := time.Now()
	if len(x.ended) >= maxEnded {
		for of, end := range x.ended {
			if now.After(end) {
				delete(x.ended, of)
			}
		}
	}
	if len(x.ended) >= maxEnded {
		clear(x.ended)
	}
	until = now.Add(keepActive)
	if !c.Expires.IsZero() {
		until = c.Expires.Add(skew)
	}
	x.ended[sha256.Sum256([]byte(c.bearer.token))] = until
	return until
}

func (x *exchanger) hasEnded(of sum) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	until, ok := x.ended[of]
	return ok && time.Now().Before(until)
}

// CheckExchange asks for the issuer's metadata and says what stands against
// exchanging tokens; nil: nothing that can be known without a caller.
func (a *Authenticator) CheckExchange(ctx context.Context) error {
	if a.exchange == nil {
		return errors.New("no client is configured that exchanges tokens")
	}
	p, err := a.issuer.get(ctx, nil)
	switch {
	case p == nil:
		return err
	case p.token == "":
		return fmt.Errorf("the metadata of the issuer %s names no token endpoint with https", a.issuer.url)
	case p.grants != nil && !slices.Contains(p.grants, exchangeGrant):
		return fmt.Errorf("the metadata of the issuer %s does not list the grant type %s", a.issuer.url, exchangeGrant)
	}
	return nil
}
