package ecmaregexp

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// escape reads an escape outside of classes.
func (p *parser) escape() *term {
	switch c := p.at(1); {
	case c == 'b':
		p.i += 2
		return &term{kind: kindEdge}
	case c == 'B':
		p.i += 2
		return &term{kind: kindNotEdge}
	case '1' <= c && c <= '9':
		n := len(p.src[p.i+1:]) - len(strings.TrimLeft(p.src[p.i+1:], "0123456789"))
		b := &term{kind: kindBack, group: atoi(p.src[p.i+1 : p.i+1+n])}
		p.i += 1 + n
		p.backs = append(p.backs, b)
		return b
	case c == 'k':
		p.i += 2
		b := &term{kind: kindBack, name: p.name()}
		p.backs = append(p.backs, b)
		return b
	}
	if s, ok := p.escapedSet(); ok {
		return &term{kind: kindSet, set: s}
	}
	r, ok := p.escaped(`^$\.*+?()[]{}|/`)
	if !ok {
		return nil
	}
	return &term{kind: kindSet, set: one(r)}
}

func (p *parser) at(distance int) byte {
	if p.i+distance < len(p.src) {
		return p.src[p.i+distance]
	}
	return 0
}

// escapedSet reads an escape for a set of characters.
func (p *parser) escapedSet() (set, bool) {
	var s set
	switch p.at(1) {
	case 'd':
		s = digits
	case 'D':
		s = digits.not()
	case 'w':
		s = words
	case 'W':
		s = words.not()
	case 's':
		s = spaces
	case 'S':
		s = spaces.not()
	case 'p', 'P':
		return p.property()
	default:
		return nil, false
	}
	p.i += 2
	return s, true
}

func (p *parser) property() (set, bool) {
	name, _, closed := strings.Cut(p.src[p.i+2:], "}")
	if !closed || name == "" || name[0] != '{' {
		p.fail("a property needs a name in braces")
		return nil, false
	}
	s := property(name[1:])
	if s == nil {
		p.fail("unknown property " + strconv.Quote(name[1:]))
		return nil, false
	}
	if p.at(1) == 'P' {
		s = s.not()
	}
	p.i += len(name) + 3
	return s, true
}

// escaped reads an escape for one character; special are those that a backslash
// makes literal.
func (p *parser) escaped(special string) (rune, bool) {
	if p.failed != nil {
		return 0, false
	}
	c, n := utf8.DecodeRuneInString(p.src[p.i+1:])
	if n == 0 {
		p.fail("the pattern ends in an escape")
		return 0, false
	}
	if i := strings.IndexRune("fnrtv", c); i >= 0 {
		p.i += 2
		return rune("\f\n\r\t\v"[i]), true
	}
	digit := p.at(2)
	switch {
	case c == '0' && (digit < '0' || digit > '9'):
		p.i += 2
		return 0, true
	case c == 'c' && (digit|0x20) >= 'a' && (digit|0x20) <= 'z':
		p.i += 3
		return rune(digit & 31), true
	case c == 'x':
		return p.hex(2, 2, 4)
	case c == 'u':
		return p.unicode()
	case strings.ContainsRune(special, c),
		p.lenient && !unicode.IsLetter(c) && !unicode.IsDigit(c):
		p.i += 1 + n
		return c, true
	}
	p.fail("an escape that ECMA-262 does not have")
	return 0, false
}

// hex reads n digits at a distance and skips the escape.
func (p *parser) hex(distance, n, length int) (rune, bool) {
	r, ok := p.digits(distance, n)
	if !ok {
		p.fail("an escape without its digits")
		return 0, false
	}
	p.i += length
	return r, true
}

func (p *parser) digits(distance, n int) (rune, bool) {
	if n == 0 || p.i+distance+n > len(p.src) {
		return 0, false
	}
	text := p.src[p.i+distance : p.i+distance+n]
	if strings.Trim(text, "0123456789abcdefABCDEF") != "" {
		return 0, false
	}
	v, err := strconv.ParseUint(text, 16, 32)
	return rune(v), err == nil && v <= unicode.MaxRune //nolint:gosec // it was compared
}

// unicode reads \uHHHH, two of those for one character, or \u{H…}.
func (p *parser) unicode() (rune, bool) {
	if p.at(2) == '{' {
		inside, _, closed := strings.Cut(p.src[p.i+3:], "}")
		short := strings.TrimLeft(inside, "0")
		if closed && len(short) <= 6 && len(inside) < 100 {
			return p.hex(3, len(inside), 4+len(inside))
		}
	}
	high, ok := p.digits(2, 4)
	if ok && utf16.IsSurrogate(high) && p.at(6) == '\\' && p.at(7) == 'u' {
		if low, ok := p.digits(8, 4); ok {
			if r := utf16.DecodeRune(high, low); r != utf8.RuneError {
				p.i += 12
				return r, true
			}
		}
	}
	return p.hex(2, 4, 6)
}

// class reads a bracket expression.
func (p *parser) class() *term {
	p.i++
	negative := p.accept("^")
	if p.lenient && p.peek() == ']' {
		p.fail("an ambiguous closing bracket")
		return nil
	}
	var ranges set
	for p.peek() != ']' {
		if p.i >= len(p.src) {
			p.fail("a class that is not closed")
			return nil
		}
		if p.lenient && posix(p.src[p.i:]) {
			p.fail("a POSIX class")
			return nil
		}
		s, single := p.classAtom()
		if p.failed != nil {
			return nil
		}
		if p.peek() != '-' || p.at(1) == ']' || p.at(1) == 0 {
			ranges = append(ranges, s...)
			continue
		}
		p.i++
		t, other := p.classAtom()
		switch {
		case p.failed != nil:
			return nil
		case single && other && s[0] <= t[0]:
			ranges = append(ranges, s[0], t[0])
		case single && other, !p.lenient:
			p.fail("an invalid range")
			return nil
		default: // a set at either end: the dash is literal
			ranges = append(append(append(ranges, s...), t...), '-', '-')
		}
	}
	p.i++
	all := join(ranges)
	if negative {
		all = all.not()
	}
	return &term{kind: kindSet, set: all}
}

// posix reports whether [:name:] is next, which other dialects read as a set.
func posix(s string) bool {
	if !strings.HasPrefix(s, "[:") {
		return false
	}
	name, _, closed := strings.Cut(s[2:], ":]")
	return closed && strings.Trim(name, "^abcdefghijklmnopqrstuvwxyz") == ""
}

// classAtom reads one character of a class, or an escape for a set.
func (p *parser) classAtom() (s set, single bool) {
	if p.peek() != '\\' {
		r, n := utf8.DecodeRuneInString(p.src[p.i:])
		if n == 0 {
			p.fail("a class that is not closed")
			return nil, false
		}
		p.i += n
		return one(r), true
	}
	if p.at(1) == 'b' {
		p.i += 2
		return one('\b'), true
	}
	if s, ok := p.escapedSet(); ok {
		return s, false
	}
	r, ok := p.escaped(`^$\.*+?()[]{}|/-`)
	if !ok {
		return nil, false
	}
	return one(r), true
}
