package publish_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon/internal/publish"
	"github.com/tenon-mcp/tenon/schema"
)

func TestOpenRoot(t *testing.T) {
	for name, tt := range map[string]struct{ doc, want string }{
		"a definition":                {`{"$ref":"#/$defs/A","$defs":{"A":{"type":"object","properties":{"b":{"$ref":"#/$defs/B"}}},"B":{}}}`, `{"type":"object","properties":{"b":{"$ref":"#/$defs/B"}},"$defs":{"B":{}}}`},
		"the only one":                {`{"$ref":"#/$defs/A","$defs":{"A":{"type":"object"}}}`, `{"type":"object"}`},
		"one that is used again":      {`{"type":"object","$ref":"#/$defs/A","$defs":{"A":{"properties":{"a":{"$ref":"#/$defs/A"}}}}}`, `{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"properties":{"a":{"$ref":"#/$defs/A"}}}}}`},
		"a reference to a reference":  {`{"$ref":"#/$defs/A","$defs":{"A":{"$ref":"#/$defs/B"},"B":{"type":"object"}}}`, `{"type":"object"}`},
		"itself":                      {`{"$ref":"#/$defs/A","$defs":{"A":{"$ref":"#/$defs/A"}}}`, `{"$ref":"#/$defs/A","$defs":{"A":{"$ref":"#/$defs/A"}}}`},
		"something beside it":         {`{"$ref":"#/$defs/A","required":["a"],"$defs":{"A":{"type":"object"}}}`, ""},
		"another type":                {`{"type":"object","$ref":"#/$defs/A","$defs":{"A":{"type":["object","null"]}}}`, ""},
		"nothing":                     {`{"$ref":"#/$defs/A","$defs":{}}`, ""},
		"a boolean":                   {`{"$ref":"#/$defs/A","$defs":{"A":true}}`, ""},
		"a definition with a name":    {`{"$ref":"#/$defs/A","$defs":{"A":{"$anchor":"x","type":"object"}}}`, ""},
		"definitions in a definition": {`{"$ref":"#/$defs/A","$defs":{"A":{"$defs":{},"type":"object"}}}`, ""},
		"no JSON":                     {`{"$ref":`, ""},
	} {
		if tt.want == "" {
			tt.want = tt.doc
		}
		if got := publish.OpenRoot([]byte(tt.doc)); string(got) != tt.want {
			t.Errorf("%s: %s\nbecame %s, want\n%s", name, tt.doc, got, tt.want)
		}
	}
}

func TestNameAtRoot(t *testing.T) {
	long := `{"type":"string","description":"` + strings.Repeat("x", 300) + `"}`
	for name, tt := range map[string]struct{ doc, want string }{
		"alternatives":         {`{"type":"object","anyOf":[{"properties":{"a":{"type":"string"}}},{"$ref":"#/$defs/B"}],"$defs":{"B":{"properties":{"b":{"type":"null"}}}}}`, `{"type":"object","properties":{"a":{},"b":{}},"anyOf":[{"properties":{"a":{"type":"string"}}},{"$ref":"#/$defs/B"}],"$defs":{"B":{"properties":{"b":{"type":"null"}}}}}`},
		"what holds always":    {`{"type":"object","allOf":[{"properties":{"a":{"type":"string"},"l":` + long + `}}],"properties":{"b":{}}}`, `{"type":"object","allOf":[{"properties":{"a":{"type":"string"},"l":` + long + `}}],"properties":{"b":{},"a":{"type":"string"},"l":{}}}`},
		"what is there stays":  {`{"type":"object","properties":{"a":{"type":"string"}},"oneOf":[{"properties":{"a":{"const":"x"}}}]}`, ""},
		"a closed root":        {`{"type":"object","additionalProperties":false,"allOf":[{"properties":{"a":{}}}]}`, ""},
		"a root that sees all": {`{"type":"object","unevaluatedProperties":false,"allOf":[{"properties":{"a":{}}}]}`, ""},
		"nothing to name":      {`{"type":"object","anyOf":[{"required":["a"]},{}]}`, ""},
		"below a property":     {`{"type":"object","properties":{"a":{"anyOf":[{"properties":{"b":{}}}]}}}`, ""},
	} {
		if tt.want == "" {
			tt.want = tt.doc
		}
		if got := publish.NameAtRoot([]byte(tt.doc)); string(got) != tt.want {
			t.Errorf("%s: %s\nbecame %s, want\n%s", name, tt.doc, got, tt.want)
		}
	}
}

// TestRootsMeanTheSame: a definition at the root and names there accept what the schema
// accepted and nothing else, so that outputs lose no result; and every property that the
// root can have by references and branches is named. The judge is package schema.
func TestRootsMeanTheSame(t *testing.T) { rapid.Check(t, rootsMeanTheSame) }

func FuzzRoots(f *testing.F) { f.Fuzz(rapid.MakeFuzz(rootsMeanTheSame)) }

