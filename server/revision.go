package server

import (
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/tenon-mcp/tenon/internal/jsonrpc"
)

// legacyRevision reports whether v is a revision with an initialize handshake
// that is served here. 2024-11-05 is one of them: what it lacks, its clients
// ignore.
func legacyRevision(v string) bool {
	switch v {
	case "2024-11-05", jsonrpc.OldestHTTPRevision, "2025-06-18", jsonrpc.NewestLegacyRevision:
		return true
	}
	return false
}

// allRevisions are those that are served, newest first, as JSON. Whoever asks
// which there are, or names another one, is told all of them: a client that does
// not know the newest goes on with one that it knows.
const (
	allRevisions = `["` + jsonrpc.ModernRevision + `","` + jsonrpc.NewestLegacyRevision + `","2025-06-18","` + jsonrpc.OldestHTTPRevision + `","2024-11-05"]`
)

// era is the form of a request.
type era uint8

const (
	legacy era = 1 << iota // 2025-11-25 and before
	modern                 // 2026-07-28 and after
)

// The headers that repeat what a message says, in canonical spelling.
const (
	headerRevision = "Mcp-Protocol-Version"
	headerMethod   = "Mcp-Method"
	headerName     = "Mcp-Name"
)

// revisionsOf tells in which era a message speaks, and refuses it where it breaks a
// rule of that era. A message decides for itself: both eras may share a
// connection. On stdio there are no headers, and h is nil.
func (s *Server) revisionsOf(m *jsonrpc.Message, h http.Header) (era, *jsonrpc.Error) {
	if e := repeated(h); e != nil {
		return modern, e
	}
	header := first(h, headerRevision)
	switch {
	case m.HasRevision && !m.Notification, m.Method == "server/discover":
		return modern, checkModern(m, h)
	case header == jsonrpc.ModernRevision:
		if m.Response {
			return modern, jsonrpc.InvalidRequest("a server of " + jsonrpc.ModernRevision + " asks nothing, so there is nothing to respond to")
		}
		if m.Notification {
			return modern, nil
		}
		return modern, checkModern(m, h)
	case header != "" && !legacyRevision(header):
		return legacy, jsonrpc.UnknownRevision(header, allRevisions)
	}
	return legacy, nil
}

// repeated refuses a header that stands there twice: readers differ in which
// of the two they believe.
func repeated(h http.Header) *jsonrpc.Error {
	for _, name := range [...]string{headerRevision, headerMethod, headerName} {
		if len(h[name]) > 1 {
			return jsonrpc.HeaderMismatch(name + " stands there more than once")
		}
	}
	return nil
}

// checkModern applies the rules of 2026-07-28 for requests: basic/index,
// "Per-request protocol fields", and transports/streamable-http, "Server
// Validation".
func checkModern(m *jsonrpc.Message, h http.Header) *jsonrpc.Error {
	if m.Revision == "" {
		return missingMeta(jsonrpc.MetaRevision)
	}
	if h != nil && field(h, headerRevision) != m.Revision {
		return mismatch(headerRevision, m.Revision)
	}
	if m.Revision != jsonrpc.ModernRevision {
		return jsonrpc.UnknownRevision(m.Revision, allRevisions)
	}
	if m.Capabilities == nil {
		return missingMeta(jsonrpc.MetaCapabilities)
	}
	if h == nil {
		return nil
	}
	if field(h, headerMethod) != m.Method {
		return mismatch(headerMethod, m.Method)
	}
	switch methodOf(m.Method).named {
	case byName:
		return checkName(field(h, headerName), m.Name)
	case byURI:
		return checkName(field(h, headerName), m.URI)
	case byTask:
		return checkName(field(h, headerName), m.TaskID)
	case notNamed:
	}
	return nil
}

func missingMeta(key string) *jsonrpc.Error {
	e := jsonrpc.InvalidParams("_meta has no " + key)
	e.Status = http.StatusBadRequest
	return e
}

func mismatch(header, body string) *jsonrpc.Error {
	return jsonrpc.HeaderMismatch("the header " + header + " is missing or differs from " + jsonrpc.Clip(body) + " in the body")
}

func field(h http.Header, name string) string {
	return strings.Trim(first(h, name), " \t")
}

// first is [http.Header.Get] for a name in canonical spelling.
func first(h http.Header, name string) string {
	if v := h[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// checkName compares Mcp-Name with the body. A value that no header can carry
// comes in base64.
func checkName(header, name string) *jsonrpc.Error {
	value, e := decoded(headerName, header)
	if e == nil && (value == "" || value != name) {
		return mismatch(headerName, name)
	}
	return e
}

// decoded returns the value that a header carries.
func decoded(name, header string) (string, *jsonrpc.Error) {
	encoded, ok := strings.CutPrefix(header, "=?base64?")
	if ok {
		encoded, ok = strings.CutSuffix(encoded, "?=")
	}
	if ok {
		b, err := base64.StdEncoding.Strict().DecodeString(encoded)
		if err != nil {
			return "", jsonrpc.HeaderMismatch("the base64 of " + name + " is broken")
		}
		return string(b), nil
	}
	if strings.ContainsFunc(header, func(r rune) bool { return r != '\t' && (r < ' ' || r > '~') }) {
		return "", jsonrpc.HeaderMismatch(name + " has a character that belongs into base64")
	}
	return header, nil
}
