package profile_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon/internal/profile"
	"github.com/tenon-mcp/tenon/internal/publish"
	"github.com/tenon-mcp/tenon/schema"
)

// TestRewritesAreSound: whatever a rewritten schema of arguments accepts, the schema
// accepts as well, as it is read; whatever a schema of data accepts, the rewritten one
// accepts. What is noted is not exact. The judge is package schema, which the official
// suite holds, and none of its code rewrites.
func TestRewritesAreSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { soundly(t) })
}

func FuzzRewrite(f *testing.F) { f.Fuzz(rapid.MakeFuzz(soundly)) }

func soundly(t *rapid.T) {
	m := maker{t}
	var n profile.Needs
	for _, need := range []*bool{&n.Inline, &n.SplitTypes, &n.TextEnums, &n.NoRootCombinators} {
		*need = m.chance(40)
	}
	input := m.chance(70)
	if input {
		if n.NoOneOf = m.chance(40); n.NoOneOf { // as strict modes want it: with oneOf, fewer values of a branch may be more of the whole
			n.Closed, n.AllRequired = m.chance(60), m.chance(60)
		}
		n.NullOptional = m.chance(20)
	}
	doc := m.document()
	safe, _ := publish.Compatible([]byte(doc))
	if safe == nil {
		return
	}
	made, notes := n.Rewrite(safe, 0)
	if again, _ := publish.Compatible(made); again == nil {
		t.Fatalf("%+v\n%s\nbecame %s\nwhich is not compatible", n, safe, made)
	}
	holds(t, n, made)
	before, err := schema.Compile(safe, schema.Options{})
	if err != nil {
		return
	}
	after, err := schema.Compile(made, schema.Options{})
	if err != nil {
		t.Fatalf("%+v\n%s\nbecame %s\nwhich does not compile: %v", n, safe, made, err)
	}
	if notes != nil {
		return
	}
	from := made
	if !input {
		from = safe
	}
	reader := profile.NewReader(safe)
	for range 8 {
		value := m.fitting(from)
		if !input {
			if len(before.Validate(value)) == 0 && len(after.Validate(value)) > 0 {
				t.Fatalf("%+v\n%s\nbecame %s\nwhich refuses %s: %v", n, safe, made, value, after.Validate(value))
			}
			continue
		}
		if len(after.Validate(value)) > 0 {
			continue
		}
		got := value
		if n.Absent() {
			got = reader.Absent(value)
		}
		if len(before.Validate(got)) > 0 {
			got, _ = before.Coerce(got)
		}
		if left := before.Validate(got); len(left) > 0 {
			t.Fatalf("%+v\n%s\nbecame %s\nwhich accepts %s\nread as %s: %v", n, safe, made, value, got, left)
		}
	}
}

// holds checks what was asked for, by a walk of its own over decoded JSON.
func holds(t *rapid.T, n profile.Needs, made []byte) {
	var root any
	if err := json.Unmarshal(made, &root); err != nil {
		t.Fatalf("%s: %v", made, err)
	}
	var walk func(at string, v any)
	walk = func(at string, v any) {
		s, ok := v.(map[string]any)
		if !ok {
			return
		}
		complain := func(what string) { t.Fatalf("%+v: %s at %s in\n%s", n, what, at, made) }
		if _, has := s["$ref"]; has && n.Inline {
			complain("a reference")
		}
		if _, list := s["type"].([]any); list && n.SplitTypes && !n.AllRequired {
			complain("a list of types")
		}
		if values, ok := s["enum"].([]any); ok && n.TextEnums && !n.AllRequired && slices.ContainsFunc(values, func(v any) bool { _, text := v.(string); return !text }) {
			complain("an enum that is not text")
		}
		if _, has := s["oneOf"]; has && n.NoOneOf {
			complain("oneOf")
		}
		for _, key := range []string{"allOf", "anyOf", "oneOf"} {
			if _, has := s[key]; has && n.NoRootCombinators && at == "" {
				complain(key)
			}
		}
		for key, below := range s {
			switch below := below.(type) {
			case map[string]any:
				switch key {
				case "properties", "patternProperties", "$defs", "dependentSchemas":
					for name, c := range below {
						walk(at+"/"+key+"/"+name, c)
					}
				case "items", "additionalProperties", "contains", "not", "if", "then", "else", "propertyNames":
					walk(at+"/"+key, below)
				}
			case []any:
				if key == "allOf" || key == "anyOf" || key == "oneOf" || key == "prefixItems" {
					for i, c := range below {
						walk(at+"/"+key+"/"+strconv.Itoa(i), c)
					}
				}
			}
		}
	}
	walk("", root)
}

