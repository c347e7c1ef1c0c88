package flowmcp

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp/internal/format"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// secrets replaces the server parameters of one call by markers. Handlers see a
// marker instead of each value; the value is inserted when the request is sent,
// and only for the host of the file's root. Markers are random, so that they
// cannot be guessed or reused by another call, and valid unescaped in a host
// name, a URL, a header and JSON.
type secrets struct {
	env    func(name string) (string, bool)
	plain  bool   // handlers get the real values
	nonce  string // prefix of all markers of this call
	names  []string
	values map[string]string // by marker
}

func newSecrets(f *format.File, o *Options) *secrets {
	s := &secrets{env: o.Env, plain: o.handsOut(f), values: map[string]string{}}
	var random [13]byte
	_, _ = rand.Read(random[:]) // never fails
	s.nonce = "zk" + hex.EncodeToString(random[:])
	s.names = f.Main.Get("requiredServerParams").Strings()
	return s
}

// marker returns the marker of a server parameter.
func (s *secrets) marker(name string) (string, bool) {
	value, ok := s.env(name)
	if !ok || s.plain {
		return value, ok
	}
	for i, n := range s.names {
		if n == name {
			m := s.markerAt(i)
			s.values[m] = value
			return m, true
		}
	}
	return "", false
}

// markerAt returns the marker of the server parameter at index i of names.
func (s *secrets) markerAt(i int) string {
	return s.nonce + hex.EncodeToString([]byte{byte(i)}) + "x" //nolint:gosec // a file has few
}

// namesIn returns the server parameters whose markers occur in a request.
func (s *secrets) namesIn(address string, h http.Header, body string) (names []string) {
	for i, name := range s.names {
		m := s.markerAt(i)
		if s.values[m] == "" {
			continue
		}
		there := strings.Contains(address, m) || strings.Contains(body, m)
		for _, values := range h {
			there = there || strings.Contains(strings.Join(values, "\n"), m)
		}
		if there {
			names = append(names, name)
		}
	}
	return names
}

// object returns the object serverParams for executeRequest.
func (s *secrets) object() []byte {
	dst := []byte{'{'}
	for i, name := range s.names {
		m, _ := s.marker(name)
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(rawjson.AppendString(dst, name), ':')
		dst = rawjson.AppendString(dst, m)
	}
	return append(dst, '}')
}

// isIn reports whether text contains a marker, ignoring case.
func (s *secrets) isIn(text []byte) bool {
	if len(s.values) == 0 { // no marker was handed out
		return false
	}
	return bytes.Contains(text, []byte(s.nonce)) || bytes.Contains(bytes.ToLower(text), []byte(s.nonce))
}

// markerError is the error for a handler that uses a marker outside a request to
// root.
func markerError(where string) error {
	return &tenon.Error{Code: tenon.CodeRequest, Message: "a handler put a server parameter into " + where + "; it may only be sent to the host of root"}
}

// url inserts the values into a URL, encoded for their position.
func (s *secrets) url(text string) (string, error) {
	w := &format.URLWriter{}
	for text != "" {
		at, marker := s.next(text)
		if at < 0 {
			w.Literal(text)
			break
		}
		w.Literal(text[:at])
		if !w.Argument(s.values[marker], format.LabelBytes+".") {
			return "", &tenon.Error{Code: tenon.CodeRequest, Message: "the value of a server parameter is not valid in a host name"}
		}
		text = text[at+len(marker):]
	}
	return string(w.Out), nil
}

// restoreMarkers restores the markers in a URL that is shown to code.
func (s *secrets) restoreMarkers(address string) string {
	for m, value := range s.values {
		for _, form := range []string{value, url.QueryEscape(value), url.PathEscape(value), string(format.AppendForm(nil, value)), string(format.Encode(nil, value, format.IsSegment))} {
			if form != "" {
				address = strings.ReplaceAll(address, form, m)
			}
		}
	}
	return address
}

// next returns the first marker of a text, or -1.
func (s *secrets) next(text string) (at int, marker string) {
	at = -1
	for m := range s.values {
		if i := strings.Index(text, m); i >= 0 && (at < 0 || i < at) {
			at, marker = i, m
		}
	}
	return at, marker
}

// body inserts the values into a body, escaped for its media type.
func (s *secrets) body(text, media string) string {
	for m, value := range s.values {
		switch {
		case strings.Contains(media, "json"):
			value = strings.TrimSuffix(strings.TrimPrefix(string(rawjson.AppendString(nil, value)), `"`), `"`)
		case strings.Contains(media, "form-urlencoded"):
			value = string(format.AppendForm(nil, value))
		}
		text = strings.ReplaceAll(text, m, value)
	}
	return text
}

// insert inserts the values into a request to the host of root. Markers in other
// requests are an error.
func (s *secrets) insert(address string, h http.Header, body string, f *format.File, base string) (string, string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", "", &tenon.Error{Code: tenon.CodeRequest, Message: "a handler built an invalid address"}
	}
	inHeader := false
	for name, values := range h {
		inHeader = inHeader || s.isIn([]byte(name)) || s.isIn([]byte(strings.Join(values, "\n")))
	}
	if !s.isIn([]byte(address)) && !s.isIn([]byte(body)) && !inHeader {
		return address, body, nil
	}
	if !f.IsRootOrigin(u, base, s.nonce) {
		return "", "", markerError("a request to " + u.Host)
	}
	if address, err = s.url(address); err != nil {
		return "", "", err
	}
	media := h.Get("Content-Type")
	for _, values := range h {
		for i := range values {
			for m, value := range s.values {
				values[i] = strings.ReplaceAll(values[i], m, value)
			}
		}
	}
	return address, s.body(body, media), nil
}
