package auth

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Options say who may call. The zero value is nobody.
type Options struct {
	// Keys open the server, as a bearer token or in X-API-Key. Whoever has one needs
	// no scope.
	Keys []Key

	// Issuer is the issuer of access tokens, exactly as it calls itself: an https URL,
	// or an http URL on loopback or of AllowHosts. Empty: no tokens.
	Issuer string
	// Resource is the URL under which clients know this server, such as
	// https://mcp.example.com/mcp. It is required beside Issuer and never taken from a
	// request: who sends one would choose the audience.
	Resource string
	// Audiences are what a token may be for; empty: Resource.
	Audiences []string
	// Scopes are needed by every request.
	Scopes []string
	// MoreScopes are those that some requests need, for the metadata alone.
	MoreScopes []string
	// Implies are the narrower scopes that a broader one contains.
	Implies map[string][]string
	// Algorithms are the signatures that are accepted; empty: every one of RSA, ECDSA
	// and Ed25519. There is no way to accept "none" or a shared secret.
	Algorithms []string
	// Introspection asks the issuer about tokens that are not JSON Web Tokens; nil:
	// they are refused.
	Introspection *Introspection
	// Exchange asks the issuer for tokens of callers for other services, see [TokenFor];
	// nil: there are none.
	Exchange *Exchange
	// Login is the client as which people log in with a browser; nil: they cannot.
	Login *Login
	// AllowHosts are hosts of the issuer that may be private, beside the host of
	// Issuer itself: host, host:port, IP or CIDR.
	AllowHosts []string
	// Client sends the requests to the issuer; nil: one that refuses private hosts
	// other than those.
	Client *http.Client

	// Shared keeps exchanged tokens for other replicas, too, encrypted; nil: nothing does.
	Shared Shared

	Name   string       // of the server in its metadata; empty: none
	Logger *slog.Logger // nil: nothing is logged
}

// Introspection is the client as which an issuer is asked (RFC 7662).
type Introspection struct {
	ClientID, ClientSecret string
}

// Authenticator tells who sends a request. It is safe for concurrent use and never
// changes; who changes the options makes another one.
type Authenticator struct {
	keys        []Key
	issuer      *issuer // nil: no tokens
	tokens      verifier
	opaque      *introspector // nil: opaque tokens are refused
	exchange    *exchanger    // nil: tokens are not exchanged
	login       *Login        // nil: nobody logs in with a browser
	scopes      []string
	needed      []string // scopes, and those that some requests need
	implies     map[string][]string
	metadata    []byte
	metadataURL string
	paths       []string
}

