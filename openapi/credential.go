package openapi

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
)

// maxCredential bounds a credential in bytes: upstreams refuse longer headers.
const maxCredential = 32 << 10

// Credential says where the value of a security scheme's credential comes
// from: exactly one of its fields. For the scheme http basic the value is "user:password", for the schemes with a token the token alone.
type Credential struct {
	Value  Secret                                    // the value itself
	File   string                                    // a file that holds it; read for each call, so that it can be replaced
	Caller string                                    // a header of the caller's request that holds it, see tenon.Call.Header; an Authorization header's scheme may stand before it
	Fetch  func(ctx context.Context) (string, error) // makes it, for each call; its errors are logged
	OAuth  *OAuth                                    // an access token that is got with it and kept
	None   bool                                      // the scheme asks for nothing, whatever the document says
}

// check refuses what the operator cannot have meant.
func (c Credential) check() error {
	given := 0
	for _, is := range []bool{c.Value != "", c.File != "", c.Caller != "", c.Fetch != nil, c.OAuth != nil, c.None} {
		if is {
			given++
		}
	}
	switch {
	case given != 1:
		return errors.New("it wants exactly one place that the value comes from")
	case c.Caller != "" && !isToken(c.Caller):
		return fmt.Errorf("%q is no name of a header", c.Caller)
	case c.OAuth != nil:
		return c.OAuth.check()
	}
	return nil
}

// given is a credential of a scheme, and the one origin that it goes to; nil:
// to the server of any operation that demands it.
type given struct {
	Credential
	to    *url.URL
	oauth *oauth // what OAuth became; nil: none
}

// giveCredentials hands each scheme its credentials. A name that the document
// does not have is refused: a typing error must not send calls out without
// their credential.
func (a *api) giveCredentials() error {
	for _, name := range slices.Sorted(maps.Keys(a.options.Credentials)) {
		if err := a.giveCredential(name, a.options.Credentials[name]); err != nil {
			return &tenon.Error{Code: tenon.CodeUsage, Message: "--auth " + name + ": " + err.Error()}
		}
	}
	return nil
}

func (a *api) giveCredential(key string, c Credential) error {
	if err := c.check(); err != nil {
		return err
	}
	name, to, err := splitCredential(key)
	if err != nil {
		return err
	}
	s := a.schemes[name]
	if s == nil && c.None {
		s = &scheme{name: name, about: "not described"}
		a.schemes[name] = s
	}
	if s == nil {
		return errors.New("the document has no such security scheme; " + a.schemeNames())
	}
	g := given{Credential: c, to: to}
	if c.OAuth != nil {
		if g.oauth, err = a.newOAuth(s, *c.OAuth); err != nil {
			return err
		}
	}
	s.given = append(s.given, g)
	return nil
}

// splitCredential splits SCHEME@ORIGIN.
func splitCredential(key string) (name string, to *url.URL, err error) {
	i := strings.LastIndexByte(key, '@')
	if i < 0 || !strings.Contains(key[i:], "://") {
		return key, nil, nil
	}
	to, err = parseOrigin(key[i+1:])
	return key[:i], to, err
}

// parseOrigin reads scheme://host or scheme://host:port.
func parseOrigin(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || !usable(u) || u.User != nil || u.Path != "" {
		return nil, errors.New("an origin looks like https://host or https://host:port")
	}
	return u, nil
}

// at picks the credential for a server: the one for its origin before the one
// for any. elsewhere names where there are others.
func (s *scheme) at(base *url.URL) (from *given, elsewhere string) {
	for i := range s.given {
		g := &s.given[i]
		switch {
		case g.to == nil:
			if from == nil {
				from = g
			}
		case isOrigin(g.to, base):
			return g, ""
		default:
			elsewhere = g.to.String()
		}
	}
	return from, elsewhere
}

func (a *api) schemeNames() string {
	const shown = 20
	names := slices.Sorted(maps.Keys(a.schemes))
	switch {
	case len(names) == 0:
		return "it has none"
	case len(names) > shown:
		return "it has " + strings.Join(names[:shown], ", ") + " and others"
	}
	return "it has " + strings.Join(names, ", ")
}

// value gets the credential for a call. Where there is none, why says so; an
// error is one that was given and cannot be had.
func (g *given) value(ctx context.Context, call *tenon.Call, scopes []string) (got proof, why string, err error) {
	switch {
	case g.Value != "":
		got.text = string(g.Value)
	case g.Caller != "":
		if got.text = strings.TrimSpace(call.Header.Get(g.Caller)); got.text == "" {
			return proof{}, "the caller sent no header " + g.Caller, nil
		}
	case g.File != "":
		got.text, err = readSecret(g.File)
	case g.Fetch != nil:
		got.text, err = g.Fetch(ctx)
	case g.oauth != nil:
		got.text, got.tokens, err = g.oauth.token(ctx, scopes)
		got.token = got.text
	}
	got.text = strings.TrimSpace(got.text)
	switch {
	case err != nil:
		return proof{}, "", err
	case got.text == "":
		return proof{}, "", errors.New("it is empty")
	case len(got.text) > maxCredential:
		return proof{}, "", fmt.Errorf("it is longer than %d KiB", maxCredential>>10)
	case strings.ContainsFunc(got.text, isControl):
		return proof{}, "", errors.New("it holds a control character")
	}
	return got, "", nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

func readSecret(path string) (string, error) {
	f, err := os.Open(path) //nolint:gosec // the operator names the file
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxCredential+2))
	return string(b), err
}

// text is the credential as the request holds it. A caller's header may bring
// its authentication scheme along.
func (s *scheme) text(value string, fromCaller bool) string {
	if s.prefix == "" {
		return value
	}
	if n := len(s.prefix); fromCaller && len(value) > n && strings.EqualFold(value[:n], s.prefix) {
		return s.prefix + strings.TrimSpace(value[n:])
	}
	if s.prefix == "Basic " {
		value = base64.StdEncoding.EncodeToString([]byte(value))
	}
	return s.prefix + value
}
