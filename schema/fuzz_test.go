package schema_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

// FuzzValidate: on every schema and value the library and we agree about what
// compiles, about the verdict and about the locations that are wrong. A third
// input that is not empty is turned into a schema and a value, which reaches
// deeper than what mutation makes of text. The seeds are our own cases and,
// where it is at hand, the official suite.
func FuzzValidate(f *testing.F) {
	for _, c := range agreeCases() {
		var values []json.RawMessage
		if err := json.Unmarshal([]byte(c.values), &values); err != nil {
			f.Fatal(err)
		}
		for _, v := range values {
			f.Add([]byte(c.doc), []byte(v), []byte(nil))
		}
	}
	for _, file := range suiteFiles(f) {
		for _, g := range readSuite(f, file) {
			last := g.Tests[len(g.Tests)-1] // one of each group: TestSuite runs them all
			f.Add([]byte(g.Schema), []byte(last.Data), []byte(nil))
		}
	}
	for i := range 40 {
		f.Add([]byte(nil), []byte(nil), []byte(strings.Repeat(strconv.Itoa(i*7919), 20)))
	}
	f.Fuzz(func(t *testing.T, doc, value, seed []byte) {
		if len(seed) > 0 {
			g := grower{seed: seed}
			doc = g.schema(nil, 0)
			for range 4 {
				value = g.value(nil, 0)
				agree(t, doc, value)
			}
			return
		}
		if usable(doc) && usable(value) && !dangling(doc) {
			agree(t, doc, value)
		}
	})
}

// usable keeps mutated input away from what the library cannot do: other JSON
// than ours, exponents that it writes out, patterns of other engines, drafts
// that we do not read, format, and ids.
func usable(b []byte) bool {
	if len(b) > 1000 || rawjson.Check(b) != nil {
		return false
	}
	s := string(b)
	for _, odd := range []string{"e+", "e-", "E", "e1", "e2", "e3", "e4", "e5", "e6", "e7", "e8", "e9", "attern", "$schema", "$id", "u0", "ynamic", "ecursive", "dependencies", "definitions", "$vocabulary", "ength\":"} {
		if strings.Contains(s, odd) {
			return false
		}
	}
	return true
}

// dangling reports whether a reference cannot be resolved. The library does not
// mind where nothing leads to the reference.
func dangling(doc []byte) bool {
	_, err := schema.Compile(doc, schema.Options{})
	return err != nil && strings.Contains(err.Error(), "cannot be resolved")
}

// FuzzCompile: compiling any bytes ends with a schema or an error, and a
// schema can be used.
func FuzzCompile(f *testing.F) {
	for _, c := range agreeCases() {
		f.Add([]byte(c.doc), []byte(c.values))
	}
	f.Add([]byte(`{}`), []byte(`[9E4740993]`)) // beyond a double
	f.Fuzz(func(t *testing.T, doc, value []byte) {
		s, err := schema.Compile(doc, schema.Options{AssertFormat: len(doc)%2 == 0})
		if err != nil {
			return
		}
		found := s.Validate(value)
		unread := len(found) == 1 && (found[0].Keyword == "syntax" || found[0].Keyword == "range")
		if err := rawjson.Check(value); (err != nil) != unread {
			t.Fatalf("strict JSON: %v, violations %v\nschema %s\nvalue %q", err, found, doc, value)
		}
		if again := s.Validate(value); len(again) != len(found) {
			t.Fatalf("first %v, then %v", found, again)
		}
	})
}

// grower makes schemas and values out of bytes.
type grower struct {
	seed []byte
	at   int
}

// pick returns a number below n; zero when the seed is used up.
func (g *grower) pick(n int) int {
	if g.at >= len(g.seed) {
		return 0
	}
	g.at++
	return int(g.seed[g.at-1]) % n
}

func one[T any](g *grower, list ...T) T { return list[g.pick(len(list))] }

func (g *grower) name() string {
	return one(g, `"a"`, `"b"`, `"c"`, `"a"`, `"ab"`, `"a/b"`, `"~"`, `"\u0061"`, `"é"`, `"\u00e9"`, `""`)
}

func (g *grower) number() string {
	return one(g, "0", "1", "2", "-1", "1.0", "1.5", "10", "3e0", "1E2", "0.1e1", "0.01", "25e-1", "-0", "100", "9007199254740993",
		"12345678901234567890123", "12345678901234567890123.5", "-2.50", "1e-7", "6")
}

func (g *grower) text() string {
	return one(g, `""`, `"a"`, `"b"`, `"ab"`, `"\u0061"`, `"é"`, `"abc"`, `"\ud83d\ude00"`, `"😀b"`, `"\n\t"`, `"1"`, `"longer than the others"`)
}

