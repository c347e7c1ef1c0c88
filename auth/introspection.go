package auth

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4/json"

	"github.com/tenon-mcp/tenon/internal/egress"
)

const (
	keepActive   = time.Minute      // an answer, at most: so long a token lives that was revoked
	keepInactive = 10 * time.Second // the issuer's no
	maxAnswers   = 8192             // that are kept
	maxAsking    = 16               // introspections at a time
)

// introspector asks an issuer about opaque tokens.
type introspector struct {
	issuer *issuer
	client Introspection
	tokens verifier
	places chan struct{}

	mu    sync.Mutex
	known map[[sha256.Size]byte]*answer // by the token's sum
}

// answer is what an issuer says of a token. Its fields are set before ready is
// closed.
type answer struct {
	ready  chan struct{}
	caller *Caller
	err    *Error
	until  time.Time
}

func newIntrospector(i *issuer, c Introspection, v verifier) *introspector {
	return &introspector{issuer: i, client: c, tokens: v, places: make(chan struct{}, maxAsking), known: map[[sha256.Size]byte]*answer{}}
}

// verify asks about a token, once for all who send it at the same time.
func (n *introspector) verify(ctx context.Context, token string) (*Caller, *Error) {
	sum := sha256.Sum256([]byte(token))
	n.mu.Lock()
	a := n.known[sum]
	mine := a == nil || a.over()
	if mine {
		n.forget()
		a = &answer{ready: make(chan struct{})}
		n.known[sum] = a
	}
	n.mu.Unlock()
	if mine {
		n.settle(ctx, sum, a, token)
	}
	select {
	case <-a.ready:
	case <-ctx.Done():
		return nil, unavailable("the request ended before")
	}
	if a.err != nil {
		return nil, a.err
	}
	caller := *a.caller // its scopes are extended by whoever has it
	return &caller, nil
}

// over reports whether the answer is there and too old. What is under way is not.
func (a *answer) over() bool {
	select {
	case <-a.ready:
		return !time.Now().Before(a.until)
	default:
		return false
	}
}

// settle asks, whatever becomes of the request that was first, and wakes all who
// wait. What could not be asked is not kept.
func (n *introspector) settle(ctx context.Context, sum [sha256.Size]byte, a *answer, token string) {
	a.err = unavailable("the issuer was not asked")
	defer close(a.ready)
	defer func() {
		if a.err != nil && a.err.Status == http.StatusServiceUnavailable {
			n.mu.Lock()
			defer n.mu.Unlock()
			delete(n.known, sum)
		}
	}()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTime)
	defer cancel()
	select {
	case n.places <- struct{}{}:
		defer func() { <-n.places }()
	case <-ctx.Done():
		a.err = unavailable("too many tokens are asked about")
		return
	}
	a.caller, a.err = n.ask(ctx, token)
	if a.err != nil {
		a.until = time.Now().Add(keepInactive)
		return
	}
	a.until = time.Now().Add(keepActive)
	if e := a.caller.Expires; !e.IsZero() && e.Before(a.until) {
		a.until = e
	}
}

// forget forgets answers where there are too many: old ones, then whichever comes
// first, those that say no before others. n.mu is held.
func (n *introspector) forget() {
	if len(n.known) < maxAnswers {
		return
	}
	var no, one [sha256.Size]byte
	denied := false
	for sum, a := range n.known {
		if a.over() {
			delete(n.known, sum)
			continue
		}
		one = sum
		select {
		case <-a.ready:
			if a.err != nil {
				no, denied = sum, true
			}
		default:
		}
	}
	switch {
	case len(n.known) < maxAnswers:
	case denied:
		delete(n.known, no)
	default:
		delete(n.known, one)
	}
}

// ask sends one introspection (RFC 7662, 2.1).
func (n *introspector) ask(ctx context.Context, token string) (*Caller, *Error) {
	p, err := n.issuer.get(ctx, nil)
	if err != nil || p == nil {
		return nil, unavailable(fmt.Sprint(err))
	}
	form := url.Values{"token": {token}, "token_type_hint": {"access_token"}}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.introspection, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, unavailable("its introspection endpoint is not a URL")
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")
	r.SetBasicAuth(url.QueryEscape(n.client.ClientID), url.QueryEscape(n.client.ClientSecret)) // RFC 6749, 2.3.1
	got, err := egress.Do(n.issuer.client, r, maxDocument)
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
