package auth

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4/json"
)

// maxLifetime bounds what is believed of the life of a token.
const maxLifetime = 24 * time.Hour

// exchanged is what an issuer says to an exchange: a token or a refusal.
type exchanged struct {
	token    string
	lifetime time.Duration // 0: it does not say
	refusal  string        // one of refusals; empty: there is a token
}

// refusals are the error codes that mean something here: RFC 6749, 5.2, RFC 8693,
// 2.2.2, and what issuers say beside them. Whatever else an issuer writes could
// repeat the request, and is shown to nobody.
var refusals = []string{ //nolint:gochecknoglobals // a constant
	InvalidRequest, "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope",
	"invalid_target", InvalidToken, InsufficientScope, "access_denied", "server_error", "temporarily_unavailable",
	"interaction_required", "consent_required", "login_required",
}

// readExchanged reads a response of RFC 8693, 2.2. Its errors hold nothing of it.
func readExchanged(status int, body []byte) (exchanged, error) {
	var said struct {
		Token   string   `json:"access_token"`
		Kind    string   `json:"issued_token_type"`
		Type    string   `json:"token_type"`
		Expires *seconds `json:"expires_in"`
		Error   string   `json:"error"`
	}
	if json.Unmarshal(body, &said) != nil {
		return exchanged{}, errors.New("the response to an exchange is not the JSON object that it has to be")
	}
	switch {
	case status != http.StatusOK && slices.Contains(refusals, said.Error):
		return exchanged{refusal: said.Error}, nil
	case status != http.StatusOK:
		return exchanged{}, errors.New("the issuer refuses an exchange and does not say why")
	case said.Token == "" || len(said.Token) > maxCredential || !isToken(said.Token):
		return exchanged{}, errors.New("the response to an exchange has no token, or one that is too long or malformed")
	case !strings.EqualFold(said.Type, "Bearer"):
		return exchanged{}, errors.New("the issuer gives a token that is no bearer token")
	case said.Kind != "" && said.Kind != accessTokenURN && said.Kind != jwtURN: // required, and some leave it out
		return exchanged{}, errors.New("the issuer gives a token that is no access token")
	}
	got := exchanged{token: said.Token}
	if said.Expires != nil {
		if *said.Expires <= 0 {
			return exchanged{}, errors.New("the issuer gives a token that has expired")
		}
		got.lifetime = max(time.Second, time.Duration(min(float64(*said.Expires), maxLifetime.Seconds())*float64(time.Second)))
	}
	return got, nil
}

// saysInactive reports whether an introspection says clearly that a token is not
// active.
func saysInactive(body []byte) bool {
	var said struct {
		Active *bool `json:"active"`
	}
	return json.Unmarshal(body, &said) == nil && said.Active != nil && !*said.Active
}
