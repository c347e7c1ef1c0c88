package app

import (
	"context"
	"crypto/sha256"
	"errors"
	"net"
	"net/url"
	"strings"
	"sync"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/auth"
	"github.com/tenon-mcp/tenon/internal/enrollment"
	"github.com/tenon-mcp/tenon/internal/vault"
	"github.com/tenon-mcp/tenon/openapi"
)

// maxRejected bounds the credentials that are known to be refused by their service.
const maxRejected = 10_000

// userCredentials are those that users store themselves, and the pages where they do.
type userCredentials struct {
	vault *vault.Vault
	desk  *enrollment.Desk
	app   *App

	mu       sync.Mutex
	rejected map[vault.Label][sha256.Size]byte // sums of values that a service refused
}

// readUserCredentials reads where credentials of users are kept and who logs them in.
func (a *App) readUserCredentials() error {
	c := a.config
	if c.CredentialDir == "" && len(c.CredentialKey) == 0 && c.OAuthLogin == "" {
		return nil
	}
	for _, needed := range []struct {
		name  string
		given bool
	}{{"oauth-issuer", c.OAuthIssuer != ""}, {"oauth-login", c.OAuthLogin != ""}, {"credential-dir", c.CredentialDir != ""}, {"credential-key", len(c.CredentialKey) > 0}} {
		if !needed.given {
			return invalid(needed.name, " is missing: credentials of users need --oauth-issuer, --oauth-login, --credential-dir and --credential-key (docs/credentials.md)")
		}
	}
	if a.before != nil { // where they are kept is said at a start
		if c.OAuthResource != a.before.config.OAuthResource {
			return invalid("oauth-resource", " cannot change while users have the addresses of pages below it; start anew")
		}
		a.users = a.before.users
		return nil
	}
	if u, err := url.Parse(c.OAuthResource); err == nil && u.Scheme == "http" && !OnLoopback(net.JoinHostPort(u.Hostname(), "0")) {
		return invalid("oauth-resource", " %s has to be an https URL: users type credentials there", c.OAuthResource)
	}
	if a.env.DryRun {
		return nil
	}
	var keys []vault.Key
	for _, where := range c.CredentialKey {
		text, err := secretAt(a.env, where)
		if err != nil {
			return invalid("credential-key", ": %v", err)
		}
		key, err := vault.ParseKey(string(text))
		if err != nil {
			return invalid("credential-key", ": %v", err)
		}
		keys = append(keys, key)
	}
	blobs, err := vault.Folder(c.CredentialDir)
	if err != nil {
		return invalid("credential-dir", ": %v", err)
	}
	u := &userCredentials{app: a, rejected: map[vault.Label][sha256.Size]byte{}}
	if u.vault, err = vault.New(blobs, keys...); err != nil {
		return invalid("credential-key", ": %v", err)
	}
	u.desk, err = enrollment.New(enrollment.Options{
		Resource: c.OAuthResource, Vault: u.vault, Logger: a.env.Logger,
		Login: func() enrollment.Login { return a.access.Load().callers },
	})
	a.users = u
	return err
}

// mayActFor refuses credentials of callers that the config does not say how to get.
func (c *Config) mayActFor(o *SourceOptions) error {
	if err := c.mayExchange(o); err != nil {
		return err
	}
	return c.mayStore(o)
}

// mayStore refuses credentials of users where none can be stored.
func (c *Config) mayStore(o *SourceOptions) error {
	if c.CredentialDir != "" {
		return nil
	}
	for _, given := range o.Auth {
		if name, where, _ := strings.Cut(given, "="); where == "user" {
			return invalid("auth", " %s is a credential of each user; --oauth-issuer, --oauth-login, --credential-dir and --credential-key say how they are stored", name)
		}
	}
	return nil
}

