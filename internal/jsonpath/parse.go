package jsonpath

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// SyntaxError is the error of an invalid query.
type SyntaxError struct {
	Query   string
	Offset  int // in bytes
	Message string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("JSONPath %.200q, at %d: %s", e.Query, e.Offset, e.Message)
}

// Parse parses a query of RFC 9535. Its errors are *SyntaxError.
func Parse(text string) (*Path, error) {
	p := &parser{text: text}
	var segments []segment
	switch {
	case len(text) > maxQuery:
		p.fail("the query is too long")
	case !utf8.ValidString(text):
		p.fail("the query is not UTF-8")
	case !p.take("$"):
		p.fail(`a query begins with "$"`)
	default:
		segments = p.segments()
		if p.message == "" && p.i < len(text) {
			p.fail("something follows the query")
		}
	}
	if p.message != "" {
		return nil, &SyntaxError{Query: text, Offset: p.at, Message: p.message}
	}
	return &Path{text: text, segments: segments}, nil
}

// parser reads from left to right and stops at the first error.
type parser struct {
	text  string
	i     int
	depth int

	message string // the first error
	at      int
}

func (p *parser) fail(what string) {
	if p.message == "" {
		p.message, p.at = what, p.i
		p.i = len(p.text) // nothing more is read
	}
}

func (p *parser) peek() byte {
	if p.i < len(p.text) {
		return p.text[p.i]
	}
	return 0
}

func (p *parser) take(s string) bool {
	if strings.HasPrefix(p.text[p.i:], s) {
		p.i += len(s)
		return true
	}
	return false
}

func (p *parser) space() {
	for p.i < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.i]) >= 0 {
		p.i++
	}
}

// segments reads what follows "$" or "@". White space before a segment belongs
// to it; white space after the last is not read.
func (p *parser) segments() (list []segment) {
	for p.message == "" {
		before := p.i
		p.space()
		switch {
		case p.take(".."):
			list = append(list, segment{descend: true, selectors: p.short(p.peek() == '[')})
		case p.take("."):
			list = append(list, segment{selectors: p.short(false)})
		case p.peek() == '[':
			list = append(list, segment{selectors: p.bracketed()})
		default:
			p.i = before
			return list
		}
	}
	return list
}

// short reads ".name" and ".*" after the dot; bracketed, what follows "..".
func (p *parser) short(bracketed bool) []selector {
	switch {
	case bracketed:
		return p.bracketed()
	case p.take("*"):
		return []selector{{kind: all}}
	}
	start := p.i
	for p.i < len(p.text) {
		r, size := utf8.DecodeRuneInString(p.text[p.i:])
		if !nameRune(r, p.i == start) {
			break
		}
		p.i += size
	}
	if p.i == start {
		p.fail("a name or * is missing")
	}
	return []selector{{kind: byName, name: p.text[start:p.i]}}
}

func nameRune(r rune, first bool) bool {
	return r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80 || r >= '0' && r <= '9' && !first
}

func (p *parser) bracketed() (list []selector) {
	p.take("[")
	for {
		p.space()
		list = append(list, p.selector())
		p.space()
		if p.message != "" || p.take("]") {
			return list
		}
		if !p.take(",") {
			p.fail(`"," or "]" is missing`)
			return list
		}
	}
}

func (p *parser) selector() selector {
	switch c := p.peek(); {
	case c == '\'' || c == '"':
		return selector{kind: byName, name: p.quoted()}
	case c == '*':
		p.i++
		return selector{kind: all}
	case c == '?':
		p.i++
		p.space()
		return selector{kind: byFilter, filter: p.or()}
	case c == ':' || c == '-' || c >= '0' && c <= '9':
		return p.indexOrSlice()
	}
	p.fail("a selector is missing")
	return selector{}
}

func (p *parser) indexOrSlice() selector {
	s := slice{step: 1}
	if p.peek() != ':' {
		s.start, s.hasStart = p.integer(), true
		before := p.i
		if p.space(); p.peek() != ':' {
			p.i = before
			return selector{kind: byIndex, index: s.start}
		}
	}
	p.take(":")
	p.space()
	if c := p.peek(); c == '-' || c >= '0' && c <= '9' {
		s.end, s.hasEnd = p.integer(), true
		p.space()
	}
	if p.take(":") {
		p.space()
		if c := p.peek(); c == '-' || c >= '0' && c <= '9' {
			s.step = p.integer()
		}
	}
	return selector{kind: bySlice, slice: s}
}

