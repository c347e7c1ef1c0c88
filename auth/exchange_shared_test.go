package auth

import (
	"context"
	"net/http"
	"net/url"
	"testing"
	"testing/synctest"
	"time"
)

// common stands for the store of several replicas.
type common struct {
	values map[string][]byte
	until  map[string]time.Time
	away   bool
}

func newCommon() *common { return &common{values: map[string][]byte{}, until: map[string]time.Time{}} }

func (c *common) Get(_ context.Context, keys ...string) (values [][]byte, ok bool) {
	for _, key := range keys {
		value := c.values[key]
		if c.away || !time.Now().Before(c.until[key]) {
			value = nil
		}
		values = append(values, value)
	}
	return values, !c.away
}

func (c *common) Put(_ context.Context, key string, value []byte, life time.Duration) {
	if !c.away {
		c.values[key], c.until[key] = value, time.Now().Add(life)
	}
}

func (c *common) Delete(_ context.Context, key string) { delete(c.values, key) }

// replicas are two that share what they exchange, before one issuer.
func replicas(t *testing.T, s *common) (f *fakeIssuer, a, b *Authenticator) {
	t.Helper()
	f, a = exchanging(t, func(o *Options) { o.Shared = s })
	return f, a, another(t, f, s)
}

func another(t *testing.T, f *fakeIssuer, s *common) *Authenticator {
	t.Helper()
	return f.authenticator(t, func(o *Options) { o.Exchange, o.Shared = &Exchange{"ex", exchangeSecret}, s })
}

// A token that one replica was given another uses, for the same caller's token, audience
// and scopes, until it would have ended there.
func TestReplicasExchangeATokenOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newCommon()
		f, a, b := replicas(t, s)
		own := token("one", map[string]any{"exp": time.Now().Add(time.Hour).Unix()})
		shop := Target{Audience: "shop", Scopes: []string{"read"}}
		first := exchangedFor(t, as(t, a, own), shop)
		if exchangedFor(t, as(t, b, own), shop) != first || f.count("/token") != 1 {
			t.Error("the other exchanged it again")
		}
		for i, other := range []struct {
			own    string
			target Target
		}{{own, Target{Audience: "mail", Scopes: []string{"read"}}}, {own, Target{Audience: "shop"}}, {token("one", map[string]any{"sub": "bob"}), shop}} {
			if exchangedFor(t, as(t, b, other.own), other.target) == first || f.count("/token") != i+2 {
				t.Error("another question has the same answer")
			}
		}
		time.Sleep(271 * time.Second) // it lives for 300
		if exchangedFor(t, as(t, another(t, f, s), own), shop) == first {
			t.Error("a token that ends is given to another replica")
		}
		s.away = true
		exchangedFor(t, as(t, another(t, f, s), own), shop)
	})
}

// A token that its service refused at one replica is taken from the store; the other
// finds the new one once its own is refused.
func TestARefusedTokenIsReplacedAtAllReplicas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, a, b := replicas(t, newCommon())
		own := token("one", nil)
		shop := Target{Audience: "shop"}
		first, err := TokenFor(as(t, a, own), shop)
		if err != nil {
			t.Fatal(err)
		}
		there, err := TokenFor(as(t, b, own), shop)
		if err != nil || there.Reject() {
			t.Fatal(err, "a young token is replaced")
		}
		time.Sleep(replaceAfter)
		if !first.Reject() {
			t.Fatal("it is not replaced")
		}
		second := exchangedFor(t, as(t, a, own), shop)
		if !there.Reject() || exchangedFor(t, as(t, b, own), shop) != second || second == first.Text() || f.count("/token") != 2 {
			t.Errorf("%d exchanges", f.count("/token"))
		}
	})
}

// What one replica heard of a caller's token that was taken back counts at all of them:
// nothing that was exchanged before is given out for it.
func TestATokenThatIsTakenBackIsSoAtAllReplicas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, a, b := replicas(t, newCommon())
		own := token("one", nil)
		ctx, there := as(t, a, own), as(t, b, own)
		exchangedFor(t, ctx, Target{Audience: "mail"})
		f.change(func() {
			f.exchange = func(url.Values) (int, any) { return http.StatusBadRequest, map[string]any{"error": "invalid_request"} }
		})
		notFor(t, ctx, 401, "revoked")
		before := f.count("/token")
		if _, err := TokenFor(there, Target{Audience: "mail"}); err == nil || f.count("/token") != before {
			t.Errorf("got %v after %d exchanges", err, f.count("/token")-before)
		}
		refused(t, b, ask(own), 401, InvalidToken, "is not active")
	})
}
