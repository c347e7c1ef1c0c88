package egress_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-mcp/tenon/internal/egress"
)

// endpoint gives tokens a1, a2, ... and takes each refresh token once.
type endpoint struct {
	mu      sync.Mutex
	given   int
	refresh string // the one that counts
	theft   bool   // one was used again
	slow    time.Duration
	fails   bool
}

func (e *endpoint) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(e.slow)
	text, _ := io.ReadAll(r.Body)
	form, _ := url.ParseQuery(string(text))
	e.mu.Lock()
	defer e.mu.Unlock()
	var status int
	var body string
	switch given := form.Get("refresh_token"); {
	case e.fails:
		status, body = 503, `{"error":"temporarily_unavailable"}`
	case given != "" && given != e.refresh:
		e.theft = true
		status, body = 400, `{"error":"invalid_grant"}`
	default:
		e.given++
		status = 200
		body = fmt.Sprintf(`{"access_token":"a%d","token_type":"Bearer","expires_in":3600}`, e.given)
		if given != "" {
			e.refresh = fmt.Sprintf("r%d", e.given)
			body = strings.Replace(body, `}`, `,"refresh_token":"`+e.refresh+`"}`, 1)
		}
	}
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

func (e *endpoint) tokens(t *testing.T, s *common, change func(*egress.TokenConfig)) *egress.Tokens {
	t.Helper()
	g := egress.TokenConfig{TokenURL: "https://auth.test/token", ClientID: "c", ClientSecret: "s", Shared: s}
	if change != nil {
		change(&g)
	}
	tokens, err := egress.NewTokens(&http.Client{Transport: e}, g)
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

func wantsToken(t *testing.T, tokens *egress.Tokens, want string) {
	t.Helper()
	if got, err := tokens.Get(t.Context()); err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func TestTokensAreSharedUntilTheyEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s := &endpoint{}, newCommon()
		a, b := e.tokens(t, s, nil), e.tokens(t, s, nil)
		wantsToken(t, a, "a1")
		wantsToken(t, b, "a1")
		for i, change := range []func(*egress.TokenConfig){
			func(g *egress.TokenConfig) { g.ClientSecret = "other" },
			func(g *egress.TokenConfig) { g.ClientID = "other" },
			func(g *egress.TokenConfig) { g.TokenURL = "https://other.test/token" },
			func(g *egress.TokenConfig) { g.Scopes = []string{"write"} },
			func(g *egress.TokenConfig) { g.Params = url.Values{"audience": {"other"}} },
		} {
			wantsToken(t, e.tokens(t, s, change), fmt.Sprintf("a%d", i+2))
		}
		time.Sleep(time.Hour - 9*time.Second)
		wantsToken(t, e.tokens(t, s, nil), "a7")
		wantsToken(t, a, "a7")
		s.away = true
		wantsToken(t, e.tokens(t, s, nil), "a8")
	})
}

// A token that an upstream rejected is not taken from the store again, and its successor
// is.
func TestARejectedTokenIsReplacedForAllReplicas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s := &endpoint{}, newCommon()
		a, b := e.tokens(t, s, nil), e.tokens(t, s, nil)
		wantsToken(t, a, "a1")
		wantsToken(t, b, "a1")
		if b.Invalidate("a1") {
			t.Error("a young token is replaced")
		}
		time.Sleep(11 * time.Second)
		if !a.Invalidate("a1") {
			t.Error("a token is not replaced")
		}
		wantsToken(t, a, "a2")
		if !b.Invalidate("a1") {
			t.Error("a token is not replaced at the other")
		}
		wantsToken(t, b, "a2")
	})
}

// A refresh token that is replaced with each use is used once by all replicas together,
// whoever needs a token first, and by one that starts with the first of all.
func TestRefreshTokensThatAreReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s := &endpoint{refresh: "r0", slow: time.Second}, newCommon()
		refreshing := func(g *egress.TokenConfig) { g.RefreshToken = "r0" }
		all := []*egress.Tokens{e.tokens(t, s, refreshing), e.tokens(t, s, refreshing), e.tokens(t, s, refreshing)}
		for round := 1; round <= 3; round++ {
			var wg sync.WaitGroup
			for _, tokens := range all {
				wg.Go(func() { wantsToken(t, tokens, fmt.Sprintf("a%d", round)) })
			}
			wg.Wait()
			time.Sleep(2 * time.Hour)
		}
		wantsToken(t, e.tokens(t, s, refreshing), "a4")
		e.fails = true
		time.Sleep(2 * time.Hour)
		began := time.Now()
		if _, err := all[0].Get(t.Context()); err == nil {
			t.Error("no error")
		}
		e.fails = false
		wantsToken(t, all[1], "a5") // its turn comes although the first had an error
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("it took %v", took)
		}
		// The store loses what was kept last: a replica goes on with its own.
		old := maps.Clone(s.values)
		time.Sleep(2 * time.Hour)
		wantsToken(t, all[2], "a6")
		s.values = old
		time.Sleep(2 * time.Hour)
		wantsToken(t, all[2], "a7")
		if e.theft {
			t.Error("a refresh token was used twice")
		}
	})
}
