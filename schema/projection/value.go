package projection

import (
	"encoding/binary"
	"math/bits"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// selector copies what is selected of a value in one pass, without a tape:
// projections are made of responses that were validated before. Adjacent parts
// are copied together. Its methods return the position after what they read, -1
// where the value is too deep or ends unexpectedly.
type selector struct {
	b     []byte
	dst   []byte
	from  int // selected but not copied yet from here on
	depth int
}

// append appends what t selects of value, which is strict JSON.
func (t *selection) append(dst, value []byte) []byte {
	s := selector{b: value, dst: dst}
	s.whole(t)
	return s.dst
}

// copy copies what is selected up to a position.
func (s *selector) copy(end int) { s.dst = append(s.dst, s.b[s.from:end]...) }

// whole selects from all of the input.
func (s *selector) whole(t *selection) bool {
	s.from = spaceEnd(s.b, 0)
	end := s.value(t, s.from)
	if end < 0 {
		return false
	}
	s.copy(end)
	return spaceEnd(s.b, end) == len(s.b)
}

// value selects from the value at i.
func (s *selector) value(t *selection, i int) int {
	switch {
	case t.all || i < 0 || i >= len(s.b) || s.b[i] != '{' && s.b[i] != '[':
		return valueEnd(s.b, i)
	case s.depth == rawjson.MaxDepth:
		return -1
	}
	s.depth++
	if s.b[i] == '[' {
		i = s.array(t.item(), i)
	} else {
		i = s.object(t, i)
	}
	s.depth--
	return i
}

func (s *selector) array(t *selection, i int) int {
	for i = s.space(i + 1); !s.at(i, ']'); i = s.space(i + 1) {
		if i = s.value(t, i); i < 0 {
			return -1
		}
		if i = s.space(i); !s.at(i, ',') {
			break
		}
	}
	return s.closed(i, ']')
}

func (s *selector) object(t *selection, i int) int {
	kept := 0 // members that were selected
	i = s.space(i + 1)
	for begin := i; !s.at(i, '}'); {
		if s.at(i, ',') {
			i++
		}
		name := spaceEnd(s.b, i)
		below, end := s.member(t, name)
		value := s.valueOf(end)
		if below == nil {
			s.copy(begin)
			i = spaceEnd(s.b, valueEnd(s.b, value))
		} else {
			s.leaveOut(i, name)
			i = s.keep(below, end, value)
			kept++
		}
		if i < 0 {
			return -1
		}
		if kept == len(t.plain) && kept > 0 {
			return s.skipRest(i)
		}
		if begin = i; kept == 0 && s.at(i, ',') {
			begin++ // the comma of omitted members
		}
		if below == nil {
			s.from = begin
		}
		if !s.at(i, ',') {
			break
		}
	}
	return s.closed(i, '}')
}

// skipRest omits the members of an object from i on.
func (s *selector) skipRest(i int) int {
	end := insideEnd(s.b, i)
	if end >= 0 {
		s.leaveOut(i, end-1)
	}
	return end
}

// keep selects from a member, given the end of its name and the start of its
// value.
func (s *selector) keep(t *selection, end, value int) int {
	if value > end+1 { // white space around the colon
		s.leaveOut(end, value)
		s.dst = append(s.dst, ':')
	}
	if value = s.value(t, value); value < 0 {
		return -1
	}
	return s.space(value)
}

// member returns what is selected of the member whose name begins at i, nil for
// nothing, and where its name ends.
func (s *selector) member(t *selection, i int) (below *selection, end int) {
	if !s.at(i, '"') {
		return nil, -1
	}
	for j := range t.plain {
		if q := t.plain[j].quoted; i+len(q) < len(s.b) && s.b[i+1] == q[1] && string(s.b[i:i+len(q)]) == q {
			return t.plain[j].below, i + len(q)
		}
	}
	end, escaped := textEnd(s.b, i)
	if end >= 0 && (escaped || t.plain == nil) {
		below = t.memberOf(s.b[i:end], escaped)
	}
	return below, end
}

// memberOf is member for a raw name.
func (t *selection) memberOf(quoted []byte, escaped bool) *selection {
	if !escaped {
		return t.member(string(quoted[1 : len(quoted)-1]))
	}
	doc, err := rawjson.Parse(quoted)
	if err != nil {
		return nil
	}
	return t.member(doc.Str(doc.Root()))
}

// at reports whether the byte at a position is c.
func (s *selector) at(i int, c byte) bool { return i < len(s.b) && s.b[i] == c }

func (s *selector) closed(i int, bracket byte) int {
	if !s.at(i, bracket) {
		return -1
	}
	return i + 1
}

// valueOf returns the start of the value of a member whose name ends at i.
func (s *selector) valueOf(i int) int {
	if i = spaceEnd(s.b, i); i < 0 || !s.at(i, ':') {
		return -1
	}
	return spaceEnd(s.b, i+1)
}

// space skips white space, which is not copied.
func (s *selector) space(i int) int {
	if i >= len(s.b) || s.b[i] > ' ' { // the common case
		return i
	}
	end := spaceEnd(s.b, i)
	s.leaveOut(i, end)
	return end
}

// leaveOut copies what is selected up to a position, and continues at another.
func (s *selector) leaveOut(i, next int) {
	if i < next {
		s.copy(i)
		s.from = next
	}
}

// The following functions take and return positions in b; -1 means invalid JSON
// and is propagated.

func spaceEnd(b []byte, i int) int {
	for i >= 0 && i < len(b) && b[i] <= ' ' && rawjson.SpaceBits>>b[i]&1 != 0 {
		i++
	}
	return i
}

func valueEnd(b []byte, i int) int {
	if i < 0 || i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		i, _ = textEnd(b, i)
		return i
	case '{', '[':
		return insideEnd(b, i+1)
	}
	start := i
	for i < len(b) && isScalar(b[i]) {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

// isScalar reports whether a byte can be part of a number or literal.
func isScalar(c byte) bool {
	const low, high uint64 = 1<<'+' | 1<<'-' | 1<<'.' | (1<<10-1)<<'0', 1<<('E'-64) | (1<<26-1)<<('a'-64)
	if c < 64 {
		return low>>c&1 != 0
	}
	return c < 128 && high>>(c-64)&1 != 0
}

// insideEnd skips the remainder of an object or an array.
func insideEnd(b []byte, i int) int {
	for depth := 1; i < len(b); i++ {
		switch b[i] {
		case '"':
			end, _ := textEnd(b, i)
			if end < 0 {
				return -1
			}
			i = end - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// textEnd returns the end of a string, reading eight bytes at a time, and
// whether it has escapes.
func textEnd(b []byte, i int) (end int, escaped bool) {
	for i++; i < len(b); i++ {
		if i+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[i:])
			quote, slash := w^'"'*rawjson.ByteOnes, w^'\\'*rawjson.ByteOnes
			m := ((quote-rawjson.ByteOnes)&^quote | (slash-rawjson.ByteOnes)&^slash) & rawjson.ByteHighs
			if m == 0 {
				i += 7
				continue
			}
			i += bits.TrailingZeros64(m) >> 3
		}
		switch b[i] {
		case '"':
			return i + 1, escaped
		case '\\':
			escaped = true
			i++ // an escaped quote does not end the string
		}
	}
	return -1, escaped
}
