package ecmaregexp

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// escape reads an escape outside of classes.
func (s *patternScanner) escape() bool {
	s.atom = true
	switch s.peek(1) {
	case 'b', 'B':
		s.atom = false
		s.take(2)
		return true
	case 'A': // no flag changes the meaning of ^ and $
		s.atom = false
		return s.instead(2, "^")
	case 'z':
		s.atom = false
		return s.instead(2, "$")
	case 'd', 'D', 'w', 'W', 's', 'S', 'p', 'P':
		return s.set()
	}
	r, ok := s.escaped()
	if !ok {
		return false
	}
	s.write(r, false)
	return true
}

// set reads an escape for a set of characters.
func (s *patternScanner) set() bool {
	if c := s.peek(1); c != 'p' && c != 'P' {
		s.take(2)
		return true
	}
	escape, n, name := s.src[s.i:s.i+2], 3, ""
	switch c := s.peek(2); {
	case c == '{':
		inside, _, closed := strings.Cut(s.src[s.i+3:], "}")
		if !closed {
			return false
		}
		n, name = 4+len(inside), inside
	case c != 0:
		name = string(rune(c))
	}
	if strings.HasPrefix(name, "^") {
		name = name[1:]
		escape = map[string]string{`\p`: `\P`, `\P`: `\p`}[escape]
	}
	if !generalCategory(name) {
		return false
	}
	return s.instead(n, escape+"{"+name+"}")
}

// generalCategory reports whether both dialects have a name of a property:
// scripts and long names are written differently.
func generalCategory(name string) bool {
	switch name {
	case "L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No",
		"P", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "S", "Sm", "Sc", "Sk", "So",
		"Z", "Zs", "Zl", "Zp", "C", "Cc", "Cf", "Co":
		return true
	}
	return false
}

// char is one character of a pattern, and how it was written if that is valid
// in both dialects.
type char struct {
	r    rune
	text string // empty: not valid as written
}

// escaped reads an escape for one character, in a class or not.
func (s *patternScanner) escaped() (c char, ok bool) {
	next, n := utf8.DecodeRuneInString(s.src[s.i+1:])
	if n == 0 {
		return c, false
	}
	switch next {
	case 'f', 'n', 'r', 't', 'v':
		return s.plain(2, rune("\f\n\r\t\v"[strings.IndexByte("fnrtv", byte(next))]))
	case 'a':
		return s.coded(2, '\a')
	case '0':
		// \0 would be another character in front of a digit.
		return s.coded(2, 0, !isDigit(s.peek(2)))
	case 'c':
		letter := s.peek(2)
		return s.coded(3, rune(letter&31), alphanumeric(letter) && !isDigit(letter))
	case 'x':
		return s.hex()
	case 'u':
		return s.unicode()
	}
	switch {
	case next < utf8.RuneSelf && alphanumeric(byte(next)): //nolint:gosec // ASCII
		return c, false
	case strings.ContainsRune(`^$\.*+?()[]{}|/`, next):
		return s.plain(2, next)
	}
	return s.coded(1+n, next)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// plain consumes n bytes that both dialects read as r.
func (s *patternScanner) plain(n int, r rune) (char, bool) {
	c := char{r: r, text: s.src[s.i : s.i+n]}
	s.i += n
	return c, true
}

// coded consumes n bytes that mean r but must be rewritten.
func (s *patternScanner) coded(n int, r rune, conditions ...bool) (char, bool) {
	for _, holds := range conditions {
		if !holds {
			return char{}, false
		}
	}
	s.i += n
	return char{r: r}, true
}

// hex reads \xHH, or \x{H…} which only RE2 has.
func (s *patternScanner) hex() (char, bool) {
	if s.peek(2) == '{' {
		return s.braced()
	}
	r, ok := s.digits(2, 2)
	if !ok {
		return char{}, false
	}
	return s.plain(4, r)
}

// unicode reads \uHHHH, a pair of those for one character, or \u{H…}, which
// only ECMA-262 has.
func (s *patternScanner) unicode() (char, bool) {
	if s.peek(2) == '{' {
		return s.braced()
	}
	r, ok := s.digits(2, 4)
	if !ok || !utf16.IsSurrogate(r) {
		return s.coded(6, r, ok)
	}
	low, ok := s.digits(8, 4)
	r = utf16.DecodeRune(r, low)
	return s.coded(12, r, ok, s.peek(6) == '\\', s.peek(7) == 'u', r != utf8.RuneError)
}

func (s *patternScanner) braced() (char, bool) {
	inside, _, closed := strings.Cut(s.src[s.i+3:], "}")
	if !closed || len(inside) == 0 || len(inside) > 6 {
		return char{}, false
	}
	r, ok := s.digits(3, len(inside))
	return s.coded(4+len(inside), r, ok, utf8.ValidRune(r))
}

// digits reads n hexadecimal digits at a distance.
func (s *patternScanner) digits(distance, n int) (rune, bool) {
	if s.i+distance+n > len(s.src) {
		return 0, false
	}
	for i := range n {
		if c := s.peek(distance + i); !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'f') {
			return 0, false
		}
	}
	v, err := strconv.ParseUint(s.src[s.i+distance:s.i+distance+n], 16, 32)
	return rune(v), err == nil //nolint:gosec // at most six digits
}

// write writes a character.
func (s *patternScanner) write(c char, inClass bool) {
	special := `^$\.*+?()[]{}|/`
	if inClass {
		special = `^\[]-`
	}
	switch {
	case c.text != "":
		s.out = append(s.out, c.text...)
	case c.r < ' ' || 0x7F <= c.r && c.r < 0xA0:
		s.out = fmt.Appendf(s.out, `\x%02X`, c.r)
	case strings.ContainsRune(special, c.r):
		s.out = append(s.out, '\\', byte(c.r)) //nolint:gosec // all special characters are ASCII
	case c.r == ':' && inClass && s.out[len(s.out)-1] == '[':
		// [: opens the name of a class in RE2.
		s.out = append(s.out, `\x3A`...)
	default:
		s.out = utf8.AppendRune(s.out, c.r)
	}
}
