package schema

import (
	"bytes"
	"regexp"
	"regexp/syntax"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

const (
	// maxPattern bounds a pattern, counted in instructions and ranges of
	// characters: few bytes can ask for very many.
	maxPattern = 20_000
	// maxPatterns bounds all patterns of a document.
	maxPatterns = 2_000_000
)

// matcher is a pattern that can be run.
type matcher struct {
	re   *regexp.Regexp
	cost int // of a byte that is matched
}

// matcher compiles a pattern. It answers nil if RE2 cannot run it or only at
// a price that no document may ask for; the pattern is not checked then.
func (c *compiler) matcher(pattern []byte) *matcher {
	text := string(pattern)
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil { // what is published in another way is checked in that way
		if text, _ = portablePattern(text); text == "" {
			return nil
		}
		if tree, err = syntax.Parse(text, syntax.Perl); err != nil {
			return nil
		}
	}
	size := extent(tree)
	if c.patterns += size; size > maxPattern || c.patterns > maxPatterns {
		return nil
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil
	}
	return &matcher{re, 1 + size/16}
}

// extent estimates the size of a compiled pattern.
func extent(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		n = min(n+extent(sub), 2*maxPatterns)
	}
	if re.Op == syntax.OpRepeat {
		n = min(n*max(re.Min, re.Max, 1), 2*maxPatterns)
	}
	return n
}

func (b *builder) pattern(m rawjson.Node) {
	if !b.kind(m, rawjson.String, "a string") {
		return
	}
	match := b.c.matcher(b.c.decoded(m))
	if match == nil {
		b.n.loose = true
		b.c.edits = append(b.c.edits, edit{at: m})
		return
	}
	b.text().pattern = match
}

func (b *builder) patterns(m rawjson.Node) {
	if !b.kind(m, rawjson.Object, "an object of schemas") {
		return
	}
	for e := b.c.doc.First(m); e != rawjson.None; e = b.c.doc.Next(e) {
		n := b.c.schema(e)
		match := b.c.matcher(plainName(b.c.doc.RawKey(e)))
		if match == nil {
			b.lost, b.n.loose = true, true
			b.c.edits = append(b.c.edits, edit{e, true})
			continue
		}
		b.object().patterns = append(b.object().patterns, patternRule{match, n})
	}
}

// run matches text at its price.
func (m *matcher) run(r *run, text []byte) bool {
	if r.left -= len(text) * m.cost; r.left < 0 {
		r.stop = limit
		return false
	}
	return m.re.Match(text)
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