// maker makes schemas, and values that are likely to fit them.
type maker struct{ *rapid.T }

func (m maker) chance(percent int) bool { return rapid.IntRange(0, 99).Draw(m.T, "chance") < percent }

func (m maker) pick(from ...string) string { return rapid.SampledFrom(from).Draw(m.T, "pick") }

func (m maker) document() string {
	body := []string{m.pick(`"type":"object"`, `"type":"object"`, `"properties":{}`), m.properties(3), m.required()}
	if m.chance(25) {
		body = append(body, m.combined(2))
	}
	if m.chance(25) {
		body = append(body, `"additionalProperties":`+m.pick("false", "true", `{"type":"integer"}`))
	}
	body = append(body, `"$defs":{"A":`+m.schema(2)+`,"B":`+m.schema(2)+`}`)
	return "{" + strings.Join(unique(body), ",") + "}"
}

func (m maker) properties(depth int) string {
	var all []string
	for _, name := range []string{"a", "b", "c"} {
		if m.chance(60) {
			all = append(all, `"`+name+`":`+m.schema(depth))
		}
	}
	return `"properties":{` + strings.Join(all, ",") + `}`
}

func (m maker) required() string {
	return `"required":` + m.pick(`[]`, `["a"]`, `["a","b"]`, `["c"]`, `["d"]`)
}

func (m maker) combined(depth int) string {
	var list []string
	for range rapid.IntRange(1, 3).Draw(m.T, "branches") {
		list = append(list, m.schema(depth))
	}
	return m.pick(`"anyOf"`, `"allOf"`, `"oneOf"`) + ":[" + strings.Join(list, ",") + "]"
}

func (m maker) schema(depth int) string {
	if depth <= 0 || m.chance(25) {
		return m.pick(`true`, `{}`, `{"type":"string"}`, `{"type":"string","minLength":2}`, `{"type":"integer"}`, `{"type":"boolean"}`, `{"type":"null"}`, `{"enum":["x","yy"]}`, `{"$ref":"#/$defs/A"}`, `{"$ref":"#/$defs/B"}`, `{"type":"object"}`)
	}
	var body []string
	add := func(percent int, made func() string) {
		if m.chance(percent) {
			body = append(body, made())
		}
	}
	add(70, func() string {
		return `"type":` + m.pick(`"string"`, `"integer"`, `"object"`, `"object"`, `"array"`, `["string","null"]`, `["integer","number","null"]`, `["object","null"]`, `["array","string"]`, `["object","string","integer"]`)
	})
	add(15, func() string {
		return `"enum":` + m.pick(`["x","yy"]`, `["x",null]`, `[1,2]`, `[1,"x",null]`, `[true]`, `[{"a":1}]`)
	})
	add(40, func() string { return m.properties(depth - 1) })
	add(30, m.required)
	add(20, func() string { return `"additionalProperties":` + m.pick(`false`, `true`, m.schema(depth-1)) })
	add(30, func() string { return `"items":` + m.schema(depth-1) })
	add(20, func() string { return m.combined(depth - 1) })
	add(10, func() string { return `"$ref":` + m.pick(`"#/$defs/A"`, `"#/$defs/B"`, `"#"`) })
	add(10, func() string { return `"description":"told"` })
	add(10, func() string { return m.pick(`"minLength":2`, `"maximum":3`, `"maxItems":1`, `"maxProperties":1`) })
	add(5, func() string { return `"not":` + m.schema(depth-1) })
	return "{" + strings.Join(unique(body), ",") + "}"
}

