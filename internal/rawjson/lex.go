package rawjson

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// lexer reads the tokens of JSON. Its methods return false after the first
// error, which is then in err.
type lexer struct {
	src   []byte
	pos   int
	depth int
	err   *SyntaxError
}

// fail records the error and returns false, so that callers can return it.
func (l *lexer) fail(offset int, what string) bool {
	l.err = &SyntaxError{Offset: offset, Message: what}
	return false
}

// unexpected is fail for a byte that is not allowed at its position.
func (l *lexer) unexpected(want string) bool {
	if l.pos >= len(l.src) {
		return l.fail(len(l.src), "the input ends, expected "+want)
	}
	return l.fail(l.pos, "expected "+want)
}

// enter and leave count the nesting.
func (l *lexer) enter() bool {
	if l.depth++; l.depth > MaxDepth {
		return l.fail(l.pos, "nested too deep")
	}
	l.pos++
	return true
}

func (l *lexer) leave() bool {
	l.depth--
	l.pos++
	return true
}

// peek returns the byte at the position, 0 at the end (0 is never valid JSON
// outside of strings, so the two need not be distinguished).
func (l *lexer) peek() byte {
	if l.pos < len(l.src) {
		return l.src[l.pos]
	}
	return 0
}

// space skips white space. Indented documents have long runs of spaces, so it
// reads eight at a time.
func (l *lexer) space() {
	src, i := l.src, l.pos
	for i < len(src) {
		switch src[i] {
		case ' ':
			for i+8 <= len(src) && binary.LittleEndian.Uint64(src[i:]) == spaces {
				i += 8
			}
			for i < len(src) && src[i] == ' ' {
				i++
			}
		case '\n', '\r', '\t':
			i++
		default:
			l.pos = i
			return
		}
	}
	l.pos = i
}

// token is a string in the source: the bytes between its quotes.
type token struct {
	start, end uint32
	escaped    bool
}

// text reads the string whose opening quote is at the position.
func (l *lexer) text() (t token, ok bool) {
	src := l.src
	i := l.pos + 1
	start := i
	var seen uint64 // all bytes or-ed, to know whether any is not ASCII
	for {
		for i+8 <= len(src) {
			w := binary.LittleEndian.Uint64(src[i:])
			seen |= w
			if m := special(w); m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
			i += 8
		}
		for i < len(src) && src[i] != '"' && src[i] != '\\' && src[i] >= ' ' {
			seen |= uint64(src[i])
			i++
		}
		if i >= len(src) {
			return t, l.fail(len(src), "the input ends inside a string")
		}
		switch src[i] {
		case '"':
			if seen&high != 0 && !l.valid(start, i) {
				return t, false
			}
			l.pos = i + 1
			return token{uint32(start), uint32(i), t.escaped}, true //nolint:gosec // the size was checked
		case '\\':
			n := escape(src[i:])
			if n == 0 {
				return t, l.fail(i, "not an escape of JSON")
			}
			t.escaped = true
			i += n
		default:
			return t, l.fail(i, "control character in a string")
		}
	}
}

// valid checks that a string is UTF-8.
func (l *lexer) valid(start, end int) bool {
	b := l.src[start:end]
	if utf8.Valid(b) {
		return true
	}
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return l.fail(start+i, "not UTF-8")
		}
		i += n
	}
	return true
}

// escape returns the length of the escape that b begins with, 0 if there is
// none.
func escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(b[2:]); ok {
			return 6
		}
	}
	return 0
}

// hex4 reads four hexadecimal digits.
func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// number reads a number.
func (l *lexer) number() bool {
	src, i := l.src, l.pos
	if src[i] == '-' {
		i++
	}
	whole := digits(src, i)
	if whole == i || src[i] == '0' && whole > i+1 {
		return l.fail(l.pos, "not a number of JSON")
	}
	i = whole
	if i < len(src) && src[i] == '.' {
		end := digits(src, i+1)
		if end == i+1 {
			return l.fail(l.pos, "not a number of JSON")
		}
		i = end
	}
	if i < len(src) && src[i]|0x20 == 'e' {
		i++
		if i < len(src) && (src[i] == '+' || src[i] == '-') {
			i++
		}
		end := digits(src, i)
		if end == i {
			return l.fail(l.pos, "not a number of JSON")
		}
		i = end
	}
	l.pos = i
	return true
}

// digits returns where the digits from i on end.
func digits(src []byte, i int) int {
	for i < len(src) && src[i]-'0' <= 9 {
		i++
	}
	return i
}

// word reads one of true, false and null.
func (l *lexer) word(w string) bool {
	if len(l.src)-l.pos < len(w) || string(l.src[l.pos:l.pos+len(w)]) != w {
		return l.unexpected("a value")
	}
	l.pos += len(w)
	return true
}

// end checks that only white space follows.
func (l *lexer) end() bool {
	if l.space(); l.pos < len(l.src) {
		return l.fail(l.pos, "something follows the value")
	}
	return true
}

// Bit patterns for comparing eight bytes at a time.
const (
	low    = 0x0101010101010101
	high   = 0x8080808080808080
	spaces = ' ' * low
)

// special sets the high bit of the first of eight bytes that must be escaped in
// a JSON string: a quote, a backslash or a control character. Marks after the
// first may be wrong.
func special(w uint64) uint64 {
	quote := w ^ '"'*low
	slash := w ^ '\\'*low
	return ((quote-low)&^quote | (slash-low)&^slash | (w-' '*low)&^w) & high
}
