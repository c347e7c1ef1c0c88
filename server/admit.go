package server

import (
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// admit looks at a request's line and headers, before any of its body is
// read: who may ask at all, and in which form.
func (s *Server) admit(r *http.Request) *rpcError {
	local := onLoopback(r)
	switch {
	case !servesHost(r.Host, s.options.AllowedHosts, local) && !s.lax(ruleHost):
		return refused(http.StatusForbidden, "the host "+clip(r.Host)+" is not served here; the operator can allow it")
	case !s.originAllowed(r, local) && !s.lax(ruleOrigin):
		return refused(http.StatusForbidden, "requests from pages of "+clip(r.Header.Get("Origin"))+" are not served; the operator can allow the origin")
	case r.Method == http.MethodGet || r.Method == http.MethodDelete:
		return nil
	case r.Method != http.MethodPost:
		return refused(http.StatusMethodNotAllowed, "only POST is served here")
	case !isJSON(first(r.Header, "Content-Type")):
		return refused(http.StatusUnsupportedMediaType, "the body must be application/json")
	case first(r.Header, "Content-Encoding") != "":
		return refused(http.StatusUnsupportedMediaType, "the body must not be encoded")
	case !acceptsJSON(r.Header["Accept"]):
		return refused(http.StatusNotAcceptable, "the answer is application/json, which the request does not accept")
	}
	return nil
}

// onLoopback reports whether r came in on a loopback address.
func onLoopback(r *http.Request) bool {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if tcp, is := addr.(*net.TCPAddr); is { // nearly always; the address needs no text then
		return tcp.IP.IsLoopback()
	}
	return ok && addr != nil && isLoopback(hostname(addr.String()))
}

// ServesHost reports whether r is for a host name that a door with these
// AllowedHosts serves, see [Options]: for programs that have doors beside it.
func ServesHost(r *http.Request, allowed []string) bool {
	return servesHost(r.Host, allowed, onLoopback(r))
}

// servesHost guards against DNS rebinding: a page of a foreign name that
// suddenly points at this machine still sends its own name as Host.
func servesHost(host string, allowed []string, local bool) bool {
	if !local && len(allowed) == 0 {
		return true
	}
	name := hostname(host)
	if local && isLoopback(name) {
		return true
	}
	return slices.ContainsFunc(allowed, func(h string) bool { return strings.EqualFold(h, name) })
}

// originAllowed checks the origin of a page. Programs that are no browser
// send none.
func (s *Server) originAllowed(r *http.Request, local bool) bool {
	values := r.Header["Origin"]
	if len(values) == 0 {
		return true
	}
	origin := values[0]
	if slices.Contains(s.options.AllowedOrigins, "*") || slices.Contains(s.options.AllowedOrigins, origin) {
		return len(values) == 1
	}
	u, err := url.Parse(origin)
	if err != nil || len(values) > 1 || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	return strings.EqualFold(u.Host, r.Host) || local && isLoopback(u.Hostname())
}

// hostname takes the port off, and the brackets of an IPv6 address.
func hostname(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		return h
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

func isLoopback(name string) bool {
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.Unmap().IsLoopback()
}

func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && media == "application/json"
}

// acceptsBoth is what nearly every client says, as the protocol has it.
const acceptsBoth = "application/json, text/event-stream"

// acceptsJSON is lenient: the protocol asks for both of its types, but only
// one of them is ever sent, and a client that says nothing takes anything.
func acceptsJSON(accept []string) bool {
	if len(accept) == 0 || accept[0] == acceptsBoth {
		return true
	}
	for part := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		media, weight, _ := strings.Cut(part, ";")
		switch strings.ToLower(strings.TrimSpace(media)) {
		case "application/json", "application/*", "*/*":
			if !refusesWeight(weight) {
				return true
			}
		}
	}
	return false
}

// refusesWeight reports whether the parameters of a media range say q=0.
func refusesWeight(parameters string) bool {
	for p := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		if strings.EqualFold(name, "q") {
			return strings.Trim(value, "0.") == "" && value != ""
		}
	}
	return false
}
