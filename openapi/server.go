package openapi

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/suggest"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
)

var errNoServer = errors.New("the document has no usable server; set one with --base-url")

// documentBase returns the URL that paths are appended to if the operation has
// no server of its own.
func (a *api) documentBase() (*url.URL, error) {
	if a.options.BaseURL != "" {
		u, err := url.Parse(a.options.BaseURL)
		if err != nil || !isServerURL(u) {
			return nil, errors.New("--base-url must be an http or https URL without query")
		}
		return u, nil
	}
	if a.legacy() {
		return a.legacyBase()
	}
	root := a.doc.Root
	if servers := root.Get("servers"); servers.Len() > 0 {
		return a.serverBase(servers)
	}
	// Without servers there is one with the URL "/" (3.1 §4.8.1).
	return a.parseServer("/")
}

// baseOf returns the URL that the path of o is appended to: that of the
// operation, its path or the document, whichever is nearest. --base-url
// replaces them all.
func (o *operation) baseOf() (*url.URL, error) {
	a := o.api
	if a.options.BaseURL != "" || a.legacy() && o.node.Get("schemes").Len() == 0 {
		return a.base, a.baseErr
	}
	if a.legacy() {
		return a.legacyScheme(o.node.Get("schemes"))
	}
	for _, v := range []document.Value{o.node, o.item} {
		if servers := v.Get("servers"); servers.Len() > 0 {
			return a.serverBase(servers)
		}
	}
	return a.base, a.baseErr
}

// serverBase returns the first usable server of a list.
func (a *api) serverBase(servers document.Value) (*url.URL, error) {
	for _, v := range servers.Each() {
		server, err := a.doc.Deref(v)
		if err != nil {
			continue
		}
		text, ok := a.expandServer(server)
		if !ok {
			continue
		}
		if u, err := a.parseServer(text); err == nil {
			return u, nil
		}
	}
	return nil, errNoServer
}

// parseServer parses a server's URL, which may be relative to that of the
// document.
func (a *api) parseServer(text string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil {
		return nil, errNoServer
	}
	if a.at != nil {
		query := u.RawQuery
		u = a.at.ResolveReference(u)
		u.RawQuery = query // the document's own query is not the server's
	}
	if !isServerURL(u) {
		return nil, errNoServer
	}
	u.User = nil // credentials come from the operator, not from a description
	return u, nil
}

func isServerURL(u *url.URL) bool {
	return (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.RawQuery == "" && u.Fragment == "" && u.Opaque == ""
}

// legacyBase reads host, basePath and schemes (2.0).
func (a *api) legacyBase() (*url.URL, error) {
	return a.legacyScheme(a.doc.Root.Get("schemes"))
}

func (a *api) legacyScheme(schemes document.Value) (*url.URL, error) {
	root := a.doc.Root
	u := &url.URL{Scheme: "https"}
	host := root.StrAt("host")
	if a.at != nil {
		u.Scheme = a.at.Scheme
		if host == "" {
			host = a.at.Host
		}
	}
	if s := legacyScheme(schemes); s != "" {
		u.Scheme = s
	}
	path := root.StrAt("basePath")
	if path != "" && !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	full, err := url.Parse(u.Scheme + "://" + host + path)
	if err != nil || !isServerURL(full) {
		return nil, errNoServer
	}
	full.User = nil
	return full, nil
}

// legacyScheme returns https if it is listed, else http if it is, else "".
func legacyScheme(schemes document.Value) string {
	found := ""
	for _, s := range schemes.Each() {
		switch s.Str() {
		case "https":
			return "https"
		case "http":
			found = "http"
		}
	}
	return found
}

// expandServer substitutes the variables in a server's URL with the operator's values
// or the defaults. It is not ok if the server does not accept an operator's
// value.
func (a *api) expandServer(server document.Value) (expanded string, ok bool) {
	expanded = server.StrAt("url")
	if !strings.Contains(expanded, "{") {
		return expanded, true
	}
	for name, v := range server.Get("variables").Each() {
		chosen, given := a.options.ServerVariables[name]
		if !given {
			chosen = defaultOf(v)
		} else if allowed := allowedValues(v); allowed != nil && !slices.Contains(allowed, chosen) {
			return "", false
		}
		expanded = strings.ReplaceAll(expanded, "{"+name+"}", chosen)
	}
	return expanded, true
}

// defaultOf returns the default of a variable, or else its first enum value.
func defaultOf(v document.Value) string {
	if d := v.Get("default"); d.Kind() != rawjson.Invalid {
		return scalarText(d)
	}
	for _, e := range v.Get("enum").Each() {
		return scalarText(e)
	}
	return ""
}

// allowedValues returns the enum of a variable; nil: any value.
func allowedValues(v document.Value) (all []string) {
	for _, e := range v.Get("enum").Each() {
		all = append(all, scalarText(e))
	}
	return all
}

// scalarText returns a scalar as text: a port may be written as a number.
func scalarText(v document.Value) string {
	if v.Kind() == rawjson.String {
		return v.Str()
	}
	return string(v.Raw())
}

// checkVariables rejects the operator's values if no server of the document has
// such a variable, or none accepts the value.
func (a *api) checkVariables() error {
	if len(a.options.ServerVariables) == 0 {
		return nil
	}
	known := map[string][]string{} // allowed values
	free := map[string]bool{}      // any value is allowed
	for _, v := range a.serverVariables() {
		name, allowed := v.name, allowedValues(v.Value)
		known[name] = append(known[name], allowed...)
		free[name] = free[name] || allowed == nil
	}
	for _, name := range slices.Sorted(maps.Keys(a.options.ServerVariables)) {
		chosen := a.options.ServerVariables[name]
		allowed, ok := known[name]
		switch {
		case !ok:
			return usage(fmt.Errorf("%s: no server has a variable %q%s", a.doc.Name, name, otherNames(name, slices.Sorted(maps.Keys(known)))))
		case !free[name] && !slices.Contains(allowed, chosen):
			slices.Sort(allowed)
			return usage(fmt.Errorf("%s: the server variable %s must be one of %s, not %q", a.doc.Name, name, strings.Join(slices.Compact(allowed), ", "), chosen))
		}
	}
	return nil
}

// otherNames lists the names that exist.
func otherNames(name string, known []string) string {
	const most = 20
	if len(known) == 0 {
		return "; there are no variables"
	}
	if near := suggest.Near(name, known, 3); near != nil {
		known = near
	}
	return "; there are: " + strings.Join(known[:min(len(known), most)], ", ")
}

type namedValue struct {
	name string

	document.Value
}

// serverVariables returns those of all servers: of the document, paths and
// operations.
func (a *api) serverVariables() (all []namedValue) {
	add := func(owner document.Value) {
		for _, s := range owner.Get("servers").Each() {
			server, err := a.doc.Deref(s)
			if err != nil {
				continue
			}
			for name, v := range server.Get("variables").Each() {
				all = append(all, namedValue{name, v})
			}
		}
	}
	add(a.doc.Root)
	for _, p := range a.doc.Root.Get("paths").Each() {
		item, err := a.doc.Deref(p)
		if err != nil {
			continue
		}
		add(item)
		for _, operation := range item.Each() {
			add(operation)
		}
	}
	return all
}