// of finds the credentials of users for one source.
func (u *userCredentials) of(source string) openapi.UserCredentials {
	return func(ctx context.Context, c *tenon.Call, want openapi.WantedCredential) (openapi.UserCredential, error) {
		who := auth.FromContext(ctx)
		if who == nil || who.Issuer == "" || who.Subject == "" {
			return openapi.UserCredential{}, &tenon.Error{
				Code: tenon.CodeAuthentication, Message: want.Service + " needs a credential of each user, and this caller is no user: a key or a client cannot log in with a browser",
				Suggestions: []string{"Call with an access token of a user, not with a key"},
			}
		}
		label := vault.Label{Issuer: who.Issuer, Subject: who.Subject, Source: source, Scheme: want.Scheme, Origin: want.Origin}
		got, err := u.get(label)
		if errors.Is(err, vault.ErrNone) {
			if err = u.ask(ctx, c, label, want); err != nil {
				return openapi.UserCredential{}, err
			}
			got, err = u.get(label)
		}
		if err != nil {
			return openapi.UserCredential{}, &tenon.Error{Code: tenon.CodeInternal, Message: "the stored credential cannot be read now", Err: err}
		}
		return openapi.UserCredential{Value: openapi.Secret(got.Value), Reject: func() bool { return u.reject(label, got.Value) }}, nil
	}
}

// get returns a credential that is worth sending, or ErrNone. One that cannot be
// decrypted is asked for again, as is one that its service refused.
func (u *userCredentials) get(l vault.Label) (vault.Credential, error) {
	got, err := u.vault.Get(l)
	if errors.Is(err, vault.ErrDamaged) {
		u.app.env.Logger.Error("a stored credential cannot be used, and is asked for again", "subject", l.Subject, "source", l.Source, "scheme", l.Scheme, "error", err)
		return got, vault.ErrNone
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if sum, ok := u.rejected[l]; err == nil && ok {
		if sum == sha256.Sum256([]byte(got.Value)) {
			return vault.Credential{}, vault.ErrNone
		}
		delete(u.rejected, l)
	}
	return got, err
}

// reject remembers that a service refused a credential. It stays stored until its
// user replaces or deletes it.
func (u *userCredentials) reject(l vault.Label, value vault.Secret) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.rejected) >= maxRejected {
		clear(u.rejected)
	}
	u.rejected[l] = sha256.Sum256([]byte(value))
	return true
}

// ask has the user store a credential. nil: the user may have done it.
func (u *userCredentials) ask(ctx context.Context, c *tenon.Call, l vault.Label, want openapi.WantedCredential) error {
	page, err := u.desk.Ask(enrollment.Question{Label: l, Service: want.Service, Kind: want.Kind, Basic: want.Basic})
	if err != nil {
		return &tenon.Error{Code: tenon.CodeRateLimited, Message: err.Error()}
	}
	q := tenon.URLRequest("tenon/credential/"+page.ID, want.Service+" needs a credential of yours. Log in on this page and store it: it is encrypted, sent to "+want.Origin+" alone, and neither this program nor its model sees it.", page.URL)
	q.ID, q.Done = page.ID, page.Done
	answers, err := c.RequestInput(ctx, q)
	switch {
	case errors.As(err, new(*tenon.UnsupportedInputError)):
		return missing(want, page.URL)
	case err != nil:
		return err
	case len(answers) != 1 || answers[0].Action != "accept":
		return &tenon.Error{Code: tenon.CodeAuthorization, Message: want.Service + " needs a credential of the user, who declined", Suggestions: []string{"Do not call again unless the user asks for it"}}
	}
	if _, err := u.get(l); errors.Is(err, vault.ErrNone) {
		return missing(want, page.URL)
	}
	return nil
}

// missing tells a caller what the user has to do.
func missing(want openapi.WantedCredential, page string) error {
	return &tenon.Error{
		Code: tenon.CodeAuthentication, Message: want.Service + " needs a credential of the user, who can store it within ten minutes at " + page,
		Suggestions: []string{"Show the user this address: " + page + " It has to be opened by the same user, in a browser. When the page says that it is stored, call again"},
	}
}
