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

// TokenConfig is the configuration of a grant: client credentials, or a refresh
// token if there is one (RFC 6749 §4.4, §6).
type TokenConfig struct {
	TokenURL     string
	ClientID     string
	ClientSecret string
	RefreshToken string     // empty: client credentials
	Scopes       []string   // empty: chosen by the endpoint
	Params       url.Values // additional parameters, such as audience; for client credentials only
	InBody       bool       // client id and secret are sent in the form, not in an Authorization header
	Shared       Shared     // keeps tokens for other replicas, too; nil: nothing does
}

const (
	tokenTime    = 30 * time.Second // timeout of a request to a token endpoint
	minTokenAge  = 10 * time.Second // a younger token is not replaced when it is rejected
	maxDiscovery = 1 << 20          // bytes
)

// Tokens obtains the access tokens of a grant and caches each until shortly
// before it expires. It is safe for concurrent use: concurrent calls share one
// request.
type Tokens struct {
	client *http.Client
	grant  TokenConfig

	mu         sync.Mutex
	cached     *oauth2.Token // nil: none
	receivedAt time.Time     // when it was received
	rejected   string        // the last token that an upstream rejected
	refresh    string        // the latest refresh token: some endpoints rotate it
	pending    *tokenRequest // the request in flight; nil: none
}

// tokenRequest is a token request that several calls wait for.
type tokenRequest struct {
	done  chan struct{}
	token string
	err   error
}

// NewTokens sends no request yet. The client should come from NewClient. Plain
// http is rejected except for allowed hosts, because it would reveal the
// client's secret.
func NewTokens(c *http.Client, g TokenConfig) (*Tokens, error) {
	u, err := url.Parse(g.TokenURL)
	if err != nil || !webScheme(u) || u.Hostname() == "" {
		return nil, errors.New("the token URL is not an http or https URL")
	}
	if err := checkPlain(c, u, "a token"); err != nil {
		return nil, err
	}
	return &Tokens{client: c, grant: g, refresh: g.RefreshToken}, nil
}

// Get returns the cached token or waits for a new one. Its errors contain
// nothing that the endpoint sent except a known error code.
func (t *Tokens) Get(ctx context.Context) (string, error) {
	t.mu.Lock()
	if t.cached.Valid() {
		defer t.mu.Unlock()
		return t.cached.AccessToken, nil
	}
	f := t.pending
	if f == nil {
		f = &tokenRequest{done: make(chan struct{})}
		t.pending = f
		incident.Go(nil, "a token request", func() { t.fetch(f) }, func(e *incident.Error) { t.finish(f, nil, time.Time{}, e) }) //nolint:contextcheck // shared with other calls: it does not end with this one
	}
	t.mu.Unlock()
	select {
	case <-f.done:
		return f.token, f.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Invalidate drops a token that an upstream rejected and reports whether a new one
// may be accepted.
func (t *Tokens) Invalidate(token string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.cached == nil || t.cached.AccessToken != token:
		return true // already replaced
	case time.Since(t.receivedAt) < minTokenAge:
		return false
	}
	t.cached, t.rejected = nil, token
	return true
}

func (t *Tokens) fetch(f *tokenRequest) {
	ctx, cancel := context.WithTimeout(context.Background(), tokenTime)
	defer cancel()
	token, at, err := t.obtain(context.WithValue(ctx, oauth2.HTTPClient, t.client))
	t.finish(f, token, at, err)
}

// finish passes the result of a token request to those that wait for it.
func (t *Tokens) finish(f *tokenRequest, token *oauth2.Token, at time.Time, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending = nil
	if err == nil {
		t.cached, t.receivedAt, f.token = token, at, token.AccessToken
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
		return nil, errors.New("the token endpoint returned a token of a type other than bearer")
	}
	return token, nil
}

// tokenError explains an error without text of the endpoint, which may repeat
// the request.
func tokenError(ctx context.Context, tokenURL string, err error) error {
	r := &http.Request{Method: http.MethodPost}
	r.URL, _ = url.Parse(tokenURL)
	if answer, ok := errors.AsType[*oauth2.RetrieveError](err); ok && answer.Response != nil {
		return fmt.Errorf("%s: the token endpoint responded %d%s", requestText(r), answer.Response.StatusCode, errorCode(answer.ErrorCode))
	}
	if _, ok := errors.AsType[*url.Error](err); ok {
		return newError(r.WithContext(ctx), err, SentNoResponse)
	}
	return errors.New(requestText(r) + ": the response of the token endpoint contains no access token")
}

// errorCode returns a code of RFC 6749 §5.2, or nothing.
func errorCode(code string) string {
	known := []string{"invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope"}
	if !slices.Contains(known, code) {
		return ""
	}
	return ": " + code
}

// TokenEndpoint reads the token endpoint from the metadata of an authorization
// server (OpenID Connect Discovery 1.0 §4, RFC 8414).
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
		return "", errors.New("the authorization server's metadata has no token_endpoint")
	}
	return endpoint, nil
}
