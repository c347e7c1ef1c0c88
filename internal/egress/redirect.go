package egress

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// redirectRule returns the check that the client makes before it follows a
// redirect.
//
// GET and HEAD are followed, and so is 303 with the GET that it asks for. A 301
// or 302 to another method would turn it into a GET that reads something else
// and looks like a success, and 307 and 308 would repeat it at another place:
// there the 3xx is the answer.
func redirectRule(limit int, allow *allowList) func(*http.Request, []*http.Request) error {
	return func(r *http.Request, via []*http.Request) error {
		last := via[len(via)-1]
		if !followed(last.Method, r.Response.StatusCode) || limit < 0 {
			return http.ErrUseLastResponse
		}
		sameOrigin := stayed(r.URL, via)
		if r.Body != nil && r.Body != http.NoBody && !sameOrigin {
			return http.ErrUseLastResponse // a body can hold a credential too
		}
		if t := trackerOf(r.Context()); t != nil {
			t.redirected(r.Response)
		}
		if err := checkRedirect(r.URL, last.URL, len(via), limit); err != nil {
			return err
		}
		if !sameOrigin && allow.inside(r.URL) && !allow.inside(last.URL) {
			return refuse("the redirect leads from a public address to a private one, which is allowed for requests that go there directly")
		}
		r.Header.Del("Referer") // it would carry the query of the last URL
		if !sameOrigin {
			r.Host = ""
			r.URL.User = nil
			keepSafe(r.Header)
		}
		return nil
	}
}

// redirects tells the statuses that a client may follow.
func redirects(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

func followed(method string, status int) bool {
	return method == http.MethodGet || method == http.MethodHead || method == "" || status == http.StatusSeeOther
}

func checkRedirect(to, from *url.URL, count, limit int) error {
	switch {
	case count > limit:
		return refuse(fmt.Sprintf("stopped after %d redirects", limit))
	case !webScheme(to):
		return refuse("the redirect leads to a scheme other than http and https")
	case from.Scheme == "https" && to.Scheme != "https":
		return refuse("the redirect leads from https to http")
	}
	return nil
}

// stayed reports whether no hop left the origin of the first request. Who left
// it once does not get its credentials back: the way home was chosen by
// somebody else.
func stayed(to *url.URL, via []*http.Request) bool {
	home := origin(via[0].URL)
	for _, r := range via[1:] {
		if origin(r.URL) != home {
			return false
		}
	}
	return origin(to) == home
}

// origin is scheme, host and port of a URL (RFC 6454).
func origin(u *url.URL) string {
	return u.Scheme + "://" + net.JoinHostPort(canonicalHost(u.Hostname()), portOf(u))
}

func portOf(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	if u.Scheme == "https" {
		return "443"
	}
	return "80"
}

func webScheme(u *url.URL) bool { return u.Scheme == "http" || u.Scheme == "https" }

// keepSafe drops every header that is not known to be harmless. A list of what
// is secret would always miss the API key header of the next service.
func keepSafe(h http.Header) {
	for name := range h {
		switch strings.ToLower(name) {
		case "accept", "accept-encoding", "accept-language", "user-agent":
		default:
			delete(h, name)
		}
	}
}
