package envelope

import (
	"net/http"
	"slices"
	"strings"
)

// The rule of this file: results include the response headers that a caller can
// use, such as links to the next page and Retry-After; not technical ones, and
// none that can hold a secret. Their number and size are bounded.

const (
	maxHeaders     = 40      // headers of a result
	maxHeaderValue = 2 << 10 // bytes of one; a longer one is left out
	maxHeaderBytes = 8 << 10 // of all names and values
)

// Visible returns the headers that callers see.
func Visible(h http.Header) http.Header {
	names := visible(h)
	shown := make(http.Header, len(names))
	for _, name := range names {
		shown[name] = h[name]
	}
	return shown
}

// visible returns the names of the headers that callers see.
func visible(h http.Header) []string {
	var shown []string
	size := 0
	for _, name := range byUse(h) {
		n := len(name)
		for _, v := range h[name] {
			n += len(v) + 2
		}
		if n > len(name)+maxHeaderValue || size+n > maxHeaderBytes || len(shown) == maxHeaders {
			continue
		}
		size += n
		shown = append(shown, name)
	}
	slices.Sort(shown)
	return shown
}

// byUse returns the names of the headers that callers may see, the most useful
// first.
func byUse(h http.Header) []string {
	names := make([]string, 0, len(h))
	for name := range h {
		if tells(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	slices.SortStableFunc(names, func(a, b string) int {
		switch of, than := useful(a), useful(b); {
		case of == than:
			return 0
		case of:
			return -1
		}
		return 1
	})
	return names
}

// tells decides about a header by its name; for the most common ones without
// further checks.
func tells(name string) bool {
	switch name {
	case "Content-Type", "Etag", "Last-Modified", "Cache-Control":
		return true
	case "Content-Length", "Date", "Server", "Connection", "Vary":
		return false
	}
	words := wordsOf(name)
	return !technical(name, words) && !mayHoldSecret(words)
}

func wordsOf(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '-' || r == '_' || r == '.' })
}

// useful reports whether a header helps callers: standard ones, and the common
// names for pagination, limits and request ids.
func useful(name string) bool {
	if name == "Content-Type" {
		return true
	}
	lower := strings.ToLower(name)
	switch lower {
	case "content-type", "content-language", "content-location", "content-disposition", "content-range", "location", "link", "etag", "last-modified",
		"retry-after", "deprecation", "sunset", "warning", "allow", "accept-patch", "accept-post", "preference-applied", "idempotency-key", "operation-location":
		return true
	}
	for _, part := range []string{"ratelimit", "rate-limit", "quota", "remaining", "total", "count", "page", "cursor", "continuation", "next", "request-id", "requestid", "correlation", "trace"} {
		if strings.Contains(lower, part) {
			return true
		}
	}
	return false
}

// technical reports whether a header is for proxies and browsers.
func technical(name string, words []string) bool {
	switch strings.ToLower(name) {
	case "date", "server", "via", "vary", "connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "proxy-connection",
		"content-length", "content-encoding", "content-md5", "accept-ranges", "accept-ch", "critical-ch", "alt-svc", "nel", "report-to", "reporting-endpoints", "server-timing", "timing-allow-origin",
		"strict-transport-security", "expect-ct", "public-key-pins", "permissions-policy", "feature-policy", "referrer-policy", "clear-site-data",
		"origin-agent-cluster", "p3p", "pragma", "speculation-rules", "x-frame-options", "x-xss-protection", "x-powered-by", "x-runtime", "x-ua-compatible",
		"x-served-by", "x-timer", "x-varnish", "x-robots-tag", "x-download-options", "x-content-type-options", "x-dns-prefetch-control",
		"x-permitted-cross-domain-policies", "x-generator", "x-real-ip", "x-backend", "x-backend-server", "x-cache", "x-cache-hits", "x-via", "x-hostname":
		return true
	}
	for _, start := range []string{"access-control-", "content-security-policy", "cross-origin-", "x-aspnet", "x-content-security-policy", "cf-", "x-amz-cf-", "x-akamai", "x-envoy", "x-fastly", "x-forwarded", "x-proxy", "x-nginx", "sec-"} {
		if strings.HasPrefix(strings.ToLower(name), start) {
			return true
		}
	}
	return len(words) == 0
}

// mayHoldSecret decides by the words in a header's name. The token of a next
// page is not a secret.
func mayHoldSecret(words []string) bool {
	leads := slices.ContainsFunc(words, func(w string) bool {
		return strings.HasPrefix(w, "next") || strings.HasPrefix(w, "continu") || strings.HasPrefix(w, "page") || w == "cursor"
	})
	for i, w := range words {
		switch {
		case strings.HasPrefix(w, "authenticat"), strings.HasPrefix(w, "authoriz"), strings.HasPrefix(w, "cookie"), strings.HasPrefix(w, "secret"),
			strings.HasPrefix(w, "passw"), strings.HasPrefix(w, "credential"), strings.HasPrefix(w, "session"), strings.HasPrefix(w, "signature"),
			w == "auth", w == "csrf", w == "xsrf", w == "jwt", w == "apikey", w == "sid", w == "nonce",
			w == "key" && i > 0 && words[i-1] != "idempotency",
			strings.HasSuffix(w, "token") && !leads:
			return true
		}
	}
	return false
}
