package server

import (
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/internal/jsonrpc"
)

// admit looks at a request's line and headers, before any of its body is
// read: who may ask at all, and in which form.
func (s *Server) admit(r *http.Request) *jsonrpc.Error {
	switch {
	case !ServesHost(r, s.options.Load().AllowedHosts):
		return jsonrpc.Refused(http.StatusForbidden, "the host "+jsonrpc.Clip(r.Host)+" is not served here; the operator can allow it")
	case !s.originAllowed(r):
		return jsonrpc.Refused(http.StatusForbidden, "requests from pages of "+jsonrpc.Clip(r.Header.Get("Origin"))+" are not served; the operator can allow the origin")
	case r.Method == http.MethodGet || r.Method == http.MethodDelete:
		return nil
	case r.Method != http.MethodPost:
		return jsonrpc.Refused(http.StatusMethodNotAllowed, "only POST is served here")
	case !isJSON(first(r.Header, "Content-Type")):
		return jsonrpc.Refused(http.StatusUnsupportedMediaType, "the body must be application/json")
	case first(r.Header, "Content-Encoding") != "":
		return jsonrpc.Refused(http.StatusUnsupportedMediaType, "the body must not be encoded")
	case !acceptsJSON(r.Header["Accept"]):
		return jsonrpc.Refused(http.StatusNotAcceptable, "the answer is application/json, which the request does not accept")
	}
	return nil
}

// calledAddr is the address that r was sent to; the zero value: not known.
func calledAddr(r *http.Request) netip.Addr {
	switch addr := r.Context().Value(http.LocalAddrContextKey).(type) {
	case *net.TCPAddr: // nearly always; the address needs no text then
		ip, _ := netip.AddrFromSlice(addr.IP)
		return ip.Unmap()
	case net.Addr:
		at, _ := netip.ParseAddrPort(addr.String())
		return at.Addr().Unmap()
	}
	return netip.Addr{}
}

// ServesHost reports whether r is for a host name that an endpoint with these
// AllowedHosts serves, see [Options]: for programs with further endpoints.
//
// It guards against DNS rebinding: a page of a foreign name that suddenly
// points at this machine still sends its own name as Host.
func ServesHost(r *http.Request, allowed []string) bool {
	called := calledAddr(r)
	if !called.IsValid() && len(allowed) == 0 {
		return true // it did not come over a socket that is known here
	}
	name, ok := hostname(r.Host)
	if !ok {
		return false
	}
	if ip, err := netip.ParseAddr(name); err == nil && called.IsValid() && ip.Unmap().WithZone("") == called.WithZone("") {
		return true
	}
	if called.IsLoopback() && isLoopback(name) {
		return true
	}
	return slices.ContainsFunc(allowed, func(h string) bool { return h == "*" || strings.EqualFold(h, name) })
}

// originAllowed checks the origin of a page. Programs that are no browser
// send none. An origin is never compared with the Host of the same request: a
// page whose name was rebound to this machine sends both alike.
func (s *Server) originAllowed(r *http.Request) bool {
	values := r.Header["Origin"]
	if len(values) == 0 {
		return true
	}
	if len(values) > 1 {
		return false
	}
	origin := values[0]
	if slices.Contains(s.options.Load().AllowedOrigins, "*") || slices.Contains(s.options.Load().AllowedOrigins, origin) {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	name, ok := hostname(u.Host)
	return ok && calledAddr(r).IsLoopback() && isLoopback(name)
}

// hostname takes the port off, and the brackets of an IPv6 address; not ok: it
// is no host as RFC 9110 has it.
func hostname(host string) (name string, ok bool) {
	name = host
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		port := host[i+1:]
		if strings.Trim(port, "0123456789") != "" || len(port) > 5 {
			return "", false
		}
		name = host[:i]
	}
	if inner, bracketed := strings.CutPrefix(name, "["); bracketed {
		inner, closed := strings.CutSuffix(inner, "]")
		_, err := netip.ParseAddr(inner)
		return inner, closed && err == nil
	}
	return name, name != "" && !strings.ContainsAny(name, ":[]/@?#\\ ")
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

// crossOrigin lets pages of the origins that the operator named read what is
// answered, and answers their browsers' question whether they may ask at all.
// It reports whether that was the request.
func (s *Server) crossOrigin(w http.ResponseWriter, r *http.Request) (done bool) {
	origins := r.Header["Origin"]
	if len(origins) != 1 {
		return false
	}
	h := w.Header()
	h.Add("Vary", "Origin")
	if !slices.Contains(s.options.Load().AllowedOrigins, origins[0]) && !slices.Contains(s.options.Load().AllowedOrigins, "*") {
		return false
	}
	h.Set("Access-Control-Allow-Origin", origins[0])
	h.Set("Access-Control-Expose-Headers", headerSession+", WWW-Authenticate")
	if r.Method != http.MethodOptions || !ServesHost(r, s.options.Load().AllowedHosts) {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "POST, GET, DELETE")
	if asked := r.Header.Get("Access-Control-Request-Headers"); asked != "" && len(asked) <= 4096 {
		h.Set("Access-Control-Allow-Headers", asked)
	}
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}
