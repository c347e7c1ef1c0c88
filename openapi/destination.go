package openapi

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
)

// Rule of this file: a changed description must not send a credential to a new
// place. Credentials that the operator has not bound to an origin are sent only
// to the places of the first load, or to those in Options.AuthOrigins.

// operatorHeaders is the key for the headers that the operator sends, in place
// of a scheme's name.
const operatorHeaders = "\x00headers"

// destinations are the places that the credentials of one document may be sent
// to: origins, URLs of token endpoints and of metadata, by scheme name. The
// first load sets them. nil allows every place.
type destinations struct {
	mu        sync.Mutex
	known     map[string]map[string]bool // nil: nothing was loaded yet
	endpoints map[string]string          // token endpoints by the URL of the metadata that first named them

	access func() Access // of the last load; nil: there was none
}

// checkDestinations compares where the document sends credentials with where
// they may go, and reports what is new.
func (a *api) checkDestinations(all []found) []tenon.Diagnostic {
	if a.destinations == nil {
		return nil
	}
	now := a.findDestinations(all)
	first := a.destinations.begin(now, func() Access { return a.access(all) })
	if first && len(a.authOrigins) == 0 {
		return nil
	}
	var told []tenon.Diagnostic
	for _, scheme := range slices.Sorted(maps.Keys(now)) {
		for _, place := range slices.Sorted(maps.Keys(now[scheme])) {
			if a.allowsDestination(scheme, place) {
				continue
			}
			name, why := "the credential of "+scheme, "which was not its destination at the first load"
			if scheme == operatorHeaders {
				name = "the operator's headers"
			}
			if len(a.authOrigins) > 0 {
				why = "which is not in --auth-origin"
			}
			told = append(told, a.doc.Diagnostic(document.Value{}, fmt.Sprintf("%s would be sent to %s, %s; such calls are rejected", name, place, why),
				"to allow it, use --auth-origin "+originOfText(place)))
		}
	}
	return told
}

// begin records the places of the first load.
func (d *destinations) begin(now map[string]map[string]bool, access func() Access) (first bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.access = access
	if first = d.known == nil; first {
		d.known = now
	}
	return first
}

// allowsDestination reports whether a scheme's credential may be sent to a place.
func (a *api) allowsDestination(scheme, place string) bool {
	if len(a.authOrigins) > 0 {
		return a.authOrigins[originOfText(place)]
	}
	if a.destinations == nil {
		return true
	}
	a.destinations.mu.Lock()
	defer a.destinations.mu.Unlock()
	return a.destinations.known == nil || a.destinations.known[scheme][place]
}

// allowsTokenEndpoint reports whether a token endpoint is the one that the metadata named
// first, or is in Options.AuthOrigins.
func (a *api) allowsTokenEndpoint(metadata, at string) bool {
	if len(a.authOrigins) > 0 {
		return a.authOrigins[originOfText(at)]
	}
	if a.destinations == nil {
		return true
	}
	a.destinations.mu.Lock()
	defer a.destinations.mu.Unlock()
	if a.destinations.endpoints == nil {
		a.destinations.endpoints = map[string]string{}
	}
	a.destinations.endpoints[metadata] = cmp.Or(a.destinations.endpoints[metadata], at)
	return a.destinations.endpoints[metadata] == at
}

// findDestinations returns the places to which the document sends unbound
// credentials.
func (a *api) findDestinations(all []found) map[string]map[string]bool {
	now := map[string]map[string]bool{}
	add := func(scheme, place string) {
		if now[scheme] == nil {
			now[scheme] = map[string]bool{}
		}
		now[scheme][place] = true
	}
	if a.base != nil && a.options.BaseURL == "" && slices.ContainsFunc(slices.Collect(maps.Keys(a.options.Header)), isSecretHeader) {
		add(operatorHeaders, originOf(a.base))
	}
	unbound := a.unbound(add)
	if !slices.Contains(slices.Collect(maps.Values(unbound)), true) || a.options.BaseURL != "" {
		return now
	}
	whole := a.doc.Root.Get("security")
	for _, f := range all {
		list := f.op.node.Get("security")
		own := f.op.node.Get("servers").OK() || f.op.item.Get("servers").OK() || f.op.node.Get("schemes").OK()
		if !own && !list.OK() && whole.Len() == 0 {
			continue
		}
		base, _ := f.op.baseOf()
		if base == nil {
			continue
		}
		for name := range schemesIn(effectiveSecurity(list, whole)) {
			if unbound[name] {
				add(name, originOf(base))
			}
		}
	}
	return now
}

