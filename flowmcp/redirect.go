package flowmcp

import (
	"errors"
	"maps"
	"net/http"
	"strings"

	"github.com/tenon-mcp/tenon"
)

// following is the way out of one request of a handler: redirects are followed
// to the hosts of the file, or not at all where the code says so. What the
// client itself refuses stays refused.
func (x *execution) following(redirect string) *http.Client {
	c := *x.options.Client
	rule, base := c.CheckRedirect, strings.TrimSuffix(x.options.BaseURL, "/")
	c.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		switch redirect {
		case "manual":
			return http.ErrUseLastResponse
		case "error":
			return &tenon.Error{Code: tenon.CodeRequest, Message: "there was a redirect"}
		}
		if rule == nil && len(via) >= maxRedirects {
			return errors.New("too many redirects")
		}
		if rule != nil {
			if err := rule(r, via); err != nil {
				return err
			}
		}
		f := x.route.file
		if !f.knows(r.URL, base) {
			return x.refuse(refused("the host " + r.URL.Host + ", to which a redirect leads, does not stand in the schema file"))
		}
		if !sameOrigin(r.URL, via[0].URL.String()) { // no key goes along, whatever the client does
			maps.DeleteFunc(r.Header, func(name string, _ []string) bool { return !harmless(name) })
		}
		return nil
	}
	return &c
}

// harmless tells the headers that hold no credential.
func harmless(name string) bool {
	switch name {
	case "Accept", "Accept-Encoding", "Accept-Language", "User-Agent":
		return true
	}
	return false
}

// maxRedirects bounds those of a client that has no rule of its own.
const maxRedirects = 10