// New returns an Authenticator. It sends nothing; the first token, or
// [Authenticator.Prepare], makes it fetch the issuer's metadata.
func New(o Options) (*Authenticator, error) {
	if err := checkKeys(o.Keys); err != nil {
		return nil, err
	}
	a := &Authenticator{keys: slices.Clone(o.Keys), scopes: slices.Clone(o.Scopes), implies: o.Implies}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Issuer == "" {
		if o.Resource != "" || len(o.Audiences)+len(o.Scopes)+len(o.Implies)+len(o.Algorithms) > 0 || o.Introspection != nil || o.Exchange != nil || o.Login != nil {
			return nil, errors.New("there are settings for access tokens, and no issuer")
		}
		return a, nil
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	algorithms, err := algorithmsOf(o.Algorithms)
	if err != nil {
		return nil, err
	}
	if a.issuer, err = newIssuer(&o); err != nil {
		return nil, err
	}
	a.tokens = verifier{issuer: o.Issuer, algorithms: algorithms, audiences: []string{canonical(o.Resource)}}
	if len(o.Audiences) > 0 {
		a.tokens.audiences = nil
		for _, name := range o.Audiences {
			a.tokens.audiences = append(a.tokens.audiences, canonical(name))
		}
	}
	if o.Introspection != nil {
		a.opaque = newIntrospector(a.issuer, *o.Introspection, a.tokens)
	}
	if o.Exchange != nil {
		if a.exchange, err = newExchanger(a.issuer, *o.Exchange, o.Shared); err != nil {
			return nil, err
		}
	}
	a.login = o.Login
	return a, a.describe(&o)
}

// Issuer is the issuer of tokens; empty: there are none.
func (a *Authenticator) Issuer() string { return a.tokens.issuer }

// Keys is the number of API keys.
func (a *Authenticator) Keys() int { return len(a.keys) }

// Prepare fetches the issuer's metadata and keys, so that the first caller need not
// wait. An error is no reason to stop: the next token makes it try again.
func (a *Authenticator) Prepare(ctx context.Context) error {
	if a.issuer == nil {
		return nil
	}
	_, err := a.issuer.get(ctx, nil)
	return err
}

// Authenticate tells who sent r. Every error is an [*Error].
func (a *Authenticator) Authenticate(r *http.Request) (*Caller, error) {
	caller, e := a.authenticate(r)
	if e != nil {
		return nil, a.challenged(e)
	}
	return caller, nil
}

func (a *Authenticator) authenticate(r *http.Request) (*Caller, *Error) {
	text, isKey, e := credential(r.Header)
	if e != nil {
		return nil, e
	}
	if text == "" {
		return nil, &Error{Status: http.StatusUnauthorized, Message: a.missing(), Missing: true}
	}
	if len(text) > maxCredential {
		return nil, invalidToken(fmt.Sprintf("is longer than %d bytes", maxCredential))
	}
	if caller := holder(a.keys, text); caller != nil {
		return caller, nil
	}
	if isKey || a.issuer == nil {
		return nil, &Error{Status: http.StatusUnauthorized, Code: InvalidToken, Message: a.missing()}
	}
	caller, e := a.verify(r.Context(), text)
	if e != nil {
		return nil, e
	}
	if a.exchange != nil {
		caller.bearer = &bearer{text, a.exchange}
	}
	caller.Scopes = Granted(caller.Scopes, a.implies)
	for _, needed := range a.scopes {
		if !caller.HasScope(needed) {
			return nil, &Error{Status: http.StatusForbidden, Code: InsufficientScope, Message: "the access token lacks a scope that this server needs"}
		}
	}
	return caller, nil
}

// missing says how a credential is sent.
func (a *Authenticator) missing() string {
	switch {
	case a.issuer == nil:
		return "the key is missing or wrong: send it in the header Authorization, as Bearer KEY, or in X-API-Key"
	case len(a.keys) == 0:
		return "an access token is missing: send it in the header Authorization, as Bearer TOKEN"
	}
	return "a credential is missing or wrong: send an access token or a key in the header Authorization, as Bearer TOKEN, or a key in X-API-Key"
}

// verify judges an access token. What has the form of a JSON Web Token is never
// asked about: a signature that does not hold is the end.
func (a *Authenticator) verify(ctx context.Context, token string) (*Caller, *Error) {
	if !isToken(token) {
		return nil, invalidToken("has characters that no token has")
	}
	if a.exchange != nil && a.exchange.hasEnded(sha256.Sum256([]byte(token))) {
		return nil, invalidToken("is not active")
	}
	if strings.Count(token, ".") == 2 {
		if now, _ := a.issuer.get(ctx, nil); now != nil {
			if caller := now.verified.find(sha256.Sum256([]byte(token))); caller != nil {
				return caller, nil
			}
		}
		if h, ok := headerOf(token); ok {
			return a.tokens.verify(ctx, a.issuer, h, token)
		}
	}
	if a.opaque == nil {
		return nil, invalidToken("is not a JSON Web Token")
	}
	return a.opaque.verify(ctx, token)
}

// Granted is what scopes mean with all that they imply, in a list of its own.
func Granted(scopes []string, implies map[string][]string) []string {
	all := slices.Clone(scopes)
	for i := 0; i < len(all); i++ {
		for _, narrower := range implies[all[i]] {
			if !slices.Contains(all, narrower) {
				all = append(all, narrower)
			}
		}
	}
	return all
}

// Middleware serves next to those who are known, with their [Caller] in the context
// of the request, and answers everybody else. It is for handlers that are no
// [github.com/tenon-mcp/tenon/server.Server], which asks Authenticate itself.
func (a *Authenticator) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, e := a.authenticate(r)
		if e != nil {
			a.challenged(e).write(w)
			return
		}
		next.ServeHTTP(w, r.WithContext(NewContext(r.Context(), caller)))
	})
}

func (e *Error) write(w http.ResponseWriter) {
	if e.challenge != "" {
		w.Header().Set("WWW-Authenticate", e.challenge)
	}
	if e.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "5")
	}
	http.Error(w, e.Message, e.Status)
}

// check refuses options with which no token could be judged.
func (o *Options) check() error {
	issuer, err := url.Parse(o.Issuer)
	if err != nil || issuer.Host == "" || issuer.User != nil || strings.ContainsAny(o.Issuer, "?# \t\n") || issuer.Scheme != "https" && issuer.Scheme != "http" {
		return fmt.Errorf("the issuer %q is not a URL without query, such as https://login.example.com", o.Issuer)
	}
	if issuer.Scheme == "http" && !isLoopback(issuer.Hostname()) && !slices.Contains(o.AllowHosts, issuer.Host) && !slices.Contains(o.AllowHosts, issuer.Hostname()) {
		return fmt.Errorf("the issuer %s has to be an https URL: whoever is between could put keys of their own there", o.Issuer)
	}
	resource, err := url.Parse(o.Resource)
	if err != nil || resource.Host == "" || resource.User != nil || strings.ContainsAny(o.Resource, "?# \t\n\"\\") || resource.Scheme != "https" && resource.Scheme != "http" {
		return fmt.Errorf("the resource %q is not the URL of this server, such as https://mcp.example.com/mcp", o.Resource)
	}
	scopes := slices.Clone(o.Scopes)
	for broad, narrower := range o.Implies {
		scopes = append(append(scopes, broad), narrower...)
	}
	for _, s := range scopes {
		if !IsScope(s) {
			return fmt.Errorf("%q is not a scope: it is empty or has a space, a quote or a backslash", s)
		}
		if s == "offline_access" {
			return errors.New("offline_access is about refresh tokens and no scope of this server")
		}
	}
	if slices.Contains(o.Audiences, "") {
		return errors.New("an audience is empty")
	}
	return o.checkClients()
}

func (o *Options) checkClients() error {
	if i := o.Introspection; i != nil && (i.ClientID == "" || i.ClientSecret == "") {
		return errors.New("introspection needs the id of a client and its secret")
	}
	if l := o.Login; l != nil && (l.ClientID == "" || l.ClientSecret == "") {
		return errors.New("a login needs the id of a client and its secret")
	}
	return nil
}

// IsScope reports whether s is a scope-token of RFC 6749, 3.3.
func IsScope(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '"' || r == '\\' })
}
