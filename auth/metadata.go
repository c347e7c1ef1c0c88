package auth

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

const wellKnown = "/.well-known/oauth-protected-resource"

// describe makes the metadata of RFC 9728.
func (a *Authenticator) describe(o *Options) error {
	u, err := url.Parse(o.Resource)
	if err != nil {
		return err
	}
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	a.metadataURL = u.Scheme + "://" + u.Host + wellKnown + path
	a.paths = slices.Compact([]string{wellKnown, wellKnown + path})
	a.needed = union(o.Scopes, o.MoreScopes)
	a.metadata, err = json.Marshal(struct {
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers"`
		Methods  []string `json:"bearer_methods_supported"`
		Scopes   []string `json:"scopes_supported,omitempty"`
		Name     string   `json:"resource_name,omitempty"`
	}{o.Resource, []string{o.Issuer}, []string{"header"}, a.needed, o.Name})
	return err
}

// Ungranted asks the issuer's metadata which of the scopes that requests need it does
// not list: perhaps nobody can get a token with them. nil: it lists all, or does not
// say what it grants.
func (a *Authenticator) Ungranted(ctx context.Context) ([]string, error) {
	if a.issuer == nil || len(a.needed) == 0 {
		return nil, nil
	}
	p, err := a.issuer.get(ctx, nil)
	if p == nil {
		return nil, err
	}
	if p.scopes == nil {
		return nil, nil
	}
	// A scope that is only implied by one that is listed can be had, too.
	listed := Granted(p.scopes, a.implies)
	return slices.DeleteFunc(slices.Clone(a.needed), func(s string) bool { return slices.Contains(listed, s) }), nil
}

// MetadataPaths are the paths of [Authenticator.Metadata]: that of the server's own
// URL, and the one that clients try which do not know it. There is none without an
// issuer.
func (a *Authenticator) MetadataPaths() []string { return a.paths }

// Metadata serves the metadata of RFC 9728 to everybody, pages of any origin
// included: who has no token yet finds the issuer by it.
func (a *Authenticator) Metadata() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		switch r.Method {
		case http.MethodGet, http.MethodHead:
		case http.MethodOptions:
			h.Set("Access-Control-Allow-Methods", "GET, HEAD")
			h.Set("Access-Control-Allow-Headers", "*")
			h.Set("Access-Control-Max-Age", "600")
			h.Set("Allow", "GET, HEAD, OPTIONS")
			w.WriteHeader(http.StatusNoContent)
			return
		default:
			h.Set("Allow", "GET, HEAD, OPTIONS")
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		h.Set("Content-Type", "application/json")
		h.Set("Cache-Control", "public, max-age=300")
		h.Set("Content-Length", strconv.Itoa(len(a.metadata)))
		if r.Method == http.MethodGet {
			_, _ = w.Write(a.metadata) // who is gone reads nothing
		}
	})
}

// canonical is a URL with scheme and host in small letters and without the slash of an
// empty path, so that one resource has one name; anything else stays as it is.
func canonical(audience string) string {
	u, err := url.Parse(audience)
	if err != nil || u.Host == "" {
		return audience
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if u.Path == "/" {
		u.Path = ""
	}
	return u.String()
}
