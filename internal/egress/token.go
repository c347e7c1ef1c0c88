package egress

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/tenon-mcp/tenon/internal/incident"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// TokenConfig is what access tokens are asked for with: client credentials, or the
// refresh token where there is one (RFC 6749 §4.4, §6).
type TokenConfig struct {
	TokenURL     string
	ClientID     string
	ClientSecret string
	RefreshToken string     // empty: client credentials
	Scopes       []string   // empty: the endpoint's own choice
	Params       url.Values // further members of the request, such as audience; for client credentials only
	InBody       bool       // id and secret stand in the form; else in an Authorization header
}

const (
	tokenTime    = 30 * time.Second // for one request to a token endpoint
	tokenTrusted = 10 * time.Second // a token that is younger is not asked for anew when it is refused
	maxDiscovery = 1 << 20          // bytes
)

// Tokens gets the access tokens of a grant and keeps each until shortly before
// it expires. It is safe for concurrent use: however many calls wait, the
// endpoint is asked once.
type Tokens struct {
	client *http.Client
	grant  TokenConfig

	mu      sync.Mutex
	kept    *oauth2.Token // nil: none
	since   time.Time     // when it came
	refresh string        // the newest refresh token: some endpoints change it each time
	flight  *flight       // the request under way; nil: none
}

// flight is a request for a token that several wait for.
type flight struct {
	done  chan struct{}
	token string
	err   error
}

// NewTokens asks for nothing yet. The client should come from NewClient. Plain
// http is refused but to hosts that it was allowed to reach: the client's
// secret would be read on the way.
func NewTokens(c *http.Client, g TokenConfig) (*Tokens, error) {
	u, err := url.Parse(g.TokenURL)
	if err != nil || !webScheme(u) || u.Hostname() == "" {
		return nil, errors.New("the token URL is no http or https URL")
	}
	if err := checkPlain(c, u, "a token"); err != nil {
		return nil, err
	}
	return &Tokens{client: c, grant: g, refresh: g.RefreshToken}, nil
}

// Get returns the kept token or waits for a new one. Its errors hold nothing
// that the endpoint sent but an error code.
func (t *Tokens) Get(ctx context.Context) (string, error) {
	t.mu.Lock()
	if t.kept.Valid() {
		defer t.mu.Unlock()
		return t.kept.AccessToken, nil
	}
	f := t.flight
	if f == nil {
		f = &flight{done: make(chan struct{})}
		t.flight = f
		incident.Go(nil, "a token request", func() { t.fly(f) }, func(e *incident.Error) { t.landed(f, nil, e) }) //nolint:contextcheck // others wait for it as well: it does not end with this call
	}
	t.mu.Unlock()
	select {
	case <-f.done:
		return f.token, f.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Refused forgets a token that an upstream did not take and tells whether
// another one may do better.
func (t *Tokens) Refused(token string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.kept == nil || t.kept.AccessToken != token:
		return true // somebody was faster
	case time.Since(t.since) < tokenTrusted:
		return false
	}
	t.kept = nil
	return true
}

func (t *Tokens) fly(f *flight) {
	ctx, cancel := context.WithTimeout(context.Background(), tokenTime)
	defer cancel()
	token, err := t.request(context.WithValue(ctx, oauth2.HTTPClient, t.client))
	t.landed(f, token, err)
}

// landed tells whoever waits what became of a token request.
func (t *Tokens) landed(f *flight, token *oauth2.Token, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.flight = nil
	if err == nil {
		t.kept, t.since, f.token = token, time.Now(), token.AccessToken
		if token.RefreshToken != "" {
			t.refresh = token.RefreshToken
		}
	}
	f.err = err
	close(f.done)
}

func (t *Tokens) request(ctx context.Context) (*oauth2.Token, error) {
	g := t.grant
	style := oauth2.AuthStyleInHeader
	if g.InBody {
		style = oauth2.AuthStyleInParams
	}
	var token *oauth2.Token
	var err error
	if g.RefreshToken == "" {
		c := clientcredentials.Config{
			ClientID: g.ClientID, ClientSecret: g.ClientSecret, TokenURL: g.TokenURL,
			Scopes: g.Scopes, EndpointParams: g.Params, AuthStyle: style,
		}
		token, err = c.Token(ctx)
	} else {
		t.mu.Lock()
		refresh := t.refresh
		t.mu.Unlock()
		c := oauth2.Config{
			ClientID: g.ClientID, ClientSecret: g.ClientSecret, Scopes: g.Scopes,
			Endpoint: oauth2.Endpoint{TokenURL: g.TokenURL, AuthStyle: style},
		}
		token, err = c.TokenSource(ctx, &oauth2.Token{RefreshToken: refresh}).Token()
	}
	switch {
	case err != nil:
		return nil, tokenError(ctx, g.TokenURL, err)
	case !strings.EqualFold(token.Type(), "bearer"):
		return nil, errors.New("the token endpoint gave a token of a type other than bearer")
	}
	return token, nil
}

// tokenError says what went wrong without the text of the far side, which may
// repeat what it was sent.
func tokenError(ctx context.Context, tokenURL string, err error) error {
	r := &http.Request{Method: http.MethodPost}
	r.URL, _ = url.Parse(tokenURL)
	if answer, ok := errors.AsType[*oauth2.RetrieveError](err); ok && answer.Response != nil {
		return fmt.Errorf("%s: the token endpoint answered %d%s", whereOf(r), answer.Response.StatusCode, errorCode(answer.ErrorCode))
	}
	if _, ok := errors.AsType[*url.Error](err); ok {
		return newError(r.WithContext(ctx), err, SentNoAnswer)
	}
	return errors.New(whereOf(r) + ": the token endpoint's answer holds no access token")
}

// errorCode is one of those of RFC 6749 §5.2, or nothing.
func errorCode(code string) string {
	known := []string{"invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope"}
	if !slices.Contains(known, code) {
		return ""
	}
	return ": " + code
}

// TokenEndpoint reads the token endpoint out of the metadata of an
// authorization server (OpenID Connect Discovery 1.0 §4, RFC 8414).
func TokenEndpoint(ctx context.Context, c *http.Client, metadataURL string) (string, error) {
	body, _, _, err := Fetch(ctx, c, metadataURL, maxDiscovery)
	if err != nil {
		return "", err
	}
	doc, err := rawjson.Parse(body)
	if err != nil {
		return "", errors.New("the authorization server's metadata is not JSON")
	}
	endpoint := doc.Str(doc.Get(doc.Root(), "token_endpoint"))
	if endpoint == "" {
		return "", errors.New("the authorization server's metadata names no token_endpoint")
	}
	return endpoint, nil
}
