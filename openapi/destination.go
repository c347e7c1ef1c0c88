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
)

// The rule of this file: a description that changes does not decide anew where a
// credential goes. Those that the operator has not bound to an origin go to the
// places that the first load knew, or that Options.AuthOrigins names.

// operatorHeaders stands for the scheme of the headers that the operator sends.
const operatorHeaders = "\x00headers"

// destinations are the places that the credentials of one document may go to:
// origins, URLs of token endpoints and of metadata, by the scheme's name. The
// first load fills them in. nil allows every place.
type destinations struct {
	mu    sync.Mutex
	known map[string]map[string]bool // nil: nothing was loaded yet
	found map[string]string          // token endpoints by the metadata that named them first

	access func() Access // of the last load; nil: there was none
}

// settleDestinations compares where the credentials of the document go with
// where they may, and tells what is new.
func (a *api) settleDestinations(all []found) []tenon.Diagnostic {
	if a.homes == nil {
		return nil
	}
	now := a.destinations(all)
	first := a.homes.begin(now, func() Access { return a.access(all) })
	if first && len(a.authOrigins) == 0 {
		return nil
	}
	var told []tenon.Diagnostic
	for _, scheme := range slices.Sorted(maps.Keys(now)) {
		for _, place := range slices.Sorted(maps.Keys(now[scheme])) {
			if a.mayGo(scheme, place) {
				continue
			}
			name, why := "the credential of "+scheme, "where it did not go at first"
			if scheme == operatorHeaders {
				name = "the operator's headers"
			}
			if len(a.authOrigins) > 0 {
				why = "which --auth-origin does not name"
			}
			told = append(told, a.doc.fault(value{}, fmt.Sprintf("%s would go to %s, %s: calls that send it there are refused", name, place, why),
				"if that is meant, --auth-origin "+originOfText(place)+" accepts it"))
		}
	}
	return told
}

// begin keeps the places of the first load.
func (d *destinations) begin(now map[string]map[string]bool, access func() Access) (first bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.access = access
	if first = d.known == nil; first {
		d.known = now
	}
	return first
}

// mayGo tells whether a scheme's credential may go to a place.
func (a *api) mayGo(scheme, place string) bool {
	if len(a.authOrigins) > 0 {
		return a.authOrigins[originOfText(place)]
	}
	if a.homes == nil {
		return true
	}
	a.homes.mu.Lock()
	defer a.homes.mu.Unlock()
	return a.homes.known == nil || a.homes.known[scheme][place]
}

// endpoint tells whether a token endpoint is the one that the metadata named
// first, or one that the operator names.
func (a *api) endpoint(metadata, at string) bool {
	if len(a.authOrigins) > 0 {
		return a.authOrigins[originOfText(at)]
	}
	if a.homes == nil {
		return true
	}
	a.homes.mu.Lock()
	defer a.homes.mu.Unlock()
	if a.homes.found == nil {
		a.homes.found = map[string]string{}
	}
	a.homes.found[metadata] = cmp.Or(a.homes.found[metadata], at)
	return a.homes.found[metadata] == at
}

// destinations are the places to which the document sends the credentials that
// are bound to none.
func (a *api) destinations(all []found) map[string]map[string]bool {
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
	whole := a.doc.root.get("security")
	for _, f := range all {
		list := f.op.node.get("security")
		own := f.op.node.get("servers").ok() || f.op.item.get("servers").ok() || f.op.node.get("schemes").ok()
		if !own && !list.ok() && whole.len() == 0 {
			continue
		}
		base, _ := f.op.baseOf()
		if base == nil {
			continue
		}
		for name := range schemesIn(nearest(list, whole)) {
			if unbound[name] {
				add(name, originOf(base))
			}
		}
	}
	return now
}

// schemesIn are the names of the schemes in a list of security requirements.
func schemesIn(list value) map[string]bool {
	names := map[string]bool{}
	for _, together := range list.each() {
		for name := range together.each() {
			names[name] = true
		}
	}
	return names
}

// unbound are the schemes whose credentials are bound to no place. The token
// endpoints that the document names are added.
func (a *api) unbound(add func(scheme, place string)) map[string]bool {
	unbound := map[string]bool{}
	for name, s := range a.schemes {
		for i := range s.given {
			g := &s.given[i]
			if g.oauth != nil && g.OAuth.TokenURL == "" {
				add(name, cmp.Or(g.oauth.settings.TokenURL, g.oauth.metadata))
			}
			unbound[name] = unbound[name] || g.to == nil && !g.None
		}
	}
	return unbound
}

func nearest(own, whole value) value {
	if own.ok() {
		return own
	}
	return whole
}

// astray says why the credential may not go where the operation or its token
// endpoint is; empty: it may.
func (p *plan) astray(o *operation, s *scheme, from *given) string {
	a := o.api
	if from.oauth != nil && from.OAuth.TokenURL == "" {
		if place := cmp.Or(from.oauth.settings.TokenURL, from.oauth.metadata); !a.mayGo(s.name, place) {
			return "the description names another token endpoint than before, " + place
		}
	}
	if from.to == nil && a.options.BaseURL == "" && !a.mayGo(s.name, originOf(p.base)) {
		return "the description names another server for it than before, " + originOf(p.base)
	}
	return ""
}

// strayHeaders is an error where the operator's headers hold a credential and
// the description has moved the server that they are for.
func (p *plan) strayHeaders(o *operation) error {
	a := o.api
	if a.options.BaseURL != "" || !sameOrigin(p.base, a.base) || a.mayGo(operatorHeaders, originOf(p.base)) {
		return nil
	}
	for name := range a.options.Header {
		if isSecretHeader(name) {
			return &tenon.Error{Code: tenon.CodeAuthentication, Message: "nothing was sent: the description names another server for the header " + name + " than before; the operator accepts it with --auth-origin " + originOf(p.base)}
		}
	}
	return nil
}

var secretHeader = regexp.MustCompile(`(?i)auth|cookie|token|secret|passw|key|credential|session|signature`)

// isSecretHeader tells whether a header's name is one of a credential.
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

// originOf is scheme://host:port of a URL, the port left out where it is the
// usual one.
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
