package server

import (
	"encoding/base64"
	"net/http"
	"strings"
)

// The headers that repeat what a message says, in canonical spelling.
const (
	headerRevision = "Mcp-Protocol-Version"
	headerMethod   = "Mcp-Method"
	headerName     = "Mcp-Name"
)

// eraOf tells in which era a message speaks, and refuses it where it breaks a
// rule of that era. A message decides for itself: both eras may share a
// connection. On stdio there are no headers, and h is nil.
func (s *Server) eraOf(m *message, h http.Header) (era, *rpcError) {
	if e := repeated(h); e != nil {
		return modern, e
	}
	header := first(h, headerRevision)
	switch {
	case m.hasRevision && !m.notification, m.method == "server/discover":
		return modern, s.checkModern(m, h)
	case header == modernRevision:
		if m.response {
			return modern, invalidRequest("a server of " + modernRevision + " asks nothing, so there is nothing to respond to")
		}
		if m.notification {
			return modern, nil
		}
		return modern, s.checkModern(m, h)
	case header != "" && !legacyRevision(header):
		return legacy, unknownRevision(header, allRevisions)
	}
	return legacy, nil
}

// repeated refuses a header that stands there twice: readers differ in which
// of the two they believe.
func repeated(h http.Header) *rpcError {
	for _, name := range [...]string{headerRevision, headerMethod, headerName} {
		if len(h[name]) > 1 {
			return headerMismatch(name + " stands there more than once")
		}
	}
	return nil
}

// checkModern applies the rules of 2026-07-28 for requests: basic/index,
// "Per-request protocol fields", and transports/streamable-http, "Server
// Validation".
func (s *Server) checkModern(m *message, h http.Header) *rpcError {
	if m.revision == "" && !s.lax(ruleMetaVersion) {
		return missingMeta(metaRevision)
	}
	if h != nil && s.field(h, headerRevision) != m.revision && !s.lax(ruleVersionHeader) {
		return mismatch(headerRevision, m.revision)
	}
	if m.revision != modernRevision && !s.lax(ruleVersion) {
		return unknownRevision(m.revision, allRevisions)
	}
	if m.capabilities == nil && !s.lax(ruleMetaCapabilities) {
		return missingMeta(metaCapabilities)
	}
	if h == nil {
		return nil
	}
	if !s.same(s.field(h, headerMethod), m.method) && !s.lax(ruleMethodHeader) {
		return mismatch(headerMethod, m.method)
	}
	switch methodOf(m.method).named {
	case byName:
		return s.checkName(s.field(h, headerName), m.name)
	case byURI:
		return s.checkName(s.field(h, headerName), m.uri)
	case byTask:
		return s.checkName(s.field(h, headerName), m.taskID)
	case notNamed:
	}
	return nil
}

func missingMeta(key string) *rpcError {
	e := invalidParams("_meta has no " + key)
	e.status = http.StatusBadRequest
	return e
}

func mismatch(header, body string) *rpcError {
	return headerMismatch("the header " + header + " is missing or differs from " + clip(body) + " in the body")
}

func (s *Server) field(h http.Header, name string) string {
	v := first(h, name)
	if s.lax(ruleTrim) {
		return v
	}
	return strings.Trim(v, " \t")
}

// first is [http.Header.Get] for a name in canonical spelling.
func first(h http.Header, name string) string {
	if v := h[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

func (s *Server) same(header, body string) bool {
	return header == body || s.lax(ruleCase) && strings.EqualFold(header, body)
}

// checkName compares Mcp-Name with the body. A value that no header can carry
// comes in base64.
func (s *Server) checkName(header, name string) *rpcError {
	if s.lax(ruleNameHeader) {
		return nil
	}
	value, e := header, (*rpcError)(nil)
	if !s.lax(ruleBase64) {
		value, e = decoded(headerName, header)
	}
	if e == nil && (value == "" || !s.same(value, name)) {
		return mismatch(headerName, name)
	}
	return e
}

// decoded returns the value that a header carries.
func decoded(name, header string) (string, *rpcError) {
	encoded, ok := strings.CutPrefix(header, "=?base64?")
	if ok {
		encoded, ok = strings.CutSuffix(encoded, "?=")
	}
	if ok {
		b, err := base64.StdEncoding.Strict().DecodeString(encoded)
		if err != nil {
			return "", headerMismatch("the base64 of " + name + " is broken")
		}
		return string(b), nil
	}
	if strings.ContainsFunc(header, func(r rune) bool { return r != '\t' && (r < ' ' || r > '~') }) {
		return "", headerMismatch(name + " has a character that belongs into base64")
	}
	return header, nil
}
