package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json"

	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/incident"
)

const (
	freshFor   = 10 * time.Minute // after that keys are fetched anew while the old ones are used
	usableFor  = 2 * time.Hour    // of keys whose issuer does not answer
	fetchAgain = 5 * time.Second  // between two fetches, whatever callers send
	fetchTime  = 10 * time.Second // for metadata and keys together

	maxDocument = 512 << 10 // bytes of metadata, and of keys
)

// issuer keeps the keys of an issuer.
type issuer struct {
	url    string
	asks   bool // its introspection endpoint is needed
	client *http.Client
	log    *slog.Logger

	mu       sync.Mutex
	known    *published    // nil: nothing yet
	fetching chan struct{} // closed when a fetch ends; nil: there is none under way
	tried    time.Time     // the beginning of the last fetch
	failure  error         // of the last fetch
}

// published is what an issuer says of itself at one time.
type published struct {
	keys          []jose.JSONWebKey
	introspection string   // endpoint; empty: none that is safe
	token         string   // endpoint; empty: none that is safe
	grants        []string // nil: it does not say
	scopes        []string // as above
	authorization string   // endpoint; empty: none that is safe
	namesItself   bool     // when it sends a browser back (RFC 9207)
	at            time.Time
	verified      verified
}

func newIssuer(o *Options) (*issuer, error) {
	i := &issuer{url: o.Issuer, asks: o.Introspection != nil, client: o.Client, log: o.Logger}
	if i.client != nil {
		return i, nil
	}
	u, err := url.Parse(o.Issuer)
	if err != nil {
		return nil, err
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	i.client, err = egress.NewClient(egress.Options{
		AllowHosts:     append([]string{net.JoinHostPort(u.Hostname(), port)}, o.AllowHosts...),
		ConnectTimeout: fetchTime / 2, TLSTimeout: fetchTime / 2,
	})
	return i, err
}

// keysFor returns the keys that may have signed a token with this header, and where
// they are from. One that is not known makes the issuer be asked again, within
// bounds: it may be new.
func (i *issuer) keysFor(ctx context.Context, h header) ([]jose.JSONWebKey, *published, *Error) {
	now, err := i.get(ctx, nil)
	if err != nil {
		return nil, nil, unavailable(err.Error())
	}
	if keys := now.match(h); len(keys) > 0 {
		return keys, now, nil
	}
	now, err = i.get(ctx, now)
	if keys := now.match(h); len(keys) > 0 {
		return keys, now, nil
	}
	if err != nil {
		return nil, nil, unavailable(err.Error())
	}
	return nil, nil, invalidToken("is signed by a key that the issuer does not publish")
}

// get returns what the issuer published, if possible something else than not. With
// an error there may be something old.
func (i *issuer) get(ctx context.Context, not *published) (*published, error) {
	i.mu.Lock()
	usable := i.usable()
	if i.fetching == nil && (usable == nil || usable == not || time.Since(usable.at) > freshFor) && (i.tried.IsZero() || time.Since(i.tried) >= fetchAgain) {
		i.fetch() //nolint:contextcheck // it is for all callers and outlives this one
	}
	wait, failure := i.fetching, i.failure
	i.mu.Unlock()
	if usable != nil && usable != not {
		return usable, nil
	}
	if wait == nil {
		return usable, failure
	}
	select {
	case <-wait:
	case <-ctx.Done():
		return usable, errors.New("the request ended before")
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.usable(), i.failure
}

// usable returns what is known, unless it is too old. i.mu is held.
func (i *issuer) usable() *published {
	if i.known == nil || time.Since(i.known.at) > usableFor {
		return nil
	}
	return i.known
}

// fetch begins to ask the issuer. Nobody's request ends it: it is for all. i.mu is
// held.
func (i *issuer) fetch() {
	done := make(chan struct{})
	i.fetching, i.tried = done, time.Now()
	settle := func(p *published, err error) {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.failure, i.fetching = err, nil
		if err == nil {
			i.known = p
		} else {
			i.log.Error("the keys of the issuer cannot be fetched", "issuer", i.url, "error", err)
		}
		close(done)
	}
	incident.Go(i.log, "reading the keys of an issuer", func() {
		ctx, cancel := context.WithTimeout(context.Background(), fetchTime)
		defer cancel()
		settle(i.read(ctx))
	}, func(e *incident.Error) { settle(nil, e) })
}

// read reads metadata and keys.
func (i *issuer) read(ctx context.Context) (*published, error) {
	var said struct {
		Issuer        string `json:"issuer"`
		Keys          string `json:"jwks_uri"`
		Introspection string `json:"introspection_endpoint"`
		Token         string `json:"token_endpoint"`
		Grants        words  `json:"grant_types_supported"`
		Scopes        words  `json:"scopes_supported"`
		Authorization string `json:"authorization_endpoint"`
		NamesItself   bool   `json:"authorization_response_iss_parameter_supported"`
	}
	var failures []error
	for _, at := range discoveryURLs(i.url) {
		text, _, _, err := egress.Fetch(ctx, i.client, at, maxDocument)
		switch {
		case err != nil:
		case json.Unmarshal(text, &said) != nil:
			err = errors.New("its metadata is not a JSON object with texts")
		case said.Issuer != i.url: // RFC 8414, 3.3
			err = errors.New("its metadata is that of another issuer")
		}
		if err == nil {
			failures = nil
			break
		}
		failures = append(failures, err)
	}
	if len(failures) > 0 {
		return nil, fmt.Errorf("the issuer %s cannot be asked: %w", i.url, failures[0])
	}
	p := &published{at: time.Now(), grants: said.Grants, scopes: said.Scopes, namesItself: said.NamesItself}
	if i.may(said.Token) { // that it is missing fails exchanges and logins alone
		p.token = said.Token
	}
	if i.may(said.Authorization) {
		p.authorization = said.Authorization
	}
	if i.may(said.Introspection) {
		p.introspection = said.Introspection
	}
	if i.asks && p.introspection == "" {
		return nil, fmt.Errorf("the issuer %s names no introspection endpoint with https", i.url)
	}
	if said.Keys == "" && i.asks {
		return p, nil // all of its tokens are opaque
	}
	if !i.may(said.Keys) {
		return nil, fmt.Errorf("the issuer %s names no keys with https", i.url)
	}
	text, _, _, err := egress.Fetch(ctx, i.client, said.Keys, maxDocument)
	if err == nil {
		p.keys, err = keysIn(text)
	}
	if err != nil {
		return nil, fmt.Errorf("the keys of the issuer %s cannot be read: %w", i.url, err)
	}
	return p, nil
}

// post sends a form to an endpoint as a client of the issuer (RFC 6749, 2.3.1). A
// redirect is an answer: it is not followed.
func (i *issuer) post(ctx context.Context, endpoint, client, secret string, form url.Values) (egress.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return egress.Response{}, errors.New("the endpoint is not a URL")
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")
	r.SetBasicAuth(url.QueryEscape(client), url.QueryEscape(secret))
	once := *i.client
	once.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return egress.Do(&once, r, maxDocument)
}

// may reports whether an endpoint is as safe as the issuer itself.
func (i *issuer) may(endpoint string) bool {
	u, err := url.Parse(endpoint)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http" && strings.HasPrefix(i.url, "http://"))
}

// discoveryURLs are where an issuer's metadata may be, in the order of MCP.
func discoveryURLs(issuer string) []string {
	u, err := url.Parse(issuer)
	if err != nil {
		return nil
	}
	base, path := u.Scheme+"://"+u.Host, strings.TrimSuffix(u.EscapedPath(), "/")
	return slices.Compact([]string{
		base + "/.well-known/oauth-authorization-server" + path,
		base + "/.well-known/openid-configuration" + path,
		base + path + "/.well-known/openid-configuration",
	})
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}
