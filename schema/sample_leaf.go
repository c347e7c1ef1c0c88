package schema

import (
	"math"
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// sampleOf is a string of each format.
func sampleOf(format string) string {
	switch format {
	case "date-time":
		return "2026-01-31T12:00:00Z"
	case "date":
		return "2026-01-31"
	case "time":
		return "12:00:00Z"
	case "duration":
		return "P1D"
	case "email", "idn-email":
		return "someone@example.com"
	case "uri", "uri-reference", "iri", "iri-reference", "url":
		return "https://example.com/"
	case "hostname", "idn-hostname":
		return "example.com"
	case "ipv4":
		return "192.0.2.1"
	case "ipv6":
		return "2001:db8::1"
	case "uuid":
		return "00000000-0000-4000-8000-000000000000"
	case "json-pointer":
		return "/a"
	}
	return "text"
}

// text makes a string of the right length, form or format.
func (g *sampler) text(all []rawjson.Node) (string, bool) {
	shortest, longest := int(g.most(all, "minLength", 0)), int(g.least(all, "maxLength", 1<<20))
	text, fixed := "text", false
	for _, n := range all {
		if f := g.doc.Str(g.doc.Get(n, "format")); f != "" {
			text = sampleOf(f)
			fixed = fixed || text != "text"
		}
	}
	for _, n := range all {
		if p := g.doc.Get(n, "pattern"); p != rawjson.None {
			re, err := syntax.Parse(g.doc.Str(p), syntax.Perl)
			if err != nil {
				return "", false
			}
			var b strings.Builder
			appendMatch(&b, re.Simplify())
			text, fixed = b.String(), true
		}
	}
	if fixed || shortest > 1<<16 {
		return text, shortest <= 1<<16
	}
	text += strings.Repeat("x", max(0, shortest-len(text)))
	return text[:min(len(text), max(longest, 0))], true
}

// appendMatch writes a short text that an expression matches. Where it looks
// around itself the text may not match; the whole value is checked at the end.
func appendMatch(b *strings.Builder, re *syntax.Regexp) {
	switch re.Op { //nolint:exhaustive // the others match the empty text or nothing
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		b.WriteRune(firstPrintable(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('x')
	case syntax.OpCapture, syntax.OpPlus, syntax.OpConcat:
		for _, sub := range re.Sub {
			appendMatch(b, sub)
		}
	case syntax.OpAlternate:
		appendMatch(b, re.Sub[0])
	case syntax.OpRepeat:
		for range min(re.Min, 1000) {
			appendMatch(b, re.Sub[0])
		}
	}
}

// firstPrintable returns a rune of a class, a letter or digit if there is one.
func firstPrintable(ranges []rune) rune {
	for _, want := range []rune{'a', 'A', '0', '_', '!'} {
		for i := 0; i+1 < len(ranges); i += 2 {
			if lo, hi := max(ranges[i], want), ranges[i+1]; lo <= hi && lo < want+26 {
				return lo
			}
		}
	}
	if len(ranges) == 0 {
		return 'x'
	}
	return ranges[0]
}

// number appends a number within the bounds: 1 where they let it pass.
func (g *sampler) number(dst []byte, all []rawjson.Node) []byte {
	const far = 1e15
	step := g.most(all, "multipleOf", 0)
	above, below := g.most(all, "exclusiveMinimum", -far), g.least(all, "exclusiveMaximum", far)
	low, high := g.most(all, "minimum", above), g.least(all, "maximum", below)
	v := min(max(1, math.Ceil(low)), math.Floor(high))
	if step > 0 {
		v = math.Ceil(v/step) * step
	}
	for _, try := range []float64{v, v + max(step, 1), v - max(step, 1), (low + high) / 2} {
		if v = try; v >= low && v <= high && v > above && v < below {
			break
		}
	}
	return strconv.AppendFloat(dst, v, 'f', -1, 64)
}
