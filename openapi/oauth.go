package openapi

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"

	"github.com/tenon-mcp/tenon/internal/egress"
)

// OAuth obtains access tokens for schemes of OAuth 2.0 and OpenID Connect, and
// for http bearer if TokenURL is set: with the client credentials grant or a
// refresh token. A token is cached until shortly before it expires, and
// replaced once when an upstream responds 401.
type OAuth struct {
	ClientID     string
	ClientSecret Secret
	RefreshToken Secret            // empty: the grant is client_credentials
	TokenURL     string            // empty: taken from the document, or from the metadata that it names
	Scopes       []string          // empty: for client credentials those that the operation requires, for a refresh token those it was issued for
	Params       map[string]string // additional parameters of the token request, such as audience; for client credentials only
	InBody       bool              // client id and secret are sent in the form, not in an Authorization header
}

func (o *OAuth) check() error {
	switch {
	case o.ClientID == "":
		return errors.New("client_id is missing")
	case o.RefreshToken != "" && len(o.Params) > 0:
		return errors.New("additional parameters of the token request are for client credentials only")
	}
	return nil
}

// oauth caches the tokens of one scheme by their scopes.
type oauth struct {
	api      *api
	settings OAuth
	metadata string // URL of the metadata that names the token endpoint; empty: the endpoint is known

	mu     sync.Mutex
	tokens map[string]*egress.Tokens // by scopes, separated by spaces
}

func (a *api) newOAuth(s *scheme, o OAuth) (*oauth, error) {
	if s.prefix != "Bearer " {
		return nil, errors.New("an access token cannot be used for " + s.kind)
	}
	made := &oauth{api: a, settings: o, tokens: map[string]*egress.Tokens{}}
	if o.TokenURL != "" {
		return made, nil
	}
	at := s.tokenURL(o.RefreshToken != "")
	if at == "" {
		for _, member := range []string{"openIdConnectUrl", "oauth2MetadataUrl"} { // the latter: 3.2
			if made.metadata == "" {
				made.metadata = a.absolute(s.node.StrAt(member))
			}
		}
		if made.metadata == "" {
			return nil, errors.New("the document names no token URL; set token_url of the credential")
		}
		return made, nil
	}
	made.settings.TokenURL = a.absolute(at)
	return made, nil
}

// tokenURL returns the token endpoint that the document names for the grant, or
// for another grant: there is hardly ever more than one endpoint.
func (s *scheme) tokenURL(refresh bool) string {
	if at := s.node.StrAt("tokenUrl"); at != "" { // 2.0
		return at
	}
	flows := s.node.Get("flows")
	order := []string{"clientCredentials", "authorizationCode", "password", "deviceAuthorization"}
	if refresh {
		order = []string{"authorizationCode", "password", "deviceAuthorization", "clientCredentials"}
	}
	for _, name := range order {
		flow := flows.Get(name)
		if at := flow.StrAt("refreshUrl"); at != "" && refresh {
			return at
		}
		if at := flow.StrAt("tokenUrl"); at != "" {
			return at
		}
	}
	return ""
}

// absolute resolves a URL of the document, which may be relative.
func (a *api) absolute(text string) string {
	base := a.at
	if base == nil {
		base = a.base
	}
	u, err := url.Parse(text)
	if err != nil || base == nil || text == "" {
		return text
	}
	return base.ResolveReference(u).String()
}

// token returns an access token for the scopes.
func (o *oauth) token(ctx context.Context, scopes []string) (appliedCredential, error) {
	t, err := o.of(ctx, scopes)
	if err != nil {
		return appliedCredential{}, err
	}
	token, err := t.Get(ctx)
	return appliedCredential{text: token, reject: func() bool { return t.Invalidate(token) }}, err
}

func (o *oauth) of(ctx context.Context, scopes []string) (*egress.Tokens, error) {
	s := o.settings
	if s.Scopes != nil || s.RefreshToken != "" {
		scopes = s.Scopes
	}
	key := strings.Join(scopes, " ")
	o.mu.Lock()
	t := o.tokens[key]
	o.mu.Unlock()
	if t != nil {
		return t, nil
	}
	at := s.TokenURL
	if o.metadata != "" {
		var err error
		if at, err = egress.TokenEndpoint(ctx, o.api.options.Client, o.metadata); err != nil {
			return nil, err
		}
		if !o.api.allowsTokenEndpoint(o.metadata, at) {
			return nil, errors.New("the token endpoint in the metadata has changed to " + originOfText(at) + "; the operator can allow it with --auth-origin")
		}
	}
	params := url.Values{}
	for name, value := range s.Params {
		params.Set(name, value)
	}
	t, err := egress.NewTokens(o.api.options.Client, egress.TokenConfig{
		TokenURL: at, ClientID: s.ClientID, ClientSecret: string(s.ClientSecret), RefreshToken: string(s.RefreshToken),
		Scopes: scopes, Params: params, InBody: s.InBody, Shared: o.api.options.Shared,
	})
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if first := o.tokens[key]; first != nil { // another call was faster
		return first, nil
	}
	o.tokens[key] = t
	return t, nil
}
