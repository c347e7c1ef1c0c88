package openapi

import (
	"errors"
	"net/url"
	"strings"
)

var errNoServer = errors.New("the document names no usable server; name one with --base-url")

// documentBase is the URL that paths are appended to where the operation has
// no server of its own.
func (a *api) documentBase() (*url.URL, error) {
	if a.options.BaseURL != "" {
		u, err := url.Parse(a.options.BaseURL)
		if err != nil || !usable(u) {
			return nil, errors.New("--base-url must be an http or https URL without query")
		}
		return u, nil
	}
	if a.legacy() {
		return a.legacyBase()
	}
	root := a.doc.root
	if servers := root.get("servers"); servers.len() > 0 {
		return a.serverBase(servers)
	}
	// Without servers there is one with the URL "/" (3.1 §4.8.1).
	return a.usableServer("/")
}

// baseOf is the URL that the path of o is appended to: of the operation, its
// path or the document, whichever is nearest. --base-url replaces them all.
func (o *operation) baseOf() (*url.URL, error) {
	a := o.api
	if a.options.BaseURL != "" || a.legacy() && o.node.get("schemes").len() == 0 {
		return a.base, a.baseErr
	}
	if a.legacy() {
		return a.legacyScheme(o.node.get("schemes"))
	}
	for _, v := range []value{o.node, o.item} {
		if servers := v.get("servers"); servers.len() > 0 {
			return a.serverBase(servers)
		}
	}
	return a.base, a.baseErr
}

// serverBase takes the first server of a list that can be used.
func (a *api) serverBase(servers value) (*url.URL, error) {
	for _, v := range servers.each() {
		server, err := a.doc.deref(v)
		if err != nil {
			continue
		}
		text, ok := a.expand(server)
		if !ok {
			continue
		}
		if u, err := a.usableServer(text); err == nil {
			return u, nil
		}
	}
	return nil, errNoServer
}

// usableServer makes a URL of a server's text, which may be relative to the
// document's.
func (a *api) usableServer(text string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil {
		return nil, errNoServer
	}
	if a.at != nil {
		query := u.RawQuery
		u = a.at.ResolveReference(u)
		u.RawQuery = query // the document's own is not the server's
	}
	if !usable(u) {
		return nil, errNoServer
	}
	u.User = nil // credentials come from the operator, not from a description
	return u, nil
}

func usable(u *url.URL) bool {
	return (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.RawQuery == "" && u.Fragment == "" && u.Opaque == ""
}

// legacyBase reads host, basePath and schemes (2.0).
func (a *api) legacyBase() (*url.URL, error) {
	return a.legacyScheme(a.doc.root.get("schemes"))
}

func (a *api) legacyScheme(schemes value) (*url.URL, error) {
	root := a.doc.root
	u := &url.URL{Scheme: "https"}
	host := root.strAt("host")
	if a.at != nil {
		u.Scheme = a.at.Scheme
		if host == "" {
			host = a.at.Host
		}
	}
	if s := legacyScheme(schemes); s != "" {
		u.Scheme = s
	}
	path := root.strAt("basePath")
	if path != "" && !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	full, err := url.Parse(u.Scheme + "://" + host + path)
	if err != nil || !usable(full) {
		return nil, errNoServer
	}
	full.User = nil
	return full, nil
}

// legacyScheme prefers https; "" where neither is there.
func legacyScheme(schemes value) string {
	found := ""
	for _, s := range schemes.each() {
		switch s.str() {
		case "https":
			return "https"
		case "http":
			found = "http"
		}
	}
	return found
}

// sameOrigin tells whether a credential for a may go to b.
func sameOrigin(a, b *url.URL) bool {
	return a != nil && b != nil && a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host)
}
