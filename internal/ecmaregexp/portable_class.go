package ecmaregexp

import (
	"strings"
	"unicode/utf8"
)

// class reads a bracket expression.
func (s *patternScanner) class() bool {
	s.take(1)
	if s.peek(0) == '^' {
		s.take(1)
	}
	// In []a] the first bracket closes the class or is literal.
	if s.peek(0) == ']' {
		return false
	}
	for s.i < len(s.src) {
		if s.src[s.i] == ']' {
			s.take(1)
			return true
		}
		if !s.item() {
			return false
		}
	}
	return false
}

// item reads a character, a range or a set in a class.
func (s *patternScanner) item() bool {
	if s.atSet() {
		return s.classSet() && (!s.dash() || s.literalDash())
	}
	low, ok := s.classChar()
	if !ok {
		return false
	}
	s.write(low, true)
	if !s.dash() {
		return true
	}
	s.i++
	if s.peek(0) == '[' && s.atSet() { // RE2 ends the range at the bracket, others do not
		return false
	}
	if s.atSet() { // a range cannot end in a set: the dash is literal
		s.out = append(s.out, `\-`...)
		return s.classSet() && !s.dash()
	}
	high, ok := s.classChar()
	if !ok || high.r < low.r {
		return false
	}
	s.out = append(s.out, '-')
	s.write(high, true)
	return true
}

// dash reports whether a dash is next that is not the last in its class.
func (s *patternScanner) dash() bool {
	return s.peek(0) == '-' && s.peek(1) != ']'
}

// literalDash reads the literal dash after a set and the item after it. Where
// more dashes follow, the dialects see different ranges.
func (s *patternScanner) literalDash() bool {
	s.i++
	s.out = append(s.out, `\-`...)
	if s.atSet() {
		return s.classSet() && !s.dash()
	}
	if s.peek(0) == '-' {
		return false
	}
	c, ok := s.classChar()
	if !ok || s.dash() {
		return false
	}
	s.write(c, true)
	return true
}

// atSet reports whether a named set of characters is next.
func (s *patternScanner) atSet() bool {
	switch s.peek(0) {
	case '\\':
		return strings.IndexByte("dDwWsSpP", s.peek(1)) >= 0
	case '[':
		return s.peek(1) == ':'
	}
	return false
}

func (s *patternScanner) classSet() bool {
	if s.peek(0) == '\\' {
		return s.set()
	}
	name, _, closed := strings.Cut(s.src[s.i+2:], ":]")
	if !closed {
		return false
	}
	text := posixClass(name)
	return text != "" && s.instead(len(name)+4, text)
}

// posixClass returns the contents of a class for a name that only RE2 has.
func posixClass(name string) string {
	switch name {
	case "alnum":
		return "0-9A-Za-z"
	case "alpha":
		return "A-Za-z"
	case "ascii":
		return `\x00-\x7F`
	case "blank":
		return `\t `
	case "cntrl":
		return `\x00-\x1F\x7F`
	case "digit":
		return "0-9"
	case "graph":
		return "!-~"
	case "lower":
		return "a-z"
	case "print":
		return " -~"
	case "punct":
		return "!-/:-@\\[-`{-~"
	case "space":
		return `\t\n\v\f\r `
	case "upper":
		return "A-Z"
	case "word":
		return "0-9A-Za-z_"
	case "xdigit":
		return "0-9A-Fa-f"
	}
	return ""
}

// classChar reads one character in a class.
func (s *patternScanner) classChar() (char, bool) {
	if s.peek(0) != '\\' {
		r, n := utf8.DecodeRuneInString(s.src[s.i:])
		if n == 0 {
			return char{}, false
		}
		return s.plain(n, r)
	}
	switch s.peek(1) {
	case '-':
		return s.plain(2, '-')
	case 'b': // in a class ECMA-262 means the backspace
		return s.coded(2, '\b')
	}
	return s.escaped()
}
