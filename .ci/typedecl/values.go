package main

import (
	"fmt"
	"math/rand"
	"net/url"
	"slices"
	"strconv"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
	"github.com/tenon-mcp/tenon/schema/sample"
)

// Bounds of a value.
const (
	deepest = 10
	longest = 20_000 // bytes
)

// valuesOf makes values that a schema accepts: the sample, and random ones.
func valuesOf(s *schema.Schema, most int, seed int64) (all [][]byte) {
	if v, ok := sample.Of(s); ok && len(v) <= longest {
		all = append(all, v)
	}
	doc, err := rawjson.Parse(s.Doc())
	if err != nil {
		return all
	}
	for try := int64(0); len(all) < most && try < 8; try++ {
		g := generator{doc: doc, random: rand.New(rand.NewSource(seed*100 + try)), steps: 3000} //nolint:gosec // the same values in each run
		v, ok := g.value(nil, []rawjson.Node{doc.Root()}, 0)
		if ok && len(v) <= longest && len(s.Validate(v)) == 0 {
			all = append(all, v)
		}
	}
	return all
}

// generator makes random values.
type generator struct {
	doc    *rawjson.Doc
	random *rand.Rand
	steps  int
}

func (g *generator) value(dst []byte, schemas []rawjson.Node, depth int) ([]byte, bool) {
	var all []rawjson.Node
	for _, n := range schemas {
		all = g.gather(all, n, 0)
	}
	if g.steps -= len(all) + 1; g.steps < 0 || depth > deepest {
		return dst, false
	}
	for _, n := range all {
		if c := g.doc.Get(n, "const"); c != rawjson.None {
			return append(dst, g.doc.Raw(c)...), true
		}
	}
	for _, n := range all {
		if e := g.doc.Get(n, "enum"); g.doc.Len(e) > 0 {
			c := g.doc.First(e)
			for range g.random.Intn(g.doc.Len(e)) {
				c = g.doc.Next(c)
			}
			return append(dst, g.doc.Raw(c)...), true
		}
	}
	switch g.kind(all) {
	case "object":
		return g.object(dst, all, depth)
	case "array":
		return g.array(dst, all, depth)
	case "integer":
		return strconv.AppendInt(dst, int64(g.random.Intn(100)), 10), true
	case "number":
		return append(dst, "1.5"...), true
	case "boolean":
		return strconv.AppendBool(dst, g.random.Intn(2) == 0), true
	case "null":
		return append(dst, "null"...), true
	case "string":
		return rawjson.AppendString(dst, g.text(all)), true
	}
	return dst, false
}

func (g *generator) text(all []rawjson.Node) string {
	for _, n := range all {
		switch g.doc.Str(g.doc.Get(n, "format")) {
		case "date-time":
			return "2026-01-31T12:00:00Z"
		case "date":
			return "2026-01-31"
		case "uri":
			return "https://example.com/"
		}
	}
	return "t" + strconv.Itoa(g.random.Intn(100))
}

// gather adds n and what applies with it: references, allOf, one branch of unions.
func (g *generator) gather(all []rawjson.Node, n rawjson.Node, depth int) []rawjson.Node {
	if depth > 20 || slices.Contains(all, n) {
		return all
	}
	all = append(all, n)
	if ref := follow(g.doc, n); ref != rawjson.None {
		all = g.gather(all, ref, depth+1)
	}
	list := g.doc.Get(n, "allOf")
	for c := g.doc.First(list); c != rawjson.None; c = g.doc.Next(c) {
		all = g.gather(all, c, depth+1)
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		union := g.doc.Get(n, keyword)
		if g.doc.Len(union) == 0 {
			continue
		}
		c := g.doc.First(union)
		for range g.random.Intn(g.doc.Len(union)) {
			c = g.doc.Next(c)
		}
		all = g.gather(all, c, depth+1)
	}
	return all
}

