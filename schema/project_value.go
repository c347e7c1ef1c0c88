package schema

import (
	"bytes"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// selector copies what is selected of a value in one pass: no tape, for a
// projection is made of answers that were validated before.
type selector struct {
	b   []byte
	i   int
	dst []byte

	depth int
	bad   bool // the value ends where it must not, or is too deep
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
	s.skip()
	key := s.b[start:s.i]
	if s.space(); len(key) < 2 || key[0] != '"' || s.peek() != ':' {
		s.bad = true
		return
	}
	s.i++
	below := t.memberOf(key[1 : len(key)-1])
	if below == nil {
		s.space()
		s.skip()
		return
	}
	s.comma(empty)
	s.dst = append(append(s.dst, key...), ':')
	s.value(below)
}

// memberOf is member for a name as it is written.
func (t *pick) memberOf(raw []byte) *pick {
	if bytes.IndexByte(raw, '\\') < 0 {
		if below, ok := t.names[string(raw)]; ok && t.each == nil { // no copy is made for the look-up
			return below
		} else if !ok {
			return t.each
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
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\n' || s.b[s.i] == '\r' || s.b[s.i] == '\t') {
		s.i++
	}
}

// skip goes over the value at the position.
func (s *selector) skip() {
	start, depth := s.i, 0
	for ; s.i < len(s.b); s.i++ {
		switch s.b[s.i] {
		case '"':
			s.text()
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth == 0 { // of what is around a number
				s.bad = s.bad || s.i == start
				return
			}
			depth--
		case ',', ':', ' ', '\n', '\r', '\t':
			if depth == 0 {
				s.bad = s.bad || s.i == start
				return
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			s.i = min(s.i+1, len(s.b))
			return
		}
	}
	s.i = min(s.i, len(s.b))
	s.bad = s.bad || depth > 0 || s.i == start
}

// text goes to the closing quotation mark of the text at the position.
func (s *selector) text() {
	for {
		next := bytes.IndexByte(s.b[s.i+1:], '"')
		if next < 0 {
			s.bad, s.i = true, len(s.b)
			return
		}
		s.i += 1 + next
		escapes := 0
		for s.b[s.i-1-escapes] == '\\' { // ends at the opening mark at the latest
			escapes++
		}
		if escapes%2 == 0 {
			return
		}
	}
}