// schemesIn returns the names of the schemes in a list of security
// requirements.
func schemesIn(list document.Value) map[string]bool {
	names := map[string]bool{}
	for _, together := range list.Each() {
		for name := range together.Each() {
			names[name] = true
		}
	}
	return names
}

// unbound returns the schemes whose credentials are not bound to an origin, and
// adds the token endpoints that the document names.
func (a *api) unbound(add func(scheme, place string)) map[string]bool {
	unbound := map[string]bool{}
	for name, s := range a.schemes {
		for i := range s.credentials {
			g := &s.credentials[i]
			if g.oauth != nil && g.OAuth.TokenURL == "" {
				add(name, cmp.Or(g.oauth.settings.TokenURL, g.oauth.metadata))
			}
			unbound[name] = unbound[name] || g.origin == nil && !g.None
		}
	}
	return unbound
}

func effectiveSecurity(own, whole document.Value) document.Value {
	if own.OK() {
		return own
	}
	return whole
}

// changedDestination says why the credential may not be sent to the operation's server or
// its token endpoint; empty: it may.
func (p *plan) changedDestination(o *operation, s *scheme, from *configuredCredential) string {
	a := o.api
	if from.oauth != nil && from.OAuth.TokenURL == "" {
		if place := cmp.Or(from.oauth.settings.TokenURL, from.oauth.metadata); !a.allowsDestination(s.name, place) {
			return "the token endpoint in the description has changed to " + place
		}
	}
	if from.origin == nil && a.options.BaseURL == "" && !a.allowsDestination(s.name, originOf(p.base)) {
		return "the server in the description has changed to " + originOf(p.base)
	}
	return ""
}

// checkHeaderDestination is an error where the operator's headers contain a credential
// and the description has moved their server.
func (p *plan) checkHeaderDestination(o *operation) error {
	a := o.api
	if a.options.BaseURL != "" || !document.SameOrigin(p.base, a.base) || a.allowsDestination(operatorHeaders, originOf(p.base)) {
		return nil
	}
	for name := range a.options.Header {
		if isSecretHeader(name) {
			return &tenon.Error{Code: tenon.CodeAuthentication, Message: "not sent: the server in the description, for which the header " + name + " is configured, has changed; the operator can allow it with --auth-origin " + originOf(p.base)}
		}
	}
	return nil
}

var secretHeader = regexp.MustCompile(`(?i)auth|cookie|token|secret|passw|key|credential|session|signature`)

// isSecretHeader reports whether a header's name suggests a credential.
func isSecretHeader(name string) bool { return secretHeader.MatchString(name) }

// readOrigins reads Options.AuthOrigins.
func readOrigins(list []string) (map[string]bool, error) {
	all := map[string]bool{}
	for _, text := range list {
		u, err := parseOrigin(text)
		if err != nil {
			return nil, usage(fmt.Errorf("--auth-origin %s: %w", text, err))
		}
		all[originOf(u)] = true
	}
	return all, nil
}

// originOf returns scheme://host:port of a URL, without a default port.
func originOf(u *url.URL) string {
	if u == nil {
		return ""
	}
	host := strings.ToLower(u.Hostname())
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port := portOf(u); port != portOf(&url.URL{Scheme: u.Scheme}) {
		host += ":" + port
	}
	return u.Scheme + "://" + host
}

func originOfText(place string) string {
	u, err := url.Parse(place)
	if err != nil {
		return ""
	}
	return originOf(u)
}