// follow is the target of a schema's reference.
func follow(doc *rawjson.Doc, n rawjson.Node) rawjson.Node {
	ref := doc.Str(doc.Get(n, "$ref"))
	if len(ref) < 2 {
		return rawjson.None
	}
	pointer, err := url.PathUnescape(ref[1:])
	if err != nil {
		return rawjson.None
	}
	return doc.Pointer(pointer)
}

// kind is one of the types that all schemas allow; any where none names a type.
func (g *generator) kind(all []rawjson.Node) string {
	kinds := []string{"object", "array", "string", "integer", "number", "boolean", "null"}
	for _, n := range all {
		t := g.doc.Get(n, "type")
		if t == rawjson.None {
			continue
		}
		kinds = slices.DeleteFunc(kinds, func(k string) bool {
			if g.doc.Kind(t) != rawjson.Array {
				return !g.doc.IsStr(t, k)
			}
			for c := g.doc.First(t); c != rawjson.None; c = g.doc.Next(c) {
				if g.doc.IsStr(c, k) {
					return false
				}
			}
			return true
		})
	}
	if len(kinds) == 0 {
		return ""
	}
	return kinds[g.random.Intn(len(kinds))]
}

func (g *generator) object(dst []byte, all []rawjson.Node, depth int) ([]byte, bool) {
	var names []string
	required := map[string]bool{}
	for _, n := range all {
		list := g.doc.Get(n, "required")
		for c := g.doc.First(list); c != rawjson.None; c = g.doc.Next(c) {
			required[g.doc.Str(c)] = true
			names = append(names, g.doc.Str(c))
		}
	}
	for _, n := range all {
		props := g.doc.Get(n, "properties")
		for c := g.doc.First(props); c != rawjson.None; c = g.doc.Next(c) {
			if depth < 5 && g.random.Intn(2) == 0 {
				names = append(names, g.doc.Key(c))
			}
		}
		if g.doc.Kind(g.doc.Get(n, "additionalProperties")) == rawjson.Object && g.random.Intn(2) == 0 {
			names = append(names, "x-other")
		}
	}
	dst = append(dst, '{')
	empty, seen := len(dst), map[string]bool{}
	for _, name := range names {
		if seen[name] {
			continue
		}
		seen[name] = true
		before := len(dst)
		if before > empty {
			dst = append(dst, ',')
		}
		dst = append(rawjson.AppendString(dst, name), ':')
		var ok bool
		if dst, ok = g.value(dst, g.member(all, name), depth+1); !ok {
			if required[name] {
				return dst, false
			}
			dst = dst[:before]
		}
	}
	return append(dst, '}'), true
}

func (g *generator) member(all []rawjson.Node, name string) (schemas []rawjson.Node) {
	for _, n := range all {
		if c := g.doc.Get(g.doc.Get(n, "properties"), name); c != rawjson.None {
			schemas = append(schemas, c)
		} else if c := g.doc.Get(n, "additionalProperties"); g.doc.Kind(c) == rawjson.Object {
			schemas = append(schemas, c)
		}
	}
	return schemas
}

func (g *generator) array(dst []byte, all []rawjson.Node, depth int) ([]byte, bool) {
	var items []rawjson.Node
	least := 0
	for _, n := range all {
		if c := g.doc.Get(n, "items"); c != rawjson.None {
			items = append(items, c)
		}
		if v, err := strconv.Atoi(string(g.doc.Raw(g.doc.Get(n, "minItems")))); err == nil {
			least = max(least, v)
		}
	}
	dst = append(dst, '[')
	for i := range least + g.random.Intn(3) {
		before := len(dst)
		if i > 0 {
			dst = append(dst, ',')
		}
		var ok bool
		if dst, ok = g.value(dst, items, depth+1); !ok {
			return append(dst[:before], ']'), i >= least
		}
	}
	return append(dst, ']'), true
}