// integer reads a number within the range that all implementations support (RFC
// 9535 §2.1).
func (p *parser) integer() int64 {
	const limit = 1<<53 - 1
	start := p.i
	p.take("-")
	digits := p.i
	for p.i < len(p.text) && p.text[p.i] >= '0' && p.text[p.i] <= '9' {
		p.i++
	}
	text := p.text[start:p.i]
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n > limit || n < -limit || text == "-0" || p.text[digits] == '0' && p.i-digits > 1 {
		p.i = start
		p.fail("not an integer that can be used")
	}
	return n
}

// quoted reads a string in single or double quotes.
func (p *parser) quoted() string {
	quote := p.text[p.i]
	p.i++
	var b strings.Builder
	for p.i < len(p.text) {
		c := p.text[p.i]
		switch {
		case c == quote:
			p.i++
			return b.String()
		case c < ' ':
			p.fail("control character in a string")
			return ""
		case c != '\\':
			b.WriteByte(c)
			p.i++
		default:
			p.i++
			p.escape(&b, quote)
		}
	}
	p.fail("the string does not end")
	return ""
}

func (p *parser) escape(b *strings.Builder, quote byte) {
	c := p.peek()
	if c == 'u' {
		p.unicode(b)
		return
	}
	if i := strings.IndexByte(`bfnrt/\`, c); i >= 0 && c != 0 {
		b.WriteByte("\b\f\n\r\t/\\"[i])
	} else if c == quote && c != 0 {
		b.WriteByte(c)
	} else {
		p.fail("unknown escape")
		return
	}
	p.i++
}

// unicode reads \uXXXX, or two of them for one rune, after the backslash.
func (p *parser) unicode(b *strings.Builder) {
	r := p.hex()
	if r >= 0xD800 && r < 0xDC00 && p.take(`\`) {
		low := p.hex()
		if low < 0xDC00 || low > 0xDFFF {
			p.fail("half of a surrogate pair")
			return
		}
		r = (r-0xD800)<<10 + (low - 0xDC00) + 0x10000
	}
	if r >= 0xD800 && r <= 0xDFFF {
		p.fail("half of a surrogate pair")
		return
	}
	b.WriteRune(r)
}

func (p *parser) hex() rune {
	const size = len("uXXXX")
	if p.peek() != 'u' || p.i+size > len(p.text) {
		p.fail(`four hexadecimal digits follow "\u"`)
		return 0
	}
	digits := p.text[p.i+1 : p.i+size]
	n, err := strconv.ParseUint(digits, 16, 16)
	if err != nil || strings.ContainsAny(digits, "+-_") {
		p.fail(`four hexadecimal digits follow "\u"`)
		return 0
	}
	p.i += size
	return rune(n)
}

// literalValue reads true, false, null, a number or a string; ok is false where
// there is none.
func (p *parser) literalValue() (v value, ok bool) {
	switch c := p.peek(); {
	case c == '\'' || c == '"':
		return value{kind: rawjson.String, text: p.quoted()}, true
	case c == '-' || c >= '0' && c <= '9':
		return p.numberLiteral(), true
	case p.take("true"):
		return value{kind: rawjson.Bool, yes: true}, true
	case p.take("false"):
		return value{kind: rawjson.Bool}, true
	case p.take("null"):
		return value{kind: rawjson.Null}, true
	}
	return value{}, false
}

func (p *parser) numberLiteral() value {
	start := p.i
	for p.i < len(p.text) && strings.IndexByte("+-.eE0123456789", p.text[p.i]) >= 0 {
		p.i++
	}
	raw := []byte(p.text[start:p.i])
	doc, err := rawjson.Parse(raw)
	if err != nil || doc.Kind(doc.Root()) != rawjson.Number {
		p.i = start
		p.fail("not a number")
	}
	return value{kind: rawjson.Number, raw: raw}
}
