package schema_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon/schema"
	"github.com/tenon-mcp/tenon/schema/projection"
)

// For every schema S, value v that fits S and projection p: p(v) fits p(S). It is
// here because the documents are made by the generator of this package.
func TestProjectProperty(t *testing.T) {
	seen, checked, tighter := map[string]int{}, 0, 0
	// Half of the documents are too strict for any value that is tried: one
	// round of a hundred leaves a keyword out now and then.
	for range 4 {
		rapid.Check(t, func(t *rapid.T) { countProjection(t, seen, &checked, &tighter) })
	}
	t.Logf("%d values; the narrowed schema says something for %d", checked, tighter)
	var rare []string
	for _, k := range slices.Sorted(maps.Keys(seen)) {
		t.Logf("%5.1f %% %s", 100*float64(seen[k])/float64(checked), k)
	}
	for _, k := range projected() {
		if seen[k]*100 < checked {
			rare = append(rare, k)
		}
	}
	if len(rare) > 0 || tighter*2 < checked {
		t.Errorf("hardly tried: %v", rare)
	}
}

// countProjection tries one document and counts the values by the keywords that
// it has.
func countProjection(t *rapid.T, seen map[string]int, checked, tighter *int) {
	doc, n, says := projectionHolds(t)
	if says {
		*tighter += n
	}
	*checked += n
	for _, k := range projected() {
		if strings.Contains(doc, `"`+k+`":`) {
			seen[k] += n
		}
	}
}

// projected are the keywords that a projection deals with.
func projected() []string {
	return []string{
		"$ref", "$defs", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "prefixItems", "items", "contains",
		"properties", "patternProperties", "additionalProperties", "propertyNames", "unevaluatedItems", "unevaluatedProperties", "type", "enum", "const",
		"maximum", "exclusiveMinimum", "multipleOf", "maxLength", "minItems", "maxItems", "maxProperties", "minProperties", "uniqueItems", "pattern",
		"required", "dependentRequired", "minContains", "maxContains", "description", "format", "default",
	}
}

func FuzzProject(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { projectionHolds(t) }))
}

func projectionHolds(t *rapid.T) (doc string, checked int, says bool) {
	m := maker{T: t, named: rapid.IntRange(0, 9).Draw(t, "named") == 9}
	m.refs = []string{"#/$defs/A", "#/$defs/B", "#"}
	doc = m.document(fmt.Sprintf(`"properties":{"a":%s,"b":%s}`, m.schema(4), m.schema(2)))
	s, err := schema.Compile([]byte(doc), schema.Options{})
	if err != nil {
		return doc, 0, false
	}
	var paths []string
	for range rapid.IntRange(1, 3).Draw(t, "paths") {
		var tokens []string
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			tokens = append(tokens, m.pick("a", "b", "c", "a", "b", "*"))
		}
		paths = append(paths, strings.Join(tokens, "."))
	}
	p, err := projection.ParseProjection(paths...)
	if err != nil {
		t.Fatal(err)
	}
	narrow, err := p.AppendSchema(nil, []byte(doc))
	if unknown := (*projection.PathError)(nil); errors.As(err, &unknown) {
		return doc, 0, false
	} else if err != nil {
		t.Fatalf("%s by %v: %v", doc, paths, err)
	}
	ps, err := schema.Compile(narrow, schema.Options{})
	if err != nil {
		t.Fatalf("%s\nby %v became %s\nwhich does not compile: %v", doc, paths, narrow, err)
	}
	g := m.guided(doc, false)
	for range 8 {
		value := g.like(g.root, 6)
		if s.Validate([]byte(value)) != nil {
			continue
		}
		checked++
		part, err := p.AppendValue(nil, []byte(value))
		if err != nil {
			t.Fatal(err)
		}
		if bad := ps.Validate(part); bad != nil {
			t.Fatalf("%s\nby %v became %s\nand %s became %s\nwhich breaks %v", doc, paths, narrow, value, part, bad)
		}
	}
	return doc, checked, string(narrow) != "{}" && string(narrow) != "true"
}

