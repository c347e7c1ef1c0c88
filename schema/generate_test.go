package schema_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

// maker makes schemas and values of the same few names, so that they meet.
type maker struct {
	*rapid.T
	wild  bool // keywords may have illegal values, and other dialects mix in
	named bool // there are anchors, and references to them
	refs  []string
}

func (m *maker) chance(percent int) bool {
	return rapid.IntRange(0, 99).Draw(m.T, "chance") < percent
}

func (m *maker) pick(list ...string) string { return rapid.SampledFrom(list).Draw(m.T, "pick") }

func (m *maker) name() string { return m.pick("a", "b", "c", "a b", "é/~") }

// document makes a schema with definitions.
func (m *maker) document(root string) string {
	names := []string{"A", "B", "A/x y%"}
	m.refs = []string{"#/$defs/A", "#/$defs/A", "#/$defs/B", "#/$defs/A~1x%20y%25"}
	if m.chance(30) {
		m.refs = append(m.refs, "#", "#/properties/a", "#/$defs/A/anyOf/0", "#/$defs/B/items", "#/$defs/A/oneOf/1", "#/$defs/B/not")
	}
	if m.wild {
		m.refs = append(m.refs, "#/$defs/A~1x y%25", "#/$defs/none", "other.json", "#anchor", "#/$defs/A/type", "#/x-a", "%", "#%zz")
	}
	if m.named {
		m.refs = append(m.refs, "#anchor", "#anchor", "#other")
	}
	body := m.members(3)
	if root != "" {
		body = append([]string{root}, body...)
	}
	var defs []string
	for _, name := range names {
		defs = append(defs, fmt.Sprintf("%q:%s", name, m.schema(2)))
	}
	if m.named {
		defs = append(defs, `"C":{"$anchor":"anchor","items":`+m.schema(1)+`}`,
			`"D":{"properties":{"a":{"$dynamicAnchor":"other","type":"object"},"b":{"$dynamicRef":"#other"}}}`,
			`"E":{"$id":"part","$defs":{"a":{"$anchor":"anchor","type":"string"}},"properties":{"a":{"$ref":"#/$defs/a"},"b":{"$ref":"#anchor"},"c":{"$ref":"#"}}}`)
	}
	body = append(body, `"$defs":{`+strings.Join(defs, ",")+`}`)
	if m.wild && m.chance(20) {
		body = append(body, m.pick(`"$schema":"https://json-schema.org/draft/2020-12/schema"`, `"$id":"https://x/y"`, `"$vocabulary":{}`))
	}
	return "{" + strings.Join(unique(body), ",") + "}"
}

// unique keeps the first member of each name.
func unique(members []string) []string {
	seen := map[string]bool{}
	var kept []string
	for _, member := range members {
		key, _, _ := strings.Cut(member[1:], `"`)
		if !seen[key] {
			kept = append(kept, member)
		}
		seen[key] = true
	}
	return kept
}

func (m *maker) schema(depth int) string {
	if m.chance(8) {
		return m.pick("true", "false")
	}
	if m.wild && m.chance(2) {
		return m.pick("5", `"x"`, "null", "[]")
	}
	return "{" + strings.Join(unique(m.members(depth)), ",") + "}"
}

func (m *maker) members(depth int) []string {
	var list []string
	for range rapid.IntRange(0, 3).Draw(m.T, "keywords") {
		list = append(list, m.member(depth)...)
	}
	return list
}

func (m *maker) member(depth int) []string {
	if m.wild && m.chance(10) {
		return []string{m.oddity(depth)}
	}
	if depth > 0 && m.chance(60) {
		return m.applicator(depth - 1)
	}
	return []string{m.assertion()}
}

func (m *maker) assertion() string {
	k := m.pick("type", "type", "enum", "const", "maximum", "exclusiveMinimum", "multipleOf", "maxLength", "minItems", "maxItems",
		"maxProperties", "minProperties", "uniqueItems", "pattern", "required", "required", "dependentRequired", "minItems", "format", "description", "description", "title", "format", "default", "x-a")
	switch k {
	case "type":
		return `"type":` + m.pick(`"object"`, `"array"`, `"string"`, `"integer"`, `["object","null"]`, `["string","array","number"]`)
	case "enum":
		return `"enum":` + m.pick(`["a",1]`, `[1,2,null,{"a":1}]`, `[{"a":1,"b":[1]},"b"]`)
	case "const":
		return `"const":` + m.value(1)
	case "pattern":
		return `"pattern":` + m.pick(`"^a"`, `"b$"`, `"^[\\w-.]+$"`, `"a\\-b"`, `"(?i)A"`, `"^\\pL"`)
	case "required":
		return `"required":` + m.pick(`[]`, `["a"]`, `["a","b"]`)
	case "dependentRequired":
		return `"dependentRequired":` + m.pick(`{}`, `{"a":["b"]}`)
	case "uniqueItems":
		return `"uniqueItems":true`
	case "description", "title":
		return fmt.Sprintf(`%q:"some words about it"`, k)
	case "format":
		return `"format":"date"`
	case "default":
		return `"default":` + m.value(1)
	case "x-a":
		return `"x-a":{"$ref":"#/nowhere","b":1}`
	}
	return fmt.Sprintf(`%q:%s`, k, m.pick("1", "2", "2.0", "3"))
}

