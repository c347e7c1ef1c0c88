package flowmcp

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// spelled finds a value in every form in which URLs, forms and JSON have it:
// character by character, because each writer escapes others.
type spelled struct {
	probe []byte // stands in every form as it is: a fast way to tell that there is none
	all   *regexp.Regexp
}

// maxSpelled bounds the values that are remembered.
const maxSpelled = 1000

var spellings struct { //nolint:gochecknoglobals // a cache: what it holds follows from its keys
	mu  sync.Mutex
	all map[string]*spelled
}

// spellingsOf is the finder for a value that is not empty.
func spellingsOf(value string) *spelled {
	spellings.mu.Lock()
	defer spellings.mu.Unlock()
	if s := spellings.all[value]; s != nil {
		return s
	}
	if spellings.all == nil || len(spellings.all) >= maxSpelled {
		spellings.all = map[string]*spelled{}
	}
	s := newSpelled(value)
	spellings.all[value] = s
	return s
}

func newSpelled(value string) *spelled {
	s := &spelled{probe: []byte(plainest(value))}
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
		fmt.Fprintf(&b, `(?:%s|\\%s|(?i:%s)`, literal, literal, encode(nil, text, func(byte) bool { return false }))
		if r <= 0xFFFF {
			fmt.Fprintf(&b, `|(?i:\\u%04x)`, r)
		}
		b.WriteByte(')')
	}
	s.all = regexp.MustCompile(b.String())
	return s
}

// plainest is the longest part of a value that nobody escapes.
func plainest(value string) string {
	longest := ""
	for _, part := range strings.FieldsFunc(value, func(r rune) bool { return r >= utf8.RuneSelf || !isAlnum(byte(r)) }) { //nolint:gosec // one byte
		if len(part) > len(longest) {
			longest = part
		}
	}
	return longest
}

// replace puts mask in the place of the value. A text without it is returned as
// it is.
func (s *spelled) replace(text []byte, mask string) []byte {
	switch {
	case !bytes.Contains(text, s.probe):
		return text
	case s.all == nil:
		return bytes.ReplaceAll(text, s.probe, []byte(mask))
	}
	return s.all.ReplaceAllLiteral(text, []byte(mask))
}
