package sample

import (
	"bytes"
	"math"
	"net/url"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

// Bounds of a sample.
const (
	sampleDepth = 12     // nesting
	sampleWide  = 4      // nesting up to which lists have an item and objects optional members
	sampleSteps = 20_000 // visited schemas
	sampleFew   = 3      // optional members of an object without required ones
)

// Of makes a value that is valid against s, the same on every call: what
// the schema names (const, examples, default, enum), else the simplest of its
// type. ok is false where none was found; a returned value is valid.
func Of(s *schema.Schema) (value []byte, ok bool) {
	doc, err := rawjson.Parse(s.Doc())
	if err != nil {
		return nil, false // unreachable: it was compiled
	}
	for _, named := range []bool{true, false} { // the values in a schema may violate it
		g := sampler{doc: doc, named: named, steps: sampleSteps}
		value, ok := g.value(nil, []rawjson.Node{doc.Root()}, 0)
		if ok && len(s.Validate(value)) == 0 {
			return value, true
		}
	}
	return nil, false
}

// sampler makes values for the schemas of one document.
type sampler struct {
	doc   *rawjson.Doc
	named bool
	steps int
}

// value appends a value that is valid against all schemas.
func (g *sampler) value(dst []byte, schemas []rawjson.Node, depth int) ([]byte, bool) {
	if depth > sampleDepth {
		return nil, false
	}
	var all []rawjson.Node
	for _, n := range schemas {
		all = g.gather(all, n, 0)
	}
	if g.steps -= len(all); g.steps < 0 {
		return nil, false
	}
	if v := g.given(all); v != nil {
		return append(dst, v...), true
	}
	switch g.kind(all) {
	case "object":
		return g.object(dst, all, depth)
	case "array":
		return g.array(dst, all, depth)
	case "string":
		text, ok := g.text(all)
		return rawjson.AppendString(dst, text), ok
	case "integer", "number":
		return g.number(dst, all), true
	case "boolean":
		return append(dst, "true"...), true
	case "null":
		return append(dst, "null"...), true
	case "":
		return nil, false
	}
	return append(dst, `"text"`...), true
}

// gather adds n and what applies with it: the target of its reference, the
// members of allOf and one branch of a union.
func (g *sampler) gather(all []rawjson.Node, n rawjson.Node, depth int) []rawjson.Node {
	if g.steps--; depth > 32 || g.steps < 0 || slices.Contains(all, n) {
		return all
	}
	all = append(all, n)
	if ref := g.doc.Str(g.doc.Get(n, "$ref")); len(ref) > 0 && ref[0] == '#' {
		if pointer, err := url.PathUnescape(ref[1:]); err == nil {
			all = g.gather(all, g.doc.Pointer(pointer), depth+1)
		}
	}
	list := g.doc.Get(n, "allOf")
	for c := g.doc.First(list); c != rawjson.None; c = g.doc.Next(c) {
		all = g.gather(all, c, depth+1)
	}
	for _, union := range []string{"anyOf", "oneOf"} {
		if c := g.branch(all, g.doc.Get(n, union)); c != rawjson.None {
			all = g.gather(all, c, depth+1)
		}
	}
	return all
}

// branch returns the first branch of a union that is compatible with the other
// schemas, preferring one that is not null.
func (g *sampler) branch(all []rawjson.Node, union rawjson.Node) rawjson.Node {
	null := rawjson.None
	for c := g.doc.First(union); c != rawjson.None; c = g.doc.Next(c) {
		switch kind := g.kind(append(slices.Clip(all), g.gather(nil, c, 16)...)); {
		case kind == "null" && null == rawjson.None:
			null = c
		case kind != "" && kind != "null":
			return c
		}
	}
	return null
}

// given returns a value that the schemas name.
func (g *sampler) given(all []rawjson.Node) []byte {
	for _, n := range all {
		if c := g.doc.Get(n, "const"); c != rawjson.None {
			return g.doc.Raw(c)
		}
	}
	if g.named {
		for _, n := range all {
			if c := g.doc.First(g.doc.Get(n, "examples")); c != rawjson.None {
				return g.doc.Raw(c)
			}
			if c := g.doc.Get(n, "default"); c != rawjson.None {
				return g.doc.Raw(c)
			}
		}
	}
	for _, n := range all {
		if c := g.doc.First(g.doc.Get(n, "enum")); c != rawjson.None {
			return g.doc.Raw(c)
		}
	}
	return nil
}

// kind returns the type that all schemas allow, the most specific one first:
// "any" where none has a type, empty where they exclude each other.
func (g *sampler) kind(all []rawjson.Node) string {
	kinds := []string{"object", "array", "string", "integer", "number", "boolean", "null"}
	said := false
	for _, n := range all {
		if t := g.doc.Get(n, "type"); t != rawjson.None {
			said = true
			kinds = slices.DeleteFunc(kinds, func(k string) bool { return !g.admits(t, k) })
		}
	}
	switch {
	case len(kinds) == 0:
		return ""
	case said:
		return kinds[0]
	}
	for _, n := range all {
		if g.doc.Get(n, "properties") != rawjson.None || g.doc.Get(n, "required") != rawjson.None {
			return "object"
		}
		if g.doc.Get(n, "items") != rawjson.None {
			return "array"
		}
	}
	return "any"
}

func (g *sampler) admits(t rawjson.Node, kind string) bool {
	if g.doc.Kind(t) != rawjson.Array {
		return g.doc.IsStr(t, kind) || kind == "integer" && g.doc.IsStr(t, "number")
	}
	for c := g.doc.First(t); c != rawjson.None; c = g.doc.Next(c) {
		if g.doc.IsStr(c, kind) || kind == "integer" && g.doc.IsStr(c, "number") {
			return true
		}
	}
	return false
}

// object writes the required members, and a few others where none is required
// and the nesting is low.
func (g *sampler) object(dst []byte, all []rawjson.Node, depth int) ([]byte, bool) {
	required := g.required(all)
	names := slices.Clone(required)
	if len(names) == 0 && depth < sampleWide {
		for _, n := range all {
			props := g.doc.Get(n, "properties")
			for c := g.doc.First(props); c != rawjson.None && len(names) < sampleFew; c = g.doc.Next(c) {
				if name := g.doc.Key(c); !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	dst = append(dst, '{')
	empty := len(dst)
	for _, name := range names {
		before := len(dst)
		if before > empty {
			dst = append(dst, ',')
		}
		dst = append(rawjson.AppendString(dst, name), ':')
		with, ok := g.value(dst, g.member(all, name), depth+1)
		switch {
		case ok:
			dst = with
		case slices.Contains(required, name):
			return nil, false
		default:
			dst = dst[:before]
		}
	}
	return append(dst, '}'), true
}

func (g *sampler) required(all []rawjson.Node) []string {
	var names []string
	for _, n := range all {
		list := g.doc.Get(n, "required")
		for c := g.doc.First(list); c != rawjson.None; c = g.doc.Next(c) {
			if name := g.doc.Str(c); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// member returns the schemas of a member.
func (g *sampler) member(all []rawjson.Node, name string) []rawjson.Node {
	var list []rawjson.Node
	for _, n := range all {
		if c := g.doc.Get(g.doc.Get(n, "properties"), name); c != rawjson.None {
			list = append(list, c)
		} else if c := g.doc.Get(n, "additionalProperties"); g.doc.Kind(c) == rawjson.Object {
			list = append(list, c)
		}
	}
	return list
}

func (g *sampler) array(dst []byte, all []rawjson.Node, depth int) ([]byte, bool) {
	var prefix, items []rawjson.Node
	least, most := int(g.most(all, "minItems", 0)), int(g.least(all, "maxItems", 1<<20))
	for _, n := range all {
		for c := g.doc.First(g.doc.Get(n, "prefixItems")); c != rawjson.None; c = g.doc.Next(c) {
			prefix = append(prefix, c)
		}
		if c := g.doc.Get(n, "items"); g.doc.Kind(c) == rawjson.Object {
			items = append(items, c)
		}
	}
	count := max(least, len(prefix))
	if count == 0 && len(items) > 0 && depth < sampleWide && most > 0 {
		count = 1
	}
	dst = append(dst, '[')
	empty := len(dst)
	for i := range min(count, 1000) {
		schemas := items
		if i < len(prefix) {
			schemas = prefix[i : i+1]
		}
		before := dst
		if len(dst) > empty {
			dst = append(dst, ',')
		}
		with, ok := g.value(dst, schemas, depth+1)
		if !ok && i < least {
			return nil, false
		}
		if dst = with; !ok {
			dst = before
		}
	}
	return append(dst, ']'), true
}

// most and least combine a bound of all schemas.
func (g *sampler) most(all []rawjson.Node, keyword string, bound float64) float64 {
	for _, n := range all {
		if v, err := strconv.ParseFloat(string(bytes.TrimSpace(g.doc.Raw(g.doc.Get(n, keyword)))), 64); err == nil {
			bound = max(bound, v)
		}
	}
	return bound
}

func (g *sampler) least(all []rawjson.Node, keyword string, bound float64) float64 {
	for _, n := range all {
		if v, err := strconv.ParseFloat(string(bytes.TrimSpace(g.doc.Raw(g.doc.Get(n, keyword)))), 64); err == nil {
			bound = min(bound, v)
		}
	}
	return bound
}

// sampleOf returns a string of a format.
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

// text makes a string of the right length, pattern or format.
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

// appendMatch appends a short text that an expression matches. With assertions
// the text may not match; the whole value is validated at the end.
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

// number appends a number within the bounds: 1 where they allow it.
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