// unique keeps the first member of each name.
func unique(members []string) (kept []string) {
	seen := map[string]bool{}
	for _, one := range members {
		key, _, _ := strings.Cut(one[1:], `"`)
		if !seen[key] {
			kept = append(kept, one)
		}
		seen[key] = true
	}
	return kept
}

// fitting makes an object that is likely to fit a schema.
func (m maker) fitting(doc []byte) []byte {
	var root any
	if err := json.Unmarshal(doc, &root); err != nil {
		m.Fatal(err)
	}
	v := m.value(root, root, 6)
	if _, ok := v.(map[string]any); !ok {
		v = map[string]any{"a": v}
	}
	text, err := json.Marshal(v)
	if err != nil {
		m.Fatal(err)
	}
	return text
}

func (m maker) any() any {
	return rapid.SampledFrom([]any{"x", "yy", "1", `{"a":1}`, 1.0, 2.0, 7.5, true, nil, []any{}, []any{"x"}, map[string]any{}, map[string]any{"a": "x"}, map[string]any{"a": nil, "b": 1.0}}).Draw(m.T, "any")
}

func (m maker) value(root, v any, depth int) any {
	s, ok := v.(map[string]any)
	if !ok || depth == 0 || m.chance(10) {
		return m.any()
	}
	if ref, ok := s["$ref"].(string); ok {
		target := root
		if name, ok := strings.CutPrefix(ref, "#/$defs/"); ok {
			whole, _ := root.(map[string]any)
			defs, _ := whole["$defs"].(map[string]any)
			target = defs[name]
		}
		return m.value(root, target, depth-1)
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		if list, ok := s[key].([]any); ok && len(list) > 0 && m.chance(70) {
			made := m.value(root, rapid.SampledFrom(list).Draw(m.T, "branch"), depth-1)
			if object, ok := made.(map[string]any); ok {
				maps.Copy(object, m.members(root, s, depth))
			}
			return made
		}
	}
	if values, ok := s["enum"].([]any); ok && len(values) > 0 {
		return rapid.SampledFrom(values).Draw(m.T, "enum")
	}
	kind, _ := s["type"].(string)
	if list, ok := s["type"].([]any); ok && len(list) > 0 {
		kind, _ = rapid.SampledFrom(list).Draw(m.T, "type").(string)
	}
	switch kind {
	case "string":
		return m.pick("x", "yy", "{}", `{"a":1}`, `{"b":"x"}`)
	case "integer", "number":
		return rapid.SampledFrom([]any{1.0, 2.0, 7.0}).Draw(m.T, "number")
	case "boolean":
		return m.chance(50)
	case "null":
		return nil
	case "array":
		var list []any
		for range rapid.IntRange(0, 2).Draw(m.T, "items") {
			list = append(list, m.value(root, s["items"], depth-1))
		}
		if list == nil {
			list = []any{}
		}
		return list
	case "object":
		return m.members(root, s, depth)
	}
	if s["properties"] != nil {
		return m.members(root, s, depth)
	}
	return m.any()
}

func (m maker) members(root any, s map[string]any, depth int) map[string]any {
	made := map[string]any{}
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for _, name := range []string{"a", "b", "c", "d"} {
		if p, ok := properties[name]; ok && (slices.Contains(required, any(name)) || m.chance(60)) {
			made[name] = m.value(root, p, depth-1)
		} else if slices.Contains(required, any(name)) {
			made[name] = m.any()
		}
	}
	return made
}
