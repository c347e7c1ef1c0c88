// Package redact finds secret values in texts whatever their encoding, and
// replaces them.
//
// It does not know which values are secret, or where a text comes from.
//
// Schema files use it on responses, recordings on everything that they store.
package redact

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// Matcher matches a value in every encoding of URLs, forms and JSON, character
// by character, because writers escape different characters.
type Matcher struct {
	probe []byte // literal in every encoding: a fast negative test
	all   *regexp.Regexp
}

// maxMatchers limits the cached matchers.
const maxMatchers = 1000

var matchers struct { //nolint:gochecknoglobals // a cache, derived from its keys
	mu  sync.Mutex
	all map[string]*Matcher
}

// For returns the matcher for a nonempty value.
func For(value string) *Matcher {
	matchers.mu.Lock()
	defer matchers.mu.Unlock()
	if s := matchers.all[value]; s != nil {
		return s
	}
	if matchers.all == nil || len(matchers.all) >= maxMatchers {
		matchers.all = map[string]*Matcher{}
	}
	s := newMatcher(value)
	matchers.all[value] = s
	return s
}

func newMatcher(value string) *Matcher {
	s := &Matcher{probe: []byte(longestLiteral(value))}
	if !utf8.ValidString(value) {
		s.probe = []byte(value)
		return s
	}
	var b strings.Builder
	for _, r := range value {
		text := string(r)
		switch {
		case r < utf8.RuneSelf && isAlnum(byte(r)): //nolint:gosec // one byte
			b.WriteString(text)
			continue
		case r == ' ':
			b.WriteString(`(?: |\+|%20|\\u0020)`)
			continue
		}
		literal := regexp.QuoteMeta(text)
		fmt.Fprintf(&b, `(?:%s|\\%s|(?i:%s)`, literal, literal, percentEncode(text))
		if r <= 0xFFFF {
			fmt.Fprintf(&b, `|(?i:\\u%04x)`, r)
		}
		b.WriteByte(')')
	}
	s.all = regexp.MustCompile(b.String())
	return s
}

// longestLiteral returns the longest part of a value that is never escaped.
func longestLiteral(value string) string {
	longest := ""
	for _, part := range strings.FieldsFunc(value, func(r rune) bool { return r >= utf8.RuneSelf || !isAlnum(byte(r)) }) { //nolint:gosec // one byte
		if len(part) > len(longest) {
			longest = part
		}
	}
	return longest
}

// Replace replaces the value by mask. A text without it is returned unchanged.
func (s *Matcher) Replace(text []byte, mask string) []byte {
	switch {
	case !bytes.Contains(text, s.probe):
		return text
	case s.all == nil:
		return bytes.ReplaceAll(text, s.probe, []byte(mask))
	}
	return s.all.ReplaceAllLiteral(text, []byte(mask))
}

func percentEncode(text string) string {
	var b strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&b, "%%%02X", text[i])
	}
	return b.String()
}

func isAlnum(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9'
}