func (g *grower) value(b []byte, depth int) []byte {
	kinds := 8
	if depth > 3 {
		kinds = 5
	}
	switch g.pick(kinds) {
	case 0:
		return append(b, one(g, "null", "true", "false")...)
	case 1, 2:
		return append(b, g.number()...)
	case 3, 4:
		return append(b, g.text()...)
	case 5:
		b = append(b, '[')
		for i := range g.pick(5) {
			if i > 0 {
				b = append(b, ',')
			}
			b = g.value(b, depth+1)
		}
		return append(b, ']')
	}
	names := g.names(5)
	b = append(b, one(g, "{", "{ ", "{\n")...)
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, name...), one(g, ":", " : ")...)
		b = g.value(b, depth+1)
	}
	return append(b, one(g, "}", " }", "\t}")...)
}

// names returns different names.
func (g *grower) names(limit int) []string {
	var names []string
	seen := map[string]bool{}
	for range g.pick(limit) {
		name := g.name()
		var plain string
		if json.Unmarshal([]byte(name), &plain) == nil && !seen[plain] {
			seen[plain] = true
			names = append(names, name)
		}
	}
	return names
}

func (g *grower) schema(b []byte, depth int) []byte {
	if depth > 4 {
		return append(b, one(g, "true", `{"type":"integer"}`, `{"type":"string"}`, "false", "{}")...)
	}
	switch g.pick(12) {
	case 0:
		return append(b, one(g, "true", "false", "{}")...)
	case 1:
		return append(append(append(b, `{"type":`...), g.types()...), '}')
	}
	b = append(b, '{')
	seen := map[string]bool{}
	for range 1 + g.pick(4) {
		key := one(g, grownKeywords()...)
		if seen[key] {
			continue
		}
		if len(seen) > 0 {
			b = append(b, ',')
		}
		seen[key] = true
		b = append(append(b, '"'), key...)
		b = g.keyword(append(b, `":`...), key, depth)
	}
	if depth == 0 {
		b = append(b, `,"$defs":{"d":`...)
		b = g.schema(b, 2)
		b = append(b, `,"e":`...)
		b = append(g.schema(b, 2), '}')
	}
	return append(b, '}')
}

func grownKeywords() []string {
	return []string{
		"type", "properties", "required", "items", "anyOf", "oneOf", "allOf", "not", "additionalProperties", "$ref",
		"enum", "const", "minLength", "maxLength", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
		"multipleOf", "minItems", "maxItems", "uniqueItems", "prefixItems", "patternProperties", "propertyNames", "minProperties",
		"maxProperties", "if", "then", "else", "properties", "items", "type", "contains", "dependentRequired", "unevaluatedProperties",
	}
}

func (g *grower) types() string {
	return one(g, `"object"`, `"array"`, `"string"`, `"integer"`, `"number"`, `"null"`, `"boolean"`, `["string","null"]`,
		`["object","integer"]`, `["array","null","number"]`, `["integer","string"]`)
}

func (g *grower) keyword(b []byte, key string, depth int) []byte {
	switch key {
	case "type":
		return append(b, g.types()...)
	case "$ref":
		return append(b, one(g, `"#/$defs/d"`, `"#/$defs/e"`, `"#"`, `"#/$defs/d"`)...)
	case "properties", "patternProperties":
		return g.schemas(b, key, depth)
	case "required":
		return g.list(b, g.names(4))
	case "dependentRequired":
		return append(g.list(append(b, `{"a":`...), g.names(3)), '}')
	case "anyOf", "oneOf", "allOf", "prefixItems":
		b = append(b, '[')
		for i := range 1 + g.pick(3) {
			if i > 0 {
				b = append(b, ',')
			}
			b = g.schema(b, depth+1)
		}
		return append(b, ']')
	case "enum":
		values := make([]string, one(g, 1, 2, 3, 12))
		for i := range values {
			values[i] = string(g.value(nil, 2))
		}
		return g.list(b, values)
	case "const":
		return g.value(b, 2)
	case "pattern":
		return append(b, one(g, `"^a"`, `"b$"`, `"^.$"`, `"é"`, `"[0-9]"`)...)
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		return append(b, g.number()...)
	case "multipleOf":
		return append(b, one(g, "1", "2", "0.01", "2.5", "1e-7", "3", "123456789012345678901234")...)
	case "uniqueItems":
		return append(b, one(g, "true", "true", "false")...)
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		return append(b, one(g, "1", "0", "2", "3", "2.0")...)
	}
	return g.schema(b, depth+1)
}

func (g *grower) schemas(b []byte, key string, depth int) []byte {
	b = append(b, '{')
	names := g.names(5)
	if key == "patternProperties" {
		names = []string{one(g, `"^a"`, `"b"`, `"^$"`), `"é|~"`}
	}
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, name...), ':')
		b = g.schema(b, depth+1)
	}
	return append(b, '}')
}

func (g *grower) list(b []byte, values []string) []byte {
	return append(append(append(b, '['), strings.Join(values, ",")...), ']')
}
