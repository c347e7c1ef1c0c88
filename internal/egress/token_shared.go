package egress

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

const (
	keepEndless = time.Hour           // a token that does not say how long it lives
	keepRefresh = 30 * 24 * time.Hour // a refresh token that replaced another one
	beforeEnd   = 10 * time.Second    // a token is not shared any more; as long as oauth2 uses it not
	askAgain    = 100 * time.Millisecond
)

// sharedToken is a token that a replica received.
type sharedToken struct {
	Access  string    `json:"access"`
	Expires time.Time `json:"expires,omitzero"` // zero: it does not say
	Refresh string    `json:"refresh,omitempty"`
	At      time.Time `json:"at"` // when it was received
}

// usable reports whether requests can be made with the token.
func (s *sharedToken) usable(rejected string, now time.Time) bool {
	return s != nil && s.Access != "" && s.Access != rejected && (s.Expires.IsZero() || now.Before(s.Expires.Add(-beforeEnd)))
}

// key is everything that a token depends on: a client with another secret, or another
// first refresh token, begins anew.
func (g *TokenConfig) key() string {
	parts := []string{"token", g.TokenURL, g.ClientID, g.ClientSecret, g.RefreshToken, strings.Join(slices.Sorted(slices.Values(g.Scopes)), " "), g.Params.Encode(), strconv.FormatBool(g.InBody)}
	for i := range parts {
		parts[i] = strconv.Quote(parts[i])
	}
	return strings.Join(parts, " ")
}

// obtain returns a token that another replica received, or asks for one, and says when it
// was received. Of replicas that have a refresh token one asks at a time, with the
// latest: an endpoint that replaces it takes the second use of one for theft.
func (t *Tokens) obtain(ctx context.Context) (token *oauth2.Token, at time.Time, err error) {
	g := &t.grant
	if g.Shared == nil {
		token, err = t.request(ctx)
		return token, time.Now(), err
	}
	key := g.key()
	if token, at = t.fromOthers(ctx, key); token != nil {
		return token, at, nil
	}
	if g.RefreshToken != "" {
		turn := "turn " + key
		for !g.Shared.Claim(ctx, turn, tokenTime) {
			if err := pauseFor(ctx, askAgain); err != nil {
				return nil, time.Time{}, err
			}
		}
		defer g.Shared.Delete(context.WithoutCancel(ctx), turn)
		if token, at = t.fromOthers(ctx, key); token != nil {
			return token, at, nil
		}
	}
	token, err = t.request(ctx)
	if at = time.Now(); err == nil {
		t.forOthers(ctx, key, token, at)
	}
	return token, at, err
}

// fromOthers returns the token that another replica received, if it can be used, and
// takes its refresh token.
func (t *Tokens) fromOthers(ctx context.Context, key string) (*oauth2.Token, time.Time) {
	values, ok := t.grant.Shared.Get(ctx, key)
	var s *sharedToken
	if !ok || json.Unmarshal(values[0], &s) != nil || s == nil {
		return nil, time.Time{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.Refresh != "" && s.At.After(t.receivedAt) { // else this one's is newer, and the store has not got it
		t.refresh = s.Refresh
	}
	if !s.usable(t.rejected, time.Now()) {
		return nil, time.Time{}
	}
	return &oauth2.Token{AccessToken: s.Access, TokenType: "Bearer", Expiry: s.Expires}, s.At
}

func (t *Tokens) forOthers(ctx context.Context, key string, token *oauth2.Token, at time.Time) {
	s := sharedToken{Access: token.AccessToken, Expires: token.Expiry, At: at}
	life := keepEndless
	if !s.Expires.IsZero() {
		life = s.Expires.Sub(at) - beforeEnd
	}
	if t.grant.RefreshToken != "" {
		t.mu.Lock()
		s.Refresh = t.refresh
		t.mu.Unlock()
		if token.RefreshToken != "" {
			s.Refresh = token.RefreshToken
		}
		life = keepRefresh
	}
	text, err := json.Marshal(s)
	if err == nil {
		t.grant.Shared.Put(ctx, key, text, life)
	}
}

func pauseFor(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