func (m *maker) applicator(depth int) []string {
	k := m.pick("properties", "properties", "patternProperties", "additionalProperties", "propertyNames", "items", "prefixItems", "contains",
		"allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas", "unevaluatedProperties", "unevaluatedItems", "$ref", "$ref")
	one := func(k string) string { return fmt.Sprintf("%q:%s", k, m.schema(depth)) }
	switch k {
	case "properties", "dependentSchemas":
		members := unique([]string{fmt.Sprintf("%q:%s", m.name(), m.schema(depth)), fmt.Sprintf("%q:%s", m.name(), m.schema(depth))})
		return []string{fmt.Sprintf("%q:{%s}", k, strings.Join(members, ","))}
	case "patternProperties":
		return []string{fmt.Sprintf(`"patternProperties":{%s:%s}`, m.pick(`"^a"`, `"\\-|b"`, `"(?i)A"`, `""`), m.schema(depth))}
	case "prefixItems", "allOf", "anyOf", "oneOf":
		return []string{fmt.Sprintf("%q:[%s,%s]", k, m.schema(depth), m.schema(depth))}
	case "contains":
		return []string{one("contains"), m.pick(`"minContains":0`, `"minContains":1`, `"maxContains":1`, `"minContains":0,"maxContains":1`)}
	case "if":
		return []string{one("if"), one("then"), one("else")}
	case "$ref":
		return []string{fmt.Sprintf(`"$ref":%q`, rapid.SampledFrom(m.refs).Draw(m.T, "ref"))}
	}
	return []string{one(k)}
}

// oddity makes a member that is illegal, or belongs to another dialect.
func (m *maker) oddity(depth int) string {
	if m.chance(50) {
		k := m.pick("type", "enum", "const", "maximum", "multipleOf", "minLength", "maxItems", "uniqueItems", "pattern", "required", "dependentRequired",
			"properties", "patternProperties", "additionalProperties", "items", "prefixItems", "allOf", "oneOf", "not", "if", "contains", "minContains", "maxContains",
			"dependentSchemas", "dependencies", "$ref", "$dynamicRef", "title", "format", "examples", "deprecated", "$defs", "definitions", "$comment", "contentSchema", "nullable")
		return fmt.Sprintf("%q:%s", k, m.pick("5", "-1", "1.5", "1e300", "0", `"x"`, `["a","a"]`, `[1,1.0]`, `[9007199254740993,9007199254740992]`, "[]", "{}", "null", "true", `{"a":5}`, `{"a":["b","b",1]}`, `["string","bogus"]`))
	}
	return m.pick(`"nullable":true`, `"id":"x"`, `"$id":"part"`, `"$id":"#x"`, `"$anchor":"anchor"`, `"$dynamicAnchor":"anchor"`, `"$dynamicRef":"#anchor"`,
		`"$recursiveRef":"#"`, `"$recursiveAnchor":true`, `"$async":true`, `"exclusiveMaximum":true`, `"required":true`, `"x-b":{"$id":"q"}`, `"x-c":{"y":{"$anchor":"a b"}}`,
		`"items":[{"type":"string"},`+m.schema(max(depth-1, 0))+`]`, `"additionalItems":false`, `"formatMinimum":1`, `"$defs":{"$id":{}}`,
		`"dependencies":{"a":["b"],"b":{"type":"object"}}`, `"definitions":{"a":`+m.schema(max(depth-1, 0))+`}`)
}

// value makes a value that has a chance to fit.
func (m *maker) value(depth int) string {
	kind := m.pick("object", "object", "array", "string", "number", "null")
	if depth == 0 && (kind == "object" || kind == "array") {
		kind = "string"
	}
	switch kind {
	case "object":
		return m.object(depth)
	case "array":
		var items []string
		for range rapid.IntRange(0, 3).Draw(m.T, "items") {
			items = append(items, m.value(depth-1))
		}
		return "[" + strings.Join(items, ",") + "]"
	case "string":
		return m.pick(`"a"`, `"b"`, `"a-b"`, `""`, `"é"`)
	case "number":
		return m.pick("0", "1", "2", "2.5", "3e0")
	}
	return m.pick("null", "true")
}

func (m *maker) object(depth int) string {
	var members []string
	for range rapid.IntRange(0, 3).Draw(m.T, "members") {
		members = append(members, fmt.Sprintf("%q:%s", m.name(), m.value(depth-1)))
	}
	return "{" + strings.Join(unique(members), ",") + "}"
}

type nothingElse struct{}

func (nothingElse) Load(string) (any, error) { return nil, errors.New("other documents are not read") }

// oracle compiles a schema in the way that the specification has it.
func oracle(doc string) (*jsonschema.Schema, error) {
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(doc))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(nothingElse{})
	const at = "test:///schema"
	if err := c.AddResource(at, v); err != nil {
		return nil, err
	}
	return c.Compile(at)
}

func fits(t *rapid.T, s *jsonschema.Schema, value string) bool {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(value)))
	if err != nil {
		t.Fatalf("%s: %v", value, err)
	}
	return s.Validate(v) == nil
}

// mustCompile compiles what must be a schema.
func mustCompile(t *rapid.T, doc, from string) *jsonschema.Schema {
	s, err := oracle(doc)
	if err != nil {
		t.Fatalf("%s\nmade from %s\ndoes not compile: %v", doc, from, err)
	}
	return s
}
