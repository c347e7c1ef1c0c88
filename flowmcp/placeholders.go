package flowmcp

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// secrets stand for the server parameters of one call. Handlers get a marker
// in the place of each value; the value is put in when the request leaves, and
// only towards the host of the file's root. A marker is random, so that none
// can be guessed or kept for another call, and made of what stands unchanged
// in a host name, a URL, a header and JSON.
type secrets struct {
	env    func(name string) (string, bool)
	open   bool   // handlers get the values themselves
	nonce  string // part of all markers of this call
	names  []string
	values map[string]string // by marker
}

func newSecrets(f *file, o *Options) *secrets {
	s := &secrets{env: o.Env, open: o.handsOut(f), values: map[string]string{}}
	var random [13]byte
	_, _ = rand.Read(random[:]) // never fails
	s.nonce = "zk" + hex.EncodeToString(random[:])
	s.names = f.main.get("requiredServerParams").strs()
	return s
}

// marker is what a handler sees for the server parameter name.
func (s *secrets) marker(name string) (string, bool) {
	value, ok := s.env(name)
	if !ok || s.open {
		return value, ok
	}
	for i, n := range s.names {
		if n == name {
			m := s.mark(i)
			s.values[m] = value
			return m, true
		}
	}
	return "", false
}

// mark is the marker of the server parameter at i of names.
func (s *secrets) mark(i int) string {
	return s.nonce + hex.EncodeToString([]byte{byte(i)}) + "x" //nolint:gosec // a file has few
}

// carried are the server parameters whose markers stand in a request.
func (s *secrets) carried(address string, h http.Header, body string) (names []string) {
	for i, name := range s.names {
		m := s.mark(i)
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

// all is the object serverParams of the contract that real files follow.
func (s *secrets) all() []byte {
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

// in reports whether a marker stands in text, in either case.
func (s *secrets) in(text []byte) bool {
	if len(s.values) == 0 { // nobody was given one
		return false
	}
	return bytes.Contains(text, []byte(s.nonce)) || bytes.Contains(bytes.ToLower(text), []byte(s.nonce))
}

// errMarker is the fault of a handler that lets a marker out of the request.
func errMarker(where string) error {
	return &tenon.Error{Code: tenon.CodeRequest, Message: "a handler put a server parameter into " + where + "; it may only go to the host of root"}
}

// url puts the values into a URL, each as its place asks.
func (s *secrets) url(text string) (string, error) {
	w := &urlWriter{}
	for text != "" {
		at, marker := s.next(text)
		if at < 0 {
			w.literal(text)
			break
		}
		w.literal(text[:at])
		if !w.argument(s.values[marker], labelBytes+".") {
			return "", &tenon.Error{Code: tenon.CodeRequest, Message: "the value of a server parameter cannot stand in a host name"}
		}
		text = text[at+len(marker):]
	}
	return string(w.out), nil
}

// remark puts the markers back into a URL that is shown to code.
func (s *secrets) remark(address string) string {
	for m, value := range s.values {
		for _, form := range []string{value, url.QueryEscape(value), url.PathEscape(value), string(appendForm(nil, value)), string(encode(nil, value, isSegment))} {
			if form != "" {
				address = strings.ReplaceAll(address, form, m)
			}
		}
	}
	return address
}

// next is the first marker of a text; at is -1 without one.
func (s *secrets) next(text string) (at int, marker string) {
	at = -1
	for m := range s.values {
		if i := strings.Index(text, m); i >= 0 && (at < 0 || i < at) {
			at, marker = i, m
		}
	}
	return at, marker
}

// body puts the values into a body, escaped as its media type asks.
func (s *secrets) body(text, media string) string {
	for m, value := range s.values {
		switch {
		case strings.Contains(media, "json"):
			value = strings.TrimSuffix(strings.TrimPrefix(string(rawjson.AppendString(nil, value)), `"`), `"`)
		case strings.Contains(media, "form-urlencoded"):
			value = string(appendForm(nil, value))
		}
		text = strings.ReplaceAll(text, m, value)
	}
	return text
}

// put makes the request what it is for the upstream: markers become values if
// it goes to the host of root, and are a fault if it does not.
func (s *secrets) put(address string, h http.Header, body string, f *file, base string) (string, string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", "", &tenon.Error{Code: tenon.CodeRequest, Message: "a handler made an address that is none"}
	}
	inHeader := false
	for name, values := range h {
		inHeader = inHeader || s.in([]byte(name)) || s.in([]byte(strings.Join(values, "\n")))
	}
	if !s.in([]byte(address)) && !s.in([]byte(body)) && !inHeader {
		return address, body, nil
	}
	if !f.isHome(u, base, s.nonce) {
		return "", "", errMarker("a request to " + u.Host)
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
