package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/auth"
)

// Access says who may call what an HTTP address serves.
type Access struct {
	callers *auth.Authenticator
	azure   azureKey
	public  bool // some tools may be called without a credential
}

// ReadAccess reads the keys of callers, and whose access tokens count. Beyond
// loopback the config has to say who may call.
func ReadAccess(c *Config, e Env) (*Access, error) {
	a := &Access{public: len(c.Public) > 0}
	if err := a.azure.read(c, e); err != nil {
		return nil, err
	}
	if c.HTTP == "" && (len(c.APIKeys) > 0 || c.OAuthIssuer != "" || c.BehindProxy || c.Insecure) {
		return nil, invalid("api-key", ", --oauth-issuer, --behind-proxy and --insecure are for --http ADDR")
	}
	var keys []auth.Key
	for _, given := range c.APIKeys {
		k, err := readKey(e, given)
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	var err error
	if a.callers, err = auth.New(auth.Options{Keys: keys}); err != nil {
		return nil, invalid("api-key", ": %v", err)
	}
	if err := a.readTokens(c, e, keys); err != nil {
		return nil, err
	}
	if c.HTTP == "" || OnLoopback(c.HTTP) || a.Keys() || c.BehindProxy || c.Insecure {
		return a, nil
	}
	return nil, invalid("http", ` %s can be reached by other machines, and nothing says who may call. Choose one:
  --oauth-issuer URL      callers send an access token of this issuer (docs/auth.md)
  --api-key NAME=env:VAR  callers send the key that is in the variable VAR
  --behind-proxy          a proxy before it authenticates every caller
  --insecure              everybody who reaches the address may call`, c.HTTP)
}

// readTokens reads what is about access tokens.
func (a *Access) readTokens(c *Config, e Env, keys []auth.Key) error {
	o := auth.Options{
		Keys: keys, Issuer: c.OAuthIssuer, Resource: c.OAuthResource, Audiences: c.OAuthAudience, Scopes: c.OAuthScope,
		AllowHosts: c.OAuthAllowPrivateHost, Name: cmp.Or(c.Title, c.Name), Logger: e.Logger,
	}
	if e.shared != nil {
		o.Shared = e.shared
	}
	if c.OAuthIssuer == "" {
		for name, used := range map[string]bool{
			"oauth-resource": c.OAuthResource != "", "oauth-audience": len(c.OAuthAudience) > 0, "oauth-scope": len(c.OAuthScope) > 0, "oauth-scope-implies": len(c.OAuthScopeImplies) > 0,
			"oauth-introspection": c.OAuthIntrospection != "", "oauth-exchange": c.OAuthExchange != "", "oauth-login": c.OAuthLogin != "", "oauth-allow-private-host": len(c.OAuthAllowPrivateHost) > 0,
		} {
			if used {
				return invalid(name, " is about access tokens; --oauth-issuer says whose")
			}
		}
		return nil
	}
	if c.OAuthResource == "" {
		return invalid("oauth-resource", " is missing: with --oauth-issuer it is the URL of this server as clients know it, such as https://mcp.example.com/mcp; tokens have to be for it")
	}
	var err error
	if o.Implies, err = c.scopesImplied(); err != nil {
		return err
	}
	if err := c.readClients(e, &o); err != nil {
		return err
	}
	for _, given := range c.RequireScope {
		if n, err := parseNeed(given); err == nil { // else it is refused elsewhere
			o.MoreScopes = append(o.MoreScopes, n.Scope)
		}
	}
	callers, err := auth.New(o)
	if err != nil {
		return invalid("oauth-issuer", ": %v", err)
	}
	a.callers = callers
	return nil
}

// scopesImplied reads which broad scopes contain narrower ones.
func (c *Config) scopesImplied() (map[string][]string, error) {
	var all map[string][]string
	for _, given := range c.OAuthScopeImplies {
		broad, narrower, ok := strings.Cut(given, "=")
		if !ok || broad == "" || narrower == "" {
			return nil, invalid("oauth-scope-implies", " wants BROAD=NARROW,NARROW, not %q", given)
		}
		if all == nil {
			all = map[string][]string{}
		}
		all[broad] = append(all[broad], strings.Split(narrower, ",")...)
	}
	return all, nil
}

// readClients reads as which clients the issuer is asked.
func (c *Config) readClients(e Env, o *auth.Options) error {
	if c.OAuthIntrospection != "" {
		id, secret, err := readClient(e, "oauth-introspection", c.OAuthIntrospection)
		if err != nil {
			return err
		}
		o.Introspection = &auth.Introspection{ClientID: id, ClientSecret: secret}
	}
	if c.OAuthExchange != "" {
		id, secret, err := readClient(e, "oauth-exchange", c.OAuthExchange)
		if err != nil {
			return err
		}
		o.Exchange = &auth.Exchange{ClientID: id, ClientSecret: secret}
	}
	if c.OAuthLogin != "" {
		id, secret, err := readClient(e, "oauth-login", c.OAuthLogin)
		if err != nil {
			return err
		}
		o.Login = &auth.Login{ClientID: id, ClientSecret: secret}
	}
	return nil
}

// Keys reports whether callers need a key or a token.
func (a *Access) Keys() bool {
	return a.azure.set || a.callers != nil && (a.callers.Keys() > 0 || a.callers.Issuer() != "")
}

// Authenticate tells who sent r; ctx is that of r, with the caller. Its error says
// how a credential is sent, and may be a [server.Challenge].
func (a *Access) Authenticate(r *http.Request) (ctx context.Context, caller string, err error) {
	if a.azure.opens(r) {
		return auth.NewContext(r.Context(), &auth.Caller{Key: azureCaller}), azureCaller, nil
	}
	if a.callers == nil || a.callers.Keys() == 0 && a.callers.Issuer() == "" {
		return nil, "", errNoAzureKey
	}
	who, err := a.callers.Authenticate(r)
	if missing, ok := errors.AsType[*auth.Error](err); ok && a.public && missing.Missing {
		return r.Context(), "", nil
	}
	if err != nil {
		return nil, "", err
	}
	return auth.NewContext(r.Context(), who), who.ID(), nil
}

// who says who has a key or a token; empty: there are none.
func (a *Access) who() string {
	var all []string
	if issuer := a.callers.Issuer(); issuer != "" {
		all = append(all, "callers with an access token of "+issuer)
	}
	if n := a.callers.Keys(); n > 0 {
		all = append(all, "callers with a key may call ("+count(n, "API key")+")")
	}
	if len(all) == 0 && a.azure.set {
		return "callers with the key may call"
	}
	text := strings.Join(all, " and ")
	if text != "" && a.callers.Keys() == 0 {
		text += " may call"
	}
	return text
}

// mayForward refuses to send the access tokens of callers to upstreams: they are
// for this server alone.
func (c *Config) mayForward(headers []string) error {
	if c.OAuthIssuer == "" || !slices.ContainsFunc(headers, func(h string) bool { return strings.EqualFold(h, "Authorization") }) {
		return nil
	}
	return invalid("auth", " ...=caller:Authorization would send the access tokens of callers to an upstream, and they are for this server alone (--oauth-issuer): "+
		"give the upstream a credential of its own, or let callers send theirs in another header, as caller:X-Upstream-Authorization")
}

// readKey reads NAME=env:VAR, NAME=file:PATH or NAME=sha256:SUM. Its errors do not
// repeat what stands behind the name: somebody may have written the key itself.
func readKey(e Env, flag string) (auth.Key, error) {
	name, where, ok := strings.Cut(flag, "=")
	sum, summed := strings.CutPrefix(where, "sha256:")
	if !ok || name == "" || !summed && !namesSecret(where) {
		return auth.Key{}, invalid("api-key", " wants NAME=env:VAR, NAME=file:PATH or NAME=sha256:SUM; the key itself does not belong there")
	}
	if summed {
		k, err := auth.ParseKey(name, sum)
		if err != nil {
			return k, invalid("api-key", " %s: %v", name, err)
		}
		return k, nil
	}
	key, err := secretAt(e, where)
	if err != nil {
		return auth.Key{}, invalid("api-key", " %s: %v", name, err)
	}
	return auth.NewKey(name, string(key)), nil
}

// OnLoopback reports whether listen opens addr on loopback, or not at all.
func OnLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	return err != nil || host == "" || strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}

