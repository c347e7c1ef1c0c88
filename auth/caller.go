package auth

import (
	"context"
	"slices"
	"time"
)

// Caller is who sends a request. A caller with an API key has a Key, one with an
// access token an Issuer.
type Caller struct {
	Key string // name of the API key; empty: there was a token

	Issuer   string
	Subject  string // the issuer's name of the user, or of the client; may be empty if ClientID is not
	ClientID string // may be empty if Subject is not
	Scopes   []string
	Groups   []string
	Expires  time.Time // zero: not known

	bearer *bearer // nil: there is no token to exchange, or nobody who does
}

// ID names the caller among all callers of this server: who has another ID must
// not come to what was kept for this one. It is not a secret.
func (c *Caller) ID() string {
	// An issuer and the name of a key have no space, so that nobody chooses a
	// subject that makes the ID of somebody else.
	switch {
	case c.Issuer == "":
		return c.Key
	case c.Subject != "":
		return c.Issuer + " sub " + c.Subject
	}
	return c.Issuer + " client " + c.ClientID
}

// HasScope reports whether the issuer granted the scope to the caller by name or by
// a broader one.
func (c *Caller) HasScope(scope string) bool { return slices.Contains(c.Scopes, scope) }

type callerKey struct{}

// NewContext returns a context that has the caller.
func NewContext(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// FromContext returns the caller of the request that ctx belongs to; nil: nobody
// is known.
func FromContext(ctx context.Context) *Caller {
	c, _ := ctx.Value(callerKey{}).(*Caller)
	return c
}
