package ecmaregexp

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// longestPattern is the length in bytes of the longest published pattern.
const longestPattern = 4096

// PortablePattern returns a regular expression that is valid in ECMA-262 with
// the u flag (which clients set) and in RE2, and equivalent to p: p itself if
// it is valid in both, or p with what one of them rejects rewritten. It is not
// ok where no exact equivalent is known: look-around, back references, flags,
// possessive quantifiers, escapes that the dialects interpret differently.
//
// The two still differ in rare cases: \s matches \v and the spaces of Unicode
// in ECMA-262 only, and the dot matches \r, U+2028 and U+2029 in RE2 only.
// Classes \d, \w, \b and the anchors agree. The validator implements ECMA-262
// (see internal/ecmaregexp).
func PortablePattern(p string) (fixed string, ok bool) {
	if len(p) > longestPattern || !utf8.ValidString(p) {
		return "", false
	}
	s := patternScanner{src: p, out: make([]byte, 0, len(p)+8)}
	if !s.pattern() {
		return "", false
	}
	if string(s.out) != p {
		p = string(s.out)
	}
	// RE2 has bounds on repetition and nesting, and what is too expensive for
	// the validator is too expensive for clients.
	if size, err := SizeRE2(p); err != nil || size > MaxSize {
		return "", false
	}
	return p, true
}

// CompileAny compiles a pattern as ECMA-262 defines it; if it is not valid
// there, in its portable form; else as RE2, because many patterns are written
// for other engines. nil: it cannot be run.
func CompileAny(source string) *Pattern {
	if p, err := Compile(source); err == nil {
		return p
	}
	if fixed, ok := PortablePattern(source); ok {
		if p, err := Compile(fixed); err == nil {
			return p
		}
	}
	if p, err := FromRE2(source); err == nil {
		return p
	}
	return nil
}

// patternScanner reads a pattern once and writes what both dialects interpret
// in the same way. Its methods report whether there is such a form.
type patternScanner struct {
	src   string
	i     int
	out   []byte
	depth int  // of groups
	atom  bool // the last item can be repeated
	names []string
}

// peek returns the byte at distance n, 0 beyond the end.
func (s *patternScanner) peek(n int) byte {
	if s.i+n < len(s.src) {
		return s.src[s.i+n]
	}
	return 0
}

// take copies the next n bytes.
func (s *patternScanner) take(n int) {
	s.out = append(s.out, s.src[s.i:s.i+n]...)
	s.i += n
}

// instead writes text for the next n bytes.
func (s *patternScanner) instead(n int, text string) bool {
	s.out = append(s.out, text...)
	s.i += n
	return true
}

func (s *patternScanner) pattern() bool {
	for s.i < len(s.src) {
		if !s.next() {
			return false
		}
	}
	return s.depth == 0
}

func (s *patternScanner) next() bool {
	switch c := s.src[s.i]; c {
	case '\\':
		return s.escape()
	case '[':
		s.atom = true
		return s.class()
	case '(':
		return s.open()
	case ')':
		s.depth--
		s.atom = true
	case '|', '^', '$':
		s.atom = false
	case '*', '+', '?':
		return s.repeat(1)
	case '{':
		return s.brace()
	case '}', ']':
		s.atom = true
		return s.instead(1, `\`+string(c))
	default:
		_, n := utf8.DecodeRuneInString(s.src[s.i:])
		s.take(n)
		s.atom = true
		return true
	}
	s.take(1)
	return s.depth >= 0
}

// repeat reads a quantifier of n bytes. Only an atom can have one, and only
// one: RE2 has no possessive quantifiers, and ECMA-262 does not repeat
// assertions.
func (s *patternScanner) repeat(n int) bool {
	if !s.atom {
		return false
	}
	s.take(n)
	if s.peek(0) == '?' {
		s.take(1)
	}
	s.atom = false
	return true
}

// brace reads a quantifier or a literal brace.
func (s *patternScanner) brace() bool {
	rest := s.src[s.i+1:]
	n := 0
	for n < len(rest) && (rest[n] == ',' || '0' <= rest[n] && rest[n] <= '9') {
		n++
	}
	if n == 0 || n == len(rest) || rest[n] != '}' {
		s.atom = true
		return s.instead(1, `\{`)
	}
	// Some dialects read {,3} as {0,3}, RE2 as text, ECMA-262 not at all.
	low, high, two := strings.Cut(rest[:n], ",")
	if !plainNumber(low) || two && high != "" && !plainNumber(high) {
		return false
	}
	return s.repeat(n + 2)
}

// plainNumber reports whether both dialects read text as a number: RE2 rejects
// leading zeros.
func plainNumber(text string) bool {
	if text == "" || len(text) > 4 || len(text) > 1 && text[0] == '0' {
		return false
	}
	return strings.Trim(text, "0123456789") == ""
}

// open reads the beginning of a group.
func (s *patternScanner) open() bool {
	s.depth++
	s.atom = false
	switch rest := s.src[s.i:]; {
	case !strings.HasPrefix(rest, "(?"):
		s.take(1)
		return true
	case strings.HasPrefix(rest, "(?:"):
		s.take(3)
		return true
	case strings.HasPrefix(rest, "(?P<"):
		return s.name(4)
	case strings.HasPrefix(rest, "(?<"):
		return s.name(3)
	}
	return false
}

// name reads the name of a group, which begins at distance n.
func (s *patternScanner) name(n int) bool {
	name, _, closed := strings.Cut(s.src[s.i+n:], ">")
	if !closed || name == "" || '0' <= name[0] && name[0] <= '9' {
		return false
	}
	for i := range len(name) {
		if c := name[i]; !alphanumeric(c) && c != '_' {
			return false
		}
	}
	if slices.Contains(s.names, name) {
		return false
	}
	s.names = append(s.names, name)
	return s.instead(n+len(name)+1, "(?<"+name+">")
}

func alphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
