package openapi

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
	"github.com/tenon-mcp/tenon/openapi/internal/encode"
)

// maxCredential bounds a credential in bytes: upstreams refuse longer headers.
const maxCredential = 32 << 10

// Credential is the source of a security scheme's credential: exactly one field
// is set. For the scheme http basic the value is "user:password", for schemes
// with a token the token alone.
type Credential struct {
	Value  Secret                                    // the value itself
	File   string                                    // a file that contains it; read for each call, so it can be replaced
	Caller string                                    // a header of the caller's request that contains it, see tenon.Call.Header; an Authorization header may include its scheme
	Fetch  func(ctx context.Context) (string, error) // called for each call; its errors are logged
	OAuth  *OAuth                                    // obtains an access token, which is cached
	// PerCaller returns the token of the caller of ctx, called for each call with the
	// scopes that the operation requires; a [*tenon.Error] of it is told to the caller.
	// For schemes of OAuth 2.0, OpenID Connect and http bearer.
	PerCaller func(ctx context.Context, scopes []string) (CallerToken, error)
	User      bool // each user's own, from Options.UserCredential
	None      bool // the scheme requires nothing, whatever the document says
}

// check rejects invalid credentials.
func (c Credential) check() error {
	given := 0
	for _, is := range []bool{c.Value != "", c.File != "", c.Caller != "", c.Fetch != nil, c.OAuth != nil, c.PerCaller != nil, c.User, c.None} {
		if is {
			given++
		}
	}
	switch {
	case given != 1:
		return errors.New("set exactly one source for the value")
	case c.Caller != "" && !encode.IsToken(c.Caller):
		return fmt.Errorf("%q is not a header name", c.Caller)
	case c.OAuth != nil:
		return c.OAuth.check()
	}
	return nil
}

// configuredCredential is a credential of a scheme and the only origin that it is sent to;
// nil: the server of any operation that requires it.
type configuredCredential struct {
	Credential
	origin *url.URL
	oauth  *oauth // made from OAuth; nil: none
}

// configureCredentials assigns credentials to the schemes. An unknown name is an
// error: a typing error must not send calls without their credential.
func (a *api) configureCredentials() error {
	for _, name := range slices.Sorted(maps.Keys(a.options.Credentials)) {
		if err := a.configureCredential(name, a.options.Credentials[name]); err != nil {
			return &tenon.Error{Code: tenon.CodeUsage, Message: "--auth " + name + ": " + err.Error()}
		}
	}
	return nil
}

func (a *api) configureCredential(key string, c Credential) error {
	if err := c.check(); err != nil {
		return err
	}
	name, to, err := splitCredential(key)
	if err != nil {
		return err
	}
	s := a.schemes[name]
	if s == nil && c.None {
		s = &scheme{name: name, kind: "not declared"}
		a.schemes[name] = s
	}
	if s == nil {
		return errors.New("the document has no such security scheme; " + a.schemeNames())
	}
	g := configuredCredential{Credential: c, origin: to}
	if err := a.mayBeUsers(s, c); err != nil {
		return err
	}
	if c.PerCaller != nil && s.prefix != "Bearer " {
		return errors.New("a token of the caller cannot be used for " + s.kind)
	}
	if c.OAuth != nil {
		if g.oauth, err = a.newOAuth(s, *c.OAuth); err != nil {
			return err
		}
	}
	s.credentials = append(s.credentials, g)
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
	if err != nil || !isServerURL(u) || u.User != nil || u.Path != "" {
		return nil, errors.New("not an origin; write https://host or https://host:port")
	}
	return u, nil
}

// credentialFor picks the credential for a server: the one for its origin before the one
// for any. elsewhere is another origin that has one.
func (s *scheme) credentialFor(base *url.URL) (from *configuredCredential, elsewhere string) {
	for i := range s.credentials {
		g := &s.credentials[i]
		switch {
		case g.origin == nil:
			if from == nil {
				from = g
			}
		case isOrigin(g.origin, base):
			return g, ""
		default:
			elsewhere = g.origin.String()
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

// get gets the credential for a call. why says why there is none; an error
// means that a configured one cannot be obtained.
func (g *configuredCredential) get(ctx context.Context, call *tenon.Call, scopes []string) (got appliedCredential, why string, err error) {
	switch {
	case g.Value != "":
		got.text = string(g.Value)
	case g.Caller != "":
		if got.text = strings.TrimSpace(call.Header.Get(g.Caller)); got.text == "" {
			return appliedCredential{}, "the caller sent no header " + g.Caller, nil
		}
	case g.File != "":
		got.text, err = readSecret(g.File)
	case g.Fetch != nil:
		got.text, err = g.Fetch(ctx)
	case g.oauth != nil:
		got, err = g.oauth.token(ctx, scopes)
	case g.PerCaller != nil:
		if got, why, err = g.callerToken(ctx, scopes); why != "" {
			return appliedCredential{}, why, nil
		}
	}
	got.text = strings.TrimSpace(got.text)
	switch {
	case err != nil:
		return appliedCredential{}, "", err
	case got.text == "":
		return appliedCredential{}, "", errors.New("it is empty")
	case len(got.text) > maxCredential:
		return appliedCredential{}, "", fmt.Errorf("it is longer than %d KiB", maxCredential>>10)
	case strings.ContainsFunc(got.text, isControl):
		return appliedCredential{}, "", errors.New("it contains a control character")
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

// text formats the credential for the request. The value of a caller's header
// may include the authentication scheme.
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

// Secret is text that is never printed: all verbs of fmt, encoding/json and
// log/slog print a placeholder.
type Secret string

const secretPlaceholder = "(secret)"

// String does not return the secret.
func (Secret) String() string { return secretPlaceholder }

// GoString does not return it either.
func (Secret) GoString() string { return secretPlaceholder }

// MarshalText hides the secret from encoders.
func (Secret) MarshalText() ([]byte, error) { return []byte(secretPlaceholder), nil }

// ClientCert names the PEM files of a client certificate, followed by its
// intermediate certificates. They are read for each new connection, so they can
// be replaced.
type ClientCert struct {
	Cert string
	Key  string // empty: the key is in the same file
}

func (c ClientCert) read() (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(c.Cert, or(c.Key, c.Cert))
	return &pair, err
}

// useClientCerts configures the client with the operator's certificates. They
// are read once now, so that a mistake is found at start.
func (o *Options) useClientCerts() error {
	if len(o.ClientCerts) == 0 {
		return nil
	}
	readers := map[string]func() (*tls.Certificate, error){}
	for to, c := range o.ClientCerts {
		u, err := parseOrigin(to)
		if err == nil {
			_, err = c.read()
		}
		if err != nil {
			return &tenon.Error{Code: tenon.CodeUsage, Message: "--client-cert " + to + ": " + document.WithoutPath(err).Error()}
		}
		readers[u.Scheme+"://"+net.JoinHostPort(u.Hostname(), portOf(u))] = c.read
	}
	client, err := egress.WithCertificates(o.Client, readers)
	if err != nil {
		return &tenon.Error{Code: tenon.CodeUsage, Message: "--client-cert: " + err.Error()}
	}
	o.Client = client
	return nil
}

// hasClientCert reports whether a client certificate is configured for the
// operation's server.
func (o *operation) hasClientCert() bool {
	for to := range o.api.options.ClientCerts {
		if u, err := parseOrigin(to); err == nil && isOrigin(u, o.planned().base) {
			return true
		}
	}
	return false
}
