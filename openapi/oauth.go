package openapi

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"

	"github.com/tenon-mcp/tenon/internal/egress"
)

// OAuth gets access tokens for schemes of OAuth 2.0 and OpenID Connect, and for
// http bearer where TokenURL is given: with the client's own credentials, or
// with a refresh token. A token is kept until shortly before it expires, and
// replaced once when an upstream answers 401 to it.
type OAuth struct {
	ClientID     string
	ClientSecret Secret
	RefreshToken Secret            // empty: the grant is client_credentials
	TokenURL     string            // empty: as the document has it, or the metadata that it names
	Scopes       []string          // empty: for client credentials those that the operation demands, for a refresh token those it was given for
	Params       map[string]string // further members of the token request, such as audience; for client credentials only
	InBody       bool              // the client's id and secret stand in the form; else in an Authorization header
}

func (o *OAuth) check() error {
	switch {
	case o.ClientID == "":
		return errors.New("it has no client_id")
	case o.RefreshToken != "" && len(o.Params) > 0:
		return errors.New("further members of the token request go with client credentials only")
	}
	return nil
}

// oauth keeps the tokens of one scheme, by the scopes that they are for.
type oauth struct {
	api      *api
	settings OAuth
	metadata string // where the token endpoint stands; empty: it is known

	mu     sync.Mutex
	tokens map[string]*egress.Tokens // by scopes, joined by spaces
}

func (a *api) newOAuth(s *scheme, o OAuth) (*oauth, error) {
	if s.prefix != "Bearer " {
		return nil, errors.New("an access token is no credential for " + s.about)
	}
	made := &oauth{api: a, settings: o, tokens: map[string]*egress.Tokens{}}
	if o.TokenURL != "" {
		return made, nil
	}
	at := s.tokenURL(o.RefreshToken != "")
	if at == "" {
		for _, member := range []string{"openIdConnectUrl", "oauth2MetadataUrl"} { // the latter: 3.2
			if made.metadata == "" {
				made.metadata = a.absolute(s.node.strAt(member))
			}
		}
		if made.metadata == "" {
			return nil, errors.New("the document names no token URL; give it with the credential as token_url")
		}
		return made, nil
	}
	made.settings.TokenURL = a.absolute(at)
	return made, nil
}

// tokenURL is the token endpoint that the document names for the grant, or for
// another one: there is hardly ever more than one endpoint.
func (s *scheme) tokenURL(refresh bool) string {
	if at := s.node.strAt("tokenUrl"); at != "" { // 2.0
		return at
	}
	flows := s.node.get("flows")
	order := []string{"clientCredentials", "authorizationCode", "password", "deviceAuthorization"}
	if refresh {
		order = []string{"authorizationCode", "password", "deviceAuthorization", "clientCredentials"}
	}
	for _, name := range order {
		flow := flows.get(name)
		if at := flow.strAt("refreshUrl"); at != "" && refresh {
			return at
		}
		if at := flow.strAt("tokenUrl"); at != "" {
			return at
		}
	}
	return ""
}

// absolute resolves a URL of the document, which should have none that is
// relative.
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

// token returns an access token for the scopes, and who keeps it.
func (o *oauth) token(ctx context.Context, scopes []string) (string, *egress.Tokens, error) {
	t, err := o.of(ctx, scopes)
	if err != nil {
		return "", nil, err
	}
	token, err := t.Get(ctx)
	return token, t, err
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
		if !o.api.endpoint(o.metadata, at) {
			return nil, errors.New("the metadata names another token endpoint than before, " + originOfText(at) + ": if that is meant, --auth-origin accepts it")
		}
	}
	params := url.Values{}
	for name, value := range s.Params {
		params.Set(name, value)
	}
	t, err := egress.NewTokens(o.api.options.Client, egress.TokenConfig{
		TokenURL: at, ClientID: s.ClientID, ClientSecret: string(s.ClientSecret), RefreshToken: string(s.RefreshToken),
		Scopes: scopes, Params: params, InBody: s.InBody,
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
