package egress

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// redirectRule returns the client's CheckRedirect function.
//
// GET and HEAD are redirected, and 303 becomes a GET. A 301 or 302 to another
// method would turn it into a GET that reads something else and looks like a
// success, and 307 and 308 would repeat it at another place: there the 3xx is
// the response.
func redirectRule(limit int, allow *allowList) func(*http.Request, []*http.Request) error {
	return func(r *http.Request, via []*http.Request) error {
		last := via[len(via)-1]
		if !mayFollow(last.Method, r.Response.StatusCode) || limit < 0 {
			return http.ErrUseLastResponse
		}
		sameOrigin := staysAtOrigin(r.URL, via)
		if r.Body != nil && r.Body != http.NoBody && !sameOrigin {
			return http.ErrUseLastResponse // a body may contain a credential
		}
		if t := trackerOf(r.Context()); t != nil {
			t.redirected(r.Response)
		}
		if err := checkRedirect(r.URL, last.URL, len(via), limit); err != nil {
			return err
		}
		if !sameOrigin && allow.mayBePrivate(r.URL) && !allow.mayBePrivate(last.URL) {
			return forbid("the redirect leads from a public address to a private one, which is allowed only for direct requests")
		}
		r.Header.Del("Referer") // it would contain the query of the last URL
		if !sameOrigin {
			r.Host = ""
			r.URL.User = nil
			dropUnsafeHeaders(r.Header)
		}
		return nil
	}
}

// redirects reports whether a status is a redirect.
func redirects(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

func mayFollow(method string, status int) bool {
	return method == http.MethodGet || method == http.MethodHead || method == "" || status == http.StatusSeeOther
}

func checkRedirect(to, from *url.URL, count, limit int) error {
	switch {
	case count > limit:
		return forbid(fmt.Sprintf("stopped after %d redirects", limit))
	case !webScheme(to):
		return forbid("the redirect leads to a scheme other than http and https")
	case from.Scheme == "https" && to.Scheme != "https":
		return forbid("the redirect leads from https to http")
	}
	return nil
}

// staysAtOrigin reports whether all hops have the origin of the first request. After a
// hop to another origin, credentials are not sent any more, even if the next
// one leads back: another server chose it.
func staysAtOrigin(to *url.URL, via []*http.Request) bool {
	home := origin(via[0].URL)
	for _, r := range via[1:] {
		if origin(r.URL) != home {
			return false
		}
	}
	return origin(to) == home
}

// origin returns scheme, host and port of a URL (RFC 6454).
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

// dropUnsafeHeaders removes all headers that are not known to be harmless. A list of
// secret ones would never be complete.
func dropUnsafeHeaders(h http.Header) {
	for name := range h {
		switch strings.ToLower(name) {
		case "accept", "accept-encoding", "accept-language", "user-agent":
		default:
			delete(h, name)
		}
	}
}