// brokenOf makes values that a schema refuses, broken at a place where it names one
// type and nothing else about it: a value of another type, or a member that is
// required and missing. Every language can say that.
func brokenOf(s *schema.Schema, most int, seed int64) (all [][]byte) {
	doc, err := rawjson.Parse(s.Doc())
	if err != nil {
		return nil
	}
	random := rand.New(rand.NewSource(seed)) //nolint:gosec // the same values in each run
	for _, v := range valuesOf(s, most, seed) {
		value, err := rawjson.Parse(v)
		if err != nil {
			continue
		}
		b := breaker{schema: doc, value: value}
		b.look(doc.Root(), value.Root(), 0)
		random.Shuffle(len(b.broken), func(i, k int) { b.broken[i], b.broken[k] = b.broken[k], b.broken[i] })
		for _, one := range b.broken[:min(len(b.broken), most)] {
			if len(s.Validate(one)) == 0 {
				panic(fmt.Sprintf("%s is not broken by %s", one, s.Doc()))
			}
			all = append(all, one)
		}
	}
	return all
}

// breaker looks for such places.
type breaker struct {
	schema, value *rawjson.Doc
	broken        [][]byte
}

// around are keywords beside which a place is not looked at.
var around = []string{"$ref", "$dynamicRef", "anyOf", "oneOf", "allOf", "not", "if", "const", "enum", "patternProperties", "prefixItems", "dependentSchemas", "unevaluatedProperties"}

func (b *breaker) look(n, v rawjson.Node, depth int) {
	for range 8 {
		if b.schema.Get(n, "$ref") == rawjson.None {
			break
		}
		for m := b.schema.First(n); m != rawjson.None; m = b.schema.Next(m) {
			if !slices.Contains([]string{"$ref", "description", "title", "default", "examples", "deprecated", "$defs"}, b.schema.Key(m)) {
				return
			}
		}
		n = follow(b.schema, n)
	}
	if depth > deepest || slices.ContainsFunc(around, func(k string) bool { return b.schema.Get(n, k) != rawjson.None }) {
		return
	}
	kind := b.schema.Str(b.schema.Get(n, "type"))
	other := map[string]string{"object": "7", "array": "7", "string": "7", "integer": `"x"`, "number": `"x"`, "boolean": `"x"`, "null": `"x"`}[kind]
	if other == "" {
		return
	}
	b.replace(v, other)
	switch b.value.Kind(v) {
	case rawjson.Array:
		if c := b.value.First(v); c != rawjson.None {
			b.look(b.schema.Get(n, "items"), c, depth+1)
		}
	case rawjson.Object:
		list := b.schema.Get(n, "required")
		for r := b.schema.First(list); r != rawjson.None; r = b.schema.Next(r) {
			b.without(v, b.schema.Str(r))
		}
		if b.schema.Kind(b.schema.Get(n, "additionalProperties")) == rawjson.Object || b.schema.IsTrue(b.schema.Get(n, "additionalProperties")) {
			return // then TypeScript lets members be what the others are
		}
		for c := b.value.First(v); c != rawjson.None; c = b.value.Next(c) {
			if declared := b.schema.Get(b.schema.Get(n, "properties"), b.value.Key(c)); declared != rawjson.None {
				b.look(declared, c, depth+1)
			}
		}
	default:
	}
}

// replace adds the value with text at v.
func (b *breaker) replace(v rawjson.Node, text string) {
	all := b.value.Source()
	at, end := b.value.Offset(v), b.value.Offset(v)+len(b.value.Raw(v))
	b.broken = append(b.broken, slices.Concat(all[:at], []byte(text), all[end:]))
}

// without adds the value without a member of the object v.
func (b *breaker) without(v rawjson.Node, name string) {
	text := []byte{'{'}
	found := false
	for c := b.value.First(v); c != rawjson.None; c = b.value.Next(c) {
		if b.value.Key(c) == name {
			found = true
			continue
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(append(rawjson.AppendString(text, b.value.Key(c)), ':'), b.value.Raw(c)...)
	}
	if found {
		b.replace(v, string(append(text, '}')))
	}
}
