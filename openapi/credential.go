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
// from: exactly one of the first five fields. For the scheme http basic the
// value is "user:password", for the schemes with a token the token alone.
type Credential struct {
	Value  Secret                                    // the value itself
	File   string                                    // a file that holds it; read for each call, so that it can be replaced
	Caller string                                    // a header of the caller's request that holds it, see tenon.Call.Header; an Authorization header's scheme may stand before it
	Fetch  func(ctx context.Context) (string, error) // makes it, for each call; its errors are logged
	None   bool                                      // the scheme asks for nothing, whatever the document says

	// Origin is where it may go, as scheme://host or scheme://host:port; empty:
	// to the server of the operation that asks for it.
	Origin string
}

// check refuses what the operator cannot have meant.
func (c Credential) check() error {
	given := 0
	for _, is := range []bool{c.Value != "", c.File != "", c.Caller != "", c.Fetch != nil, c.None} {
		if is {
			given++
		}
	}
	switch {
	case given != 1:
		return errors.New("it wants exactly one place that the value comes from")
	case c.Caller != "" && !isToken(c.Caller):
		return fmt.Errorf("%q is no name of a header", c.Caller)
	case c.Origin == "":
		return nil
	}
	u, err := url.Parse(c.Origin)
	if err != nil || !usable(u) || u.User != nil || u.Path != "" {
		return errors.New("an origin looks like https://host or https://host:port")
	}
	return nil
}

// checkCredentials also refuses a name that the document does not have: a
// typing error must not send calls out without their credential.
func (a *api) checkCredentials() error {
	for _, name := range slices.Sorted(maps.Keys(a.options.Credentials)) {
		c := a.options.Credentials[name]
		if err := c.check(); err != nil {
			return &tenon.Error{Code: tenon.CodeUsage, Message: "--auth " + name + ": " + err.Error()}
		}
		if a.schemes[name] == nil && !c.None {
			return &tenon.Error{Code: tenon.CodeUsage, Message: "--auth " + name + ": the document has no such security scheme; " + a.schemeNames()}
		}
	}
	return nil
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
func (c Credential) value(ctx context.Context, call *tenon.Call) (value, why string, err error) {
	switch {
	case c.Value != "":
		value = string(c.Value)
	case c.Caller != "":
		if value = strings.TrimSpace(call.Header.Get(c.Caller)); value == "" {
			return "", "the caller sent no header " + c.Caller, nil
		}
	case c.File != "":
		value, err = readSecret(c.File)
	case c.Fetch != nil:
		value, err = c.Fetch(ctx)
	}
	value = strings.TrimSpace(value)
	switch {
	case err != nil:
		return "", "", err
	case value == "":
		return "", "", errors.New("it is empty")
	case len(value) > maxCredential:
		return "", "", fmt.Errorf("it is longer than %d KiB", maxCredential>>10)
	case strings.ContainsFunc(value, isControl):
		return "", "", errors.New("it holds a control character")
	}
	return value, "", nil
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
