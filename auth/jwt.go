package auth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json" // case matters, and no name comes twice
)

// skew is by how much the clocks of issuer and server may differ.
const skew = time.Minute

// verifier judges what a token says of itself.
type verifier struct {
	issuer     string
	audiences  []string
	algorithms []jose.SignatureAlgorithm
}

// algorithmsOf reads the names of signature algorithms, none: all that are known
// here. There is none without a key pair: a public key as a shared secret is the
// oldest trick.
func algorithmsOf(names []string) ([]jose.SignatureAlgorithm, error) {
	known := []jose.SignatureAlgorithm{
		jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
	}
	if len(names) == 0 {
		return known, nil
	}
	var all []jose.SignatureAlgorithm
	for _, name := range names {
		if !slices.Contains(known, jose.SignatureAlgorithm(name)) {
			return nil, fmt.Errorf("%q is not a signature algorithm that is accepted: %v", name, known)
		}
		all = append(all, jose.SignatureAlgorithm(name))
	}
	return all, nil
}

// header is what counts of a JOSE header. Members that bring a key or say where one
// is (jwk, jku, x5c, x5u) are not read.
type header struct {
	Type      string          `json:"typ"`
	Algorithm string          `json:"alg"`
	KeyID     string          `json:"kid"`
	Critical  json.RawMessage `json:"crit"`
}

// headerOf reads the header of what looks like a JSON Web Token. Not ok: it is
// none, but may be an opaque token with two dots.
func headerOf(token string) (h header, ok bool) {
	first, _, _ := strings.Cut(token, ".")
	text, err := base64.RawURLEncoding.DecodeString(first)
	if err != nil || json.Unmarshal(text, &h) != nil {
		return header{}, false
	}
	return h, true
}

// claims are those of RFC 9068, 2.2, and their names elsewhere.
type claims struct {
	Issuer       string          `json:"iss"`
	Subject      string          `json:"sub"`
	Audience     audience        `json:"aud"`
	Expires      *seconds        `json:"exp"`
	NotBefore    *seconds        `json:"nbf"`
	ClientID     string          `json:"client_id"`
	Authorized   string          `json:"azp"` // the client, as OpenID Connect has it
	Scope        words           `json:"scope"`
	Scp          words           `json:"scp"`
	Groups       words           `json:"groups"`
	Confirmation json.RawMessage `json:"cnf"`
	TokenHash    json.RawMessage `json:"at_hash"`
	Kind         string          `json:"typ"`
}

// verify judges a JSON Web Token.
func (v *verifier) verify(ctx context.Context, from *issuer, h header, token string) (*Caller, *Error) {
	switch strings.TrimPrefix(strings.ToLower(h.Type), "application/") {
	case "at+jwt", "jwt", "":
	default:
		return nil, invalidToken("is a JSON Web Token of another type")
	}
	if h.Critical != nil {
		return nil, invalidToken("has a critical header that is not known here")
	}
	if !slices.Contains(v.algorithms, jose.SignatureAlgorithm(h.Algorithm)) {
		return nil, invalidToken("is signed by an algorithm that is not accepted")
	}
	signed, err := jose.ParseSignedCompact(token, v.algorithms)
	if err != nil {
		return nil, invalidToken("is malformed")
	}
	keys, of, e := from.keysFor(ctx, h)
	if e != nil {
		return nil, e
	}
	for i := range keys {
		payload, err := signed.Verify(keys[i].Key)
		if err != nil {
			continue
		}
		var c claims
		if json.Unmarshal(payload, &c) != nil {
			return nil, invalidToken("has malformed claims")
		}
		if c.Issuer != v.issuer {
			return nil, invalidToken("is from another issuer")
		}
		if c.Expires == nil {
			return nil, invalidToken("does not say when it expires")
		}
		caller, e := v.caller(&c)
		if e == nil {
			of.verified.keep(sha256.Sum256([]byte(token)), caller)
		}
		return caller, e
	}
	return nil, invalidToken("has a wrong signature")
}

// caller checks the claims of a token whose word counts.
func (v *verifier) caller(c *claims) (*Caller, *Error) {
	now := time.Now()
	client := c.ClientID
	if client == "" {
		client = c.Authorized
	}
	switch {
	case !slices.ContainsFunc(c.Audience, func(a string) bool { return slices.Contains(v.audiences, canonical(a)) }):
		return nil, invalidToken("is for another audience")
	case c.Expires != nil && !now.Before(c.Expires.time().Add(skew)):
		return nil, invalidToken("has expired")
	case c.NotBefore != nil && now.Add(skew).Before(c.NotBefore.time()):
		return nil, invalidToken("is not valid yet")
	case set(c.Confirmation):
		// It is bound to a key that its sender has to prove; as a bearer token it may be stolen.
		return nil, invalidToken("is bound to a key of its client, which is not supported")
	case set(c.TokenHash) || c.Kind == "ID" || c.Kind == "Refresh":
		return nil, invalidToken("is not an access token")
	case c.Subject == "" && client == "" || hasControl(c.Subject) || hasControl(client):
		return nil, invalidToken("does not say whose it is")
	}
	who := &Caller{Issuer: v.issuer, Subject: c.Subject, ClientID: client, Scopes: slices.Concat(c.Scope, c.Scp), Groups: c.Groups}
	if c.Expires != nil {
		who.Expires = c.Expires.time()
	}
	return who, nil
}

func set(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// audience is a text or a list of texts.
type audience []string

// UnmarshalJSON implements json.Unmarshaler.
func (a *audience) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*a = audience{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(a))
}

// words are a list of texts, or one text of words.
type words []string

// UnmarshalJSON implements json.Unmarshaler.
func (w *words) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*w = strings.Fields(text)
		return nil
	}
	var list []json.RawMessage
	_ = json.Unmarshal(b, &list) // an issuer may mean something else by the name: it grants nothing
	for _, item := range list {
		var one string
		if json.Unmarshal(item, &one) == nil && one != "" {
			*w = append(*w, one)
		}
	}
	return nil
}

// seconds is a NumericDate, which may have a fraction.
type seconds float64

// UnmarshalJSON implements json.Unmarshaler.
func (s *seconds) UnmarshalJSON(b []byte) error {
	var f float64
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	*s = seconds(math.Max(-1e11, math.Min(f, 1e11))) // the year 5138: what is beyond would wrap
	return nil
}

func (s seconds) time() time.Time { return time.Unix(int64(s), 0) }
