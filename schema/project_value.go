package schema

import (
	"encoding/binary"
	"math/bits"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// selector copies what is selected of a value in one pass: no tape, for a
// projection is made of answers that were validated before.
type selector struct {
	b   []byte
	i   int
	dst []byte

	depth   int
	bad     bool // the value ends where it must not, or is too deep
	escaped bool // a text had an escape since this was last set
}

// append appends what t selects of value, which is strict JSON.
func (t *pick) append(dst, value []byte) []byte {
	s := selector{b: value, dst: dst}
	s.value(t)
	return s.dst
}

// value copies what t selects of the value at the position.
func (s *selector) value(t *pick) {
	s.space()
	at := s.peek()
	if t.all || at != '{' && at != '[' {
		start := s.i
		s.skip()
		s.dst = append(s.dst, s.b[start:s.i]...)
		return
	}
	if at == '[' {
		t = t.item()
	}
	if s.depth++; s.depth > rawjson.MaxDepth {
		s.bad = true
		return
	}
	s.dst = append(s.dst, at)
	empty := len(s.dst)
	s.i++
	for s.space(); s.peek() != at+2; s.space() { // the closing bracket stands two behind the opening one
		if at == '[' {
			s.comma(empty)
			s.value(t)
		} else {
			s.member(t, empty)
		}
		if s.space(); s.bad || s.peek() != ',' {
			break
		}
		s.i++
	}
	if s.peek() != at+2 {
		s.bad = true
		return
	}
	s.i++
	s.depth--
	s.dst = append(s.dst, at+2)
}

// member copies a member if t selects it.
func (s *selector) member(t *pick, empty int) {
	start := s.i
	if s.peek() != '"' {
		s.bad = true
		return
	}
	s.escaped = false
	s.text()
	key := s.b[start:s.i]
	if s.space(); len(key) < 2 || s.peek() != ':' {
		s.bad = true
		return
	}
	s.i++
	s.space()
	below := t.memberOf(key[1:len(key)-1], s.escaped)
	if below == nil {
		s.skip()
		return
	}
	s.comma(empty)
	s.dst = append(append(s.dst, key...), ':')
	s.value(below)
}

// memberOf is member for a name as it is written.
func (t *pick) memberOf(raw []byte, escaped bool) *pick {
	for i := range t.plain {
		if t.plain[i].name == string(raw) { // no copy is made
			return t.plain[i].below
		}
	}
	if !escaped {
		if t.plain != nil {
			return nil
		}
		return t.member(string(raw))
	}
	doc, err := rawjson.Parse(append(append([]byte{'"'}, raw...), '"'))
	if err != nil {
		return nil
	}
	return t.member(doc.Str(doc.Root()))
}

func (s *selector) comma(empty int) {
	if len(s.dst) > empty {
		s.dst = append(s.dst, ',')
	}
}

// peek is the byte at the position, 0 at the end.
func (s *selector) peek() byte {
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

func (s *selector) space() {
	for s.i < len(s.b) && s.b[s.i] <= ' ' && isSpace(s.b[s.i]) { // mostly there is none
		s.i++
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// skip goes over the value at the position.
func (s *selector) skip() {
	switch s.peek() {
	case '"':
		s.text()
	case '{', '[':
		s.nested()
	default:
		start := s.i
		for s.i < len(s.b) && isScalar(s.b[s.i]) {
			s.i++
		}
		s.bad = s.bad || s.i == start
	}
}

// isScalar reports whether a byte stands in numbers and literals.
func isScalar(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == '.' || c == '-' || c == '+' || c == 'E'
}

// nested goes over the object or array at the position.
func (s *selector) nested() {
	depth := 0
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case '"':
			s.text()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if s.i++; depth == 0 {
			return
		}
	}
	s.bad = true
}

// text goes over the text at the position, eight bytes at once.
func (s *selector) text() {
	b, i := s.b, s.i+1
	for i < len(b) {
		if i+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[i:])
			quote, slash := w^'"'*ones, w^'\\'*ones
			m := ((quote-ones)&^quote | (slash-ones)&^slash) & highs
			if m == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(m) >> 3
		}
		switch b[i] {
		case '"':
			s.i = i + 1
			return
		case '\\':
			s.escaped = true
			i++ // what is escaped does not end the text
		}
		i++
	}
	s.bad, s.i = true, len(b)
}
