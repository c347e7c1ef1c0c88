package schema

import (
	"bytes"

	"github.com/tenon-mcp/tenon/internal/ecmaregexp"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// maxPatterns bounds the sizes of all patterns of a document.
const maxPatterns = 2_000_000

// matcher is a pattern. One that cannot be run leaves open what it would match.
type matcher struct {
	source string
	run    *ecmaregexp.Pattern // nil: it cannot be run
}

// newMatcher reads a pattern as ECMA-262 has it. What that does not know but
// can be published in another way is read in that way, and what is left as RE2
// has it, because many write patterns for other engines.
func newMatcher(source string) *matcher {
	m := &matcher{source: source}
	p, err := ecmaregexp.Compile(source)
	if err == nil {
		m.run = p
		return m
	}
	if fixed, ok := portablePattern(source); ok {
		if p, err = ecmaregexp.Compile(fixed); err == nil {
			m.run = p
			return m
		}
	}
	if p, err = ecmaregexp.FromRE2(source); err == nil {
		m.run = p
	}
	return m
}

// Runs reports whether a pattern can be run.
func Runs(pattern string) bool { return ecmaregexp.Valid(pattern) || newMatcher(pattern).run != nil }

// matcher compiles a pattern of the keyword at a place of the schema at.
func (c *compiler) matcher(pattern []byte, at, keyword rawjson.Node) *matcher {
	m := newMatcher(string(pattern))
	if m.run != nil {
		if c.patterns += m.run.Size; c.patterns > maxPatterns {
			m.run = nil
		}
	}
	if m.run == nil {
		c.open = append(c.open, unrun{at, keyword, m.source})
	}
	return m
}

// unrun is a pattern that cannot be run.
type unrun struct {
	at      rawjson.Node // the schema
	keyword rawjson.Node // its keyword
	pattern string
}

func (b *builder) pattern(m rawjson.Node) {
	if b.kind(m, rawjson.String, "a string") {
		b.text().pattern = b.c.matcher(b.c.decoded(m), b.at, m)
	}
}

func (b *builder) patterns(m rawjson.Node) {
	if !b.kind(m, rawjson.Object, "an object of schemas") {
		return
	}
	for e := b.c.doc.First(m); e != rawjson.None; e = b.c.doc.Next(e) {
		n := b.c.schema(e)
		match := b.c.matcher(plainName(b.c.doc.RawKey(e)), b.at, m)
		b.object().patterns = append(b.object().patterns, patternRule{match, n})
	}
}

// matches matches text at its price. What it answers is open where the pattern
// cannot be run.
func (m *matcher) matches(r *run, text []byte) (matched, open bool) {
	if m.run == nil {
		return true, true
	}
	matched, done := m.run.Match(text, &r.left)
	if !done {
		r.stop = limit
	}
	return matched, false
}

// names reports whether a pattern of a document matches the name of a member;
// it is not known where it cannot be run, or at a price that is too high.
func (m *matcher) names(name string) (matched, known bool) {
	if m.run == nil {
		return false, false
	}
	left := 1 << 20
	return m.run.Match([]byte(name), &left)
}

// decoded answers the string at a place, without a copy where it can.
func (c *compiler) decoded(at rawjson.Node) []byte {
	raw := c.doc.Raw(at)
	return plainName(raw[1 : len(raw)-1])
}

// plainName takes the escapes away from what stands between two quotes.
func plainName(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') >= 0 {
		return rawjson.AppendUnescaped(nil, raw)
	}
	return raw
}