func rootsMeanTheSame(t *rapid.T) {
	pick := func(from ...string) string { return rapid.SampledFrom(from).Draw(t, "pick") }
	has := func(percent int) bool { return rapid.IntRange(0, 99).Draw(t, "has") < percent }
	var form func(depth int) string
	forms := func(depth int) string {
		all := make([]string, rapid.IntRange(1, 3).Draw(t, "forms"))
		for i := range all {
			all[i] = form(depth - 1)
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	form = func(depth int) string {
		var of []string
		if has(60) {
			of = append(of, `"type":`+pick(`"object"`, `"object"`, `"object"`, `["object","null"]`))
		}
		if has(85) {
			var props []string
			for _, name := range []string{"a", "b", "c/d", `e\"`} {
				if has(60) {
					props = append(props, `"`+name+`":`+pick(`{"type":"string"}`, `{"const":1}`, `true`, `false`, `{"$ref":"#/$defs/Two"}`, `{"type":"integer","description":"`+strings.Repeat("long ", 70)+`"}`))
				}
			}
			of = append(of, `"properties":{`+strings.Join(props, ",")+`}`)
		}
		if has(15) {
			of = append(of, `"required":["`+pick("a", "b", "c/d")+`"]`)
		}
		if has(12) {
			of = append(of, pick(`"additionalProperties":`, `"unevaluatedProperties":`)+pick("false", "true", "{}", `{"type":"string"}`))
		}
		if has(10) {
			of = append(of, `"patternProperties":{"^a":{"type":"string"}}`)
		}
		if has(8) {
			of = append(of, `"minProperties":1`)
		}
		for i, key := range []string{"allOf", "anyOf", "oneOf"} {
			if depth > 0 && has([]int{30, 60, 20}[i]) {
				of = append(of, `"`+key+`":`+forms(depth))
			}
		}
		if has(15) {
			of = append(of, `"$ref":"#/$defs/`+pick("One", "Two", "Three")+`"`)
		}
		return "{" + strings.Join(of, ",") + "}"
	}
	root := form(2)
	if has(40) {
		root = pick(`{"$ref":"#/$defs/One"}`, `{"type":"object","$ref":"#/$defs/Two"}`)
	}
	root = strings.TrimSuffix(root, "}")
	if root != "{" {
		root += ","
	}
	doc, _ := publish.Compatible([]byte(root + `"$defs":{"One":` + form(2) + `,"Two":` + form(1) + `,"Three":` + form(0) + `}}`))
	if doc == nil {
		return
	}
	before, err := schema.Compile(doc, schema.Options{})
	if err != nil {
		return
	}
	for what, change := range map[string]func([]byte) []byte{"opened": publish.OpenRoot, "named": publish.NameAtRoot, "both": func(doc []byte) []byte { return publish.NameAtRoot(publish.OpenRoot(doc)) }} {
		made := change(doc)
		after, err := schema.Compile(made, schema.Options{})
		if err != nil {
			t.Fatalf("%s: %s\nbecame %s\nwhich does not compile: %v", what, doc, made, err)
		}
		for range 24 {
			var members []string
			for _, name := range []string{"a", "b", "c/d", `e\"`, "other"} {
				if has(45) {
					members = append(members, `"`+name+`":`+pick(`"x"`, `1`, `null`, `{}`, `{"a":1}`, `{"a":"x"}`))
				}
			}
			value := []byte("{" + strings.Join(members, ",") + "}")
			if was, is := before.Validate(value), after.Validate(value); (len(was) == 0) != (len(is) == 0) {
				t.Fatalf("%s: %s\nbecame %s\nand %s: %v, now %v", what, doc, made, value, was, is)
			}
		}
		if what != "opened" {
			namesAll(t, made)
		}
	}
}

// namesAll checks by a walk of its own that the root names all that it can have.
func namesAll(t *rapid.T, made []byte) {
	var root map[string]any
	if err := json.Unmarshal(made, &root); err != nil {
		t.Fatal(err)
	}
	open := func(v any) bool {
		m, ok := v.(map[string]any)
		return v == nil || v == true || ok && len(m) == 0
	}
	if !open(root["additionalProperties"]) || !open(root["unevaluatedProperties"]) {
		return
	}
	named, _ := root["properties"].(map[string]any)
	defs, _ := root["$defs"].(map[string]any)
	var walk func(v any, depth int)
	walk = func(v any, depth int) {
		s, ok := v.(map[string]any)
		if !ok || depth > 8 {
			return
		}
		properties, _ := s["properties"].(map[string]any)
		for name := range properties {
			if _, ok := named[name]; !ok {
				t.Fatalf("the root does not name %q: %s", name, made)
			}
		}
		if ref, ok := s["$ref"].(string); ok {
			walk(defs[strings.TrimPrefix(ref, "#/$defs/")], depth+1)
		}
		for _, key := range []string{"allOf", "anyOf", "oneOf"} {
			list, _ := s[key].([]any)
			for _, c := range list {
				walk(c, depth+1)
			}
		}
	}
	walk(root, 0)
}

// TestRootsWithoutEnd: what refers to itself ends.
func TestRootsWithoutEnd(t *testing.T) {
	var defs []string
	for i := range 40 {
		defs = append(defs, fmt.Sprintf(`"D%d":{"anyOf":[{"$ref":"#/$defs/D%d"},{"$ref":"#/$defs/D%d"}],"properties":{"p%d":{}}}`, i, i+1, i+1, i))
	}
	doc := `{"type":"object","$ref":"#/$defs/D0","$defs":{` + strings.Join(defs, ",") + `}}`
	if got := publish.NameAtRoot([]byte(doc)); !strings.Contains(string(got), `"p25":{}`) {
		t.Errorf("%s", got)
	}
}