// CallableAddr is the address of a listener as somebody on this machine can call
// it: one that listens everywhere is called on loopback.
func CallableAddr(l net.Listener) string {
	tcp, ok := l.Addr().(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return l.Addr().String()
	}
	return fmt.Sprintf("127.0.0.1:%d", tcp.Port)
}

// azurePath is where Azure's host serves MCP, so that a client's configuration
// need not change.
const azurePath = "/runtime/webhooks/mcp"

// azureCaller is who sends Azure's key: it names nobody.
const azureCaller = "azure-key"

var errNoAzureKey = errors.New("the key is missing or wrong: send it in the header x-functions-key")

// azureKey is the key that Azure's host would ask for.
type azureKey struct {
	set, inURL bool
	sum        [sha256.Size]byte
}

// read reads the key and refuses Azure's path to everybody on a network: there it
// is never without a key.
func (d *azureKey) read(c *Config, e Env) error {
	if (c.AzurePaths || c.AzureKey != "" || c.AzureKeyInURL) && c.HTTP == "" {
		return invalid("azure-paths", ", --azure-key and --azure-key-in-url are for --http ADDR")
	}
	if c.AzureKeyInURL && c.AzureKey == "" {
		return invalid("azure-key-in-url", " says where the key may stand; --azure-key says which it is")
	}
	if c.AzurePaths && c.AzureKey == "" && !OnLoopback(c.HTTP) {
		return invalid("azure-paths", " on %s needs --azure-key: only on loopback it may do without", c.HTTP)
	}
	if c.AzureKey == "" {
		return nil
	}
	header, err := ParseHeaders([]string{"x-functions-key: " + c.AzureKey}, e.Getenv)
	if err != nil {
		return invalid("azure-key", ": the environment has no variable %s", c.AzureKey)
	}
	key := header.Get("x-functions-key")
	if key == "" {
		return invalid("azure-key", " is empty")
	}
	d.set, d.inURL, d.sum = true, c.AzureKeyInURL, sha256.Sum256([]byte(key))
	return nil
}

