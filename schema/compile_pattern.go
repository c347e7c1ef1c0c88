package schema

import (
	"bytes"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tenon-mcp/tenon/internal/ecmaregexp"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// maxPatterns bounds the total size of all patterns of a document.
const maxPatterns = 2_000_000

// matcher is a pattern. For one that cannot be run it is unknown what it
// matches.
type matcher struct {
	source string
	run    *ecmaregexp.Pattern // nil: it cannot be run
}

func newMatcher(source string) *matcher {
	return &matcher{source: source, run: ecmaregexp.CompileAny(source)}
}

// Runs reports whether a pattern can be run.
func Runs(pattern string) bool { return ecmaregexp.Valid(pattern) || newMatcher(pattern).run != nil }

// matcher compiles a pattern in a keyword of the schema at a location.
func (c *compiler) matcher(pattern []byte, at, keyword rawjson.Node) *matcher {
	m := newMatcher(string(pattern))
	if m.run != nil {
		if c.patterns += m.run.Size; c.patterns > maxPatterns {
			m.run = nil
		}
	}
	if m.run == nil {
		c.unrunnable = append(c.unrunnable, unrunnablePattern{at, keyword, m.source})
	}
	return m
}

// unrunnablePattern is a pattern that cannot be run.
type unrunnablePattern struct {
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

// matches matches text and charges the cost. The result is open where the
// pattern cannot be run.
func (m *matcher) matches(r *validation, text []byte) (matched, open bool) {
	if m.run == nil {
		return true, true
	}
	matched, done := m.run.Match(text, &r.left)
	if !done {
		r.Stop = limit
	}
	return matched, false
}

// decoded returns the string at a location, without a copy where possible.
func (c *compiler) decoded(at rawjson.Node) []byte {
	raw := c.doc.Raw(at)
	return plainName(raw[1 : len(raw)-1])
}

// plainName unescapes the inside of a JSON string.
func plainName(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') >= 0 {
		return rawjson.AppendUnescaped(nil, raw)
	}
	return raw
}

// format compiles the keyword format, which is only checked with
// Options.AssertFormat. The library defines the formats; unknown ones pass.
func (b *builder) format(m rawjson.Node) {
	if !b.kind(m, rawjson.String, "a string") || !b.c.o.AssertFormat {
		return
	}
	e := b.exact()
	e.name = b.c.doc.Str(m)
	e.format = b.c.formatNamed(e.name)
}

// formatNamed returns a schema that checks one format.
func (c *compiler) formatNamed(name string) *jsonschema.Schema {
	if s, ok := c.formats[name]; ok {
		return s
	}
	if c.formats == nil {
		c.formats = map[string]*jsonschema.Schema{}
	}
	lib := jsonschema.NewCompiler()
	lib.DefaultDraft(jsonschema.Draft2020)
	lib.UseLoader(noLoader{})
	lib.AssertFormat()
	var s *jsonschema.Schema
	if err := lib.AddResource(base, map[string]any{"format": name}); err == nil {
		s, err = lib.Compile(base)
		if err != nil {
			s = nil
		}
	}
	c.formats[name] = s
	return s
}

// hasCommonFormat reports whether a string certainly has a format. It saves ordinary
// values of the common formats a call of the library.
func hasCommonFormat(format string, s []byte) bool {
	switch format {
	case "uuid":
		return matchesTemplate(s, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx")
	case "date":
		return matchesTemplate(s, "dddd-dd-dd") && plainDate(s)
	case "date-time":
		return len(s) >= 20 && matchesTemplate(s[:20], "dddd-dd-ddTdd:dd:dd.") && plainDate(s) && plainTime(s)
	}
	return false
}

// matchesTemplate matches a string with a template: x is a hexadecimal digit, d a decimal
// one; a dot is a dot or Z.
func matchesTemplate(s []byte, template string) bool {
	if len(s) != len(template) {
		return false
	}
	for i, c := range s {
		ok := c == template[i]
		switch template[i] {
		case 'x':
			ok = strings.IndexByte("0123456789abcdefABCDEF", c) >= 0
		case 'd':
			ok = c-'0' <= 9
		case '.':
			ok = c == '.' || c == 'Z'
		}
		if !ok {
			return false
		}
	}
	return true
}

// plainDate accepts days up to the 28th, which every month has.
func plainDate(s []byte) bool {
	month, day := two(s[5:]), two(s[8:])
	return month >= 1 && month <= 12 && day >= 1 && day <= 28
}

// plainTime accepts times in UTC without leap seconds.
func plainTime(s []byte) bool {
	if two(s[11:]) > 23 || two(s[14:]) > 59 || two(s[17:]) > 59 {
		return false
	}
	if s[19] == 'Z' {
		return len(s) == 20
	}
	rest := s[20:]
	n := rawjson.SkipDigits(rest, 0)
	return n > 0 && len(rest) == n+1 && rest[n] == 'Z'
}

func two(s []byte) int { return int(s[0]-'0')*10 + int(s[1]-'0') }