// The same for the schemas of a real description.
func TestProjectGitHub(t *testing.T) {
	if raced {
		t.Skip("SKIPPED: 500 real schemas are projected without the race detector")
	}
	file := os.Getenv("TENON_OPENAPI_GITHUB")
	if file == "" {
		t.Skip("SKIPPED: 500 real schemas are not projected; TENON_OPENAPI_GITHUB names GitHub's OpenAPI document, as JSON")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	docs := realSchemas(t, text)
	names := slices.Sorted(maps.Keys(docs))
	tried, checked := 0, 0
	for _, name := range names[:min(500, len(names))] {
		doc := docs[name]
		s, err := schema.Compile([]byte(doc), schema.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		tried++
		rapid.Check(&quiet{t}, func(t *rapid.T) {
			m := maker{T: t}
			g := m.guided(doc, false)
			path := g.path(g.root, rapid.IntRange(1, 4).Draw(t, "steps"))
			p, err := projection.ParseProjection(path)
			if err != nil {
				t.Fatal(err)
			}
			narrow, err := p.AppendSchema(nil, []byte(doc))
			if unknown := (*projection.PathError)(nil); path == "*" && errors.As(err, &unknown) {
				return // a string, a number
			} else if err != nil {
				t.Fatalf("%s by %s: %v", name, path, err)
			}
			ps, err := schema.Compile(narrow, schema.Options{})
			if err != nil {
				t.Fatalf("%s by %s: %v", name, path, err)
			}
			value := []byte(g.like(g.root, 7))
			if s.Validate(value) != nil {
				return
			}
			checked++
			part, err := p.AppendValue(nil, value)
			if bad := ps.Validate(part); err != nil || bad != nil {
				t.Fatalf("%s by %s became %s\nand %s became %s\nwhich breaks %v", doc, path, narrow, value, part, bad)
			}
		})
	}
	t.Logf("%d schemas, %d values that fit", tried, checked)
	if tried < 500 || checked < 5*tried {
		t.Error("hardly tried")
	}
}

// quiet keeps a property from reporting each time that it holds.
type quiet struct{ *testing.T }

func (quiet) Logf(string, ...any) {}

// realSchemas makes each schema of a document stand alone, with those that it
// refers to.
func realSchemas(t *testing.T, text []byte) map[string]string {
	var doc struct {
		Components struct {
			Schemas map[string]json.RawMessage `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for name, raw := range doc.Components.Schemas {
		var flat bytes.Buffer
		if err := json.Compact(&flat, raw); err != nil {
			t.Fatal(err)
		}
		all[name] = strings.ReplaceAll(flat.String(), "#/components/schemas/", "#/$defs/")
	}
	docs := map[string]string{}
	for name, body := range all {
		var defs []string
		seen, queue := map[string]bool{}, []string{body}
		for len(queue) > 0 {
			for _, part := range strings.Split(queue[0], `"#/$defs/`)[1:] {
				to, _, _ := strings.Cut(part, `"`)
				if !seen[to] && all[to] != "" {
					seen[to] = true
					queue = append(queue, all[to])
					defs = append(defs, fmt.Sprintf("%q:%s", to, all[to]))
				}
			}
			queue = queue[1:]
		}
		if strings.Contains(body, `"properties"`) && len(defs) < 60 {
			slices.Sort(defs)
			docs[name] = `{"$defs":{` + strings.Join(defs, ",") + `},` + body[1:]
		}
	}
	return docs
}

// path makes a path that the schema s knows.
func (g *guided) path(s any, steps int) string {
	o, _ := s.(map[string]any)
	for range 20 {
		if to, ok := o["$ref"].(string); ok {
			o, _ = g.lookup(to).(map[string]any)
		} else if items, ok := o["items"].(map[string]any); ok {
			o = items
		} else if list, ok := firstOf(o, "allOf", "anyOf", "oneOf"); ok && o["properties"] == nil {
			o, _ = list[g.below(len(list))].(map[string]any)
		}
	}
	known, _ := o["properties"].(map[string]any)
	if len(known) == 0 {
		return "*"
	}
	name := g.pick(slices.Sorted(maps.Keys(known))...)
	path := "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	if steps > 1 {
		if rest := g.path(known[name], steps-1); strings.HasPrefix(rest, "/") {
			return path + rest
		}
	}
	return path
}

func firstOf(o map[string]any, keys ...string) ([]any, bool) {
	for _, k := range keys {
		if list, ok := o[k].([]any); ok && len(list) > 0 {
			return list, true
		}
	}
	return nil, false
}