// opens reports whether r has the key.
func (d *azureKey) opens(r *http.Request) bool {
	if !d.set {
		return false
	}
	given := r.Header.Get("X-Functions-Key")
	if given == "" && d.inURL {
		given = r.URL.Query().Get("code")
	}
	got := sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(d.sum[:], got[:]) == 1
}

// secretAt reads the secret at env:VAR or file:PATH. Its errors do not repeat
// what was given: somebody may have written the secret itself.
func secretAt(e Env, where string) ([]byte, error) {
	if !namesSecret(where) {
		return nil, errors.New("it wants env:VAR or file:PATH; the secret itself does not belong there")
	}
	var text string
	var err error
	if name, ok := strings.CutPrefix(where, "env:"); ok {
		text, err = variableOf(e, name)
	} else {
		var b []byte
		b, err = os.ReadFile(strings.TrimPrefix(where, "file:"))
		text = string(b)
	}
	if text = strings.TrimSpace(text); err == nil && text == "" {
		err = errors.New("the key is empty")
	}
	return []byte(text), err
}

// namesSecret reports whether where says where a secret is: env:VAR or file:PATH.
func namesSecret(where string) bool {
	kind, rest, _ := strings.Cut(where, ":")
	return rest != "" && (kind == "env" || kind == "file")
}
