package app

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/auth"
	"github.com/tenon-mcp/tenon/openapi"
)

// noScopes stands in place of scopes: none is asked for, whatever an operation requires.
const noScopes = "-"

// exchanging reads AUDIENCE, AUDIENCE SCOPE... or "AUDIENCE -" behind exchange:. The
// client that exchanges comes with the caller: it is the one in force when its
// request was let in.
func exchanging(text string) (openapi.Credential, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return openapi.Credential{}, errors.New("behind exchange: it wants the audience, and scopes if they are not those of the operation")
	}
	audience, fixed := words[0], words[1:]
	none := len(fixed) == 1 && fixed[0] == noScopes
	return openapi.Credential{PerCaller: func(ctx context.Context, scopes []string) (openapi.CallerToken, error) {
		switch {
		case none:
			scopes = nil
		case len(fixed) > 0:
			scopes = fixed
		}
		token, err := auth.TokenFor(ctx, auth.Target{Audience: audience, Scopes: scopes})
		if err != nil {
			return notExchanged(err)
		}
		return openapi.CallerToken{Text: openapi.Secret(token.Text()), Reject: token.Reject}, nil
	}}, nil
}

// notExchanged tells a caller what to do. Who has no token at all may be served by
// another of the operation's credentials.
func notExchanged(err error) (openapi.CallerToken, error) {
	e, ok := errors.AsType[*auth.Error](err)
	switch {
	case !ok:
		return openapi.CallerToken{}, err
	case e.Status == http.StatusUnauthorized && e.Code == "":
		return openapi.CallerToken{Missing: e.Message + ": call with an access token of the issuer, not with a key"}, nil
	}
	told := &tenon.Error{Code: tenon.CodeAuthentication, Message: e.Message}
	switch e.Status {
	case http.StatusUnauthorized:
		told.Suggestions = []string{"Log in again, so that the client gets another access token, then call again"}
	case http.StatusForbidden:
		told.Code = tenon.CodeAuthorization
		told.Suggestions = []string{"Consent to the scopes that are named, or ask the operator of the issuer to grant them; retrying does not help"}
	case http.StatusServiceUnavailable:
		told.RetryAfter = retryExchange
		told.Suggestions = []string{"Wait a moment, then call again: nothing was sent"}
	default:
		told.Suggestions = []string{"Tell the operator: the client of oauth-exchange, or what the issuer lets it do, has to be corrected; retrying does not help"}
	}
	return openapi.CallerToken{}, told
}

// retryExchange is when an issuer that did not answer is asked again.
const retryExchange = 5 * time.Second

// exchanges reports whether a credential is a token of the caller by exchange.
func exchanges(where string) bool { return strings.HasPrefix(where, "exchange:") }

// mayExchange refuses credentials by exchange where nobody exchanges.
func (c *Config) mayExchange(o *SourceOptions) error {
	if c.OAuthExchange != "" {
		return nil
	}
	for _, given := range o.Auth {
		if name, where, _ := strings.Cut(given, "="); exchanges(where) {
			return invalid("auth", " %s exchanges tokens of callers; --oauth-exchange says as which client of --oauth-issuer", name)
		}
	}
	return nil
}

// CheckExchange asks the issuer's metadata whether tokens of callers can be
// exchanged; nil: nothing in it rules that out, or no exchange is configured.
func (a *App) CheckExchange(ctx context.Context) error {
	if a.config.OAuthExchange == "" {
		return nil
	}
	if err := a.access.Load().callers.CheckExchange(ctx); err != nil {
		return invalid("oauth-exchange", ": %v", err)
	}
	return nil
}

// readClient reads CLIENT=env:VAR or CLIENT=file:PATH.
func readClient(e Env, setting, given string) (id, secret string, err error) {
	id, where, ok := strings.Cut(given, "=")
	if !ok || id == "" || !namesSecret(where) {
		return "", "", invalid(setting, " wants CLIENT=env:VAR or CLIENT=file:PATH; the secret itself does not belong there")
	}
	text, err := secretAt(e, where)
	if err != nil {
		return "", "", invalid(setting, " %s: %v", id, err)
	}
	return id, string(text), nil
}
