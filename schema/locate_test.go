package schema_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon/schema"
)

func TestLocate(t *testing.T) {
	const defs = `"$defs":{"Book":{"type":"object","properties":{"title":{"type":"string","maxLength":5},"price":{"anyOf":[{"type":"number","minimum":0},{"type":"null"}]},"author":{"$ref":"#/$defs/Person"},"isbn":true},"required":["title","isbn"],"additionalProperties":false},"Person":{"type":"object","additionalProperties":{"type":"integer"},"patternProperties":{"^x-":{"type":"boolean"}}}}}`
	for _, c := range []struct{ schema, value, want string }{
		{`{"$ref":"#/$defs/Book",` + defs, `{"title":1,"isbn":1}`, "/$defs/Book/properties/title type integer"},
		{`{"type":"array","items":{"$ref":"#/$defs/Book"},` + defs, `[{"title":"toolong","isbn":1}]`, "/$defs/Book/properties/title maxLength string"},
		{`{"type":"array","items":{"$ref":"#/$defs/Book"},` + defs, `[{"isbn":1}]`, "/$defs/Book/properties/title required nothing"},
		{`{"allOf":[{"$ref":"#/$defs/Book"}],` + defs, `{"title":"a","isbn":1,"secret@example.com":{}}`, "/$defs/Book additionalProperties object"},
		{`{"$ref":"#/$defs/Book",` + defs, `{"title":"a","author":{"secret@example.com":"x"}}`, "/$defs/Book/properties/isbn required nothing, /$defs/Person/additionalProperties type string"},
		{`{"$ref":"#/$defs/Person",` + defs, `{"secret@example.com":1.5}`, "/$defs/Person/additionalProperties type number"},
		{`{"$ref":"#/$defs/Person",` + defs, `{"x-secret":1}`, "/$defs/Person/patternProperties/^x- type integer"},
		{`{"$ref":"#/$defs/Book",` + defs, `{"title":"a","isbn":1,"price":-1}`, "/$defs/Book/properties/price/anyOf/0 minimum integer"},
		{`{"properties":{"a/b~":{"enum":[1]}},` + defs, `{"a/b~":2}`, "/properties/a~1b~0 enum integer"},
		{`{"prefixItems":[true,{"type":"null"}],"items":false,` + defs, `[1,[],2]`, "/prefixItems/1 type array, /items false integer"},
	} {
		s, err := schema.Compile([]byte(c.schema), schema.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		found := s.Validate([]byte(c.value))
		for i, place := range s.Locate(found) {
			v := found[i]
			if strings.Contains(place, "secret") {
				t.Errorf("%s: %q has a name of the value", c.value, place)
			}
			got = append(got, place+" "+v.Keyword+" "+v.Kind())
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: got %q, want %q", c.value, got, c.want)
		}
	}
}

// Every pointer leads to something in the document that has the keyword, or to a
// member that it requires, and none has a name of the value.
func TestLocateProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := []byte(`{"type":"object","properties":{"a":{"type":"integer"},"b":{"items":{"$ref":"#"}}},"additionalProperties":{"anyOf":[{"type":"string","pattern":"^x"},{"$ref":"#"}]},"required":["a"],"propertyNames":{"maxLength":9}}`)
		s, err := schema.Compile(doc, schema.Options{})
		if err != nil {
			t.Fatal(err)
		}
		value := rapid.StringMatching(`\{("(a|b|secret1|secret-secret)":(\[(\{"secret2":([0-9]|"secret3")\}|"secret")?\]|[0-9]|"secret"|\{"secret4":\{"a":"secret5"\}\}))?\}`).Draw(t, "value")
		found := s.Validate([]byte(value))
		for i, place := range s.Locate(found) {
			if strings.Contains(place, "secret") {
				t.Fatalf("%s: %v is at %q", value, found[i], place)
			}
		}
	})
}

// TestKindOfWhatCame holds for what is no JSON, too: a syntax error shows where it is.
func TestKindOfWhatCame(t *testing.T) {
	for got, want := range map[string]string{
		"": "nothing", "1": "integer", "1.0": "integer", "1.5": "number", "1e": "number", "-": "number", "1e+": "number", "00": "number", "1.": "number", "0 ": "integer", " ": "nothing",
		`"`: "string", "{": "object", "[": "array", "nul": "null", "tru": "boolean", "\x00": "nothing", "é": "nothing", strings.Repeat("1", 80): "number",
	} {
		if kind := (schema.Violation{Got: got}).Kind(); kind != want {
			t.Errorf("%q is %s, want %s", got, kind, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		_ = schema.Violation{Got: rapid.StringMatching(`[-+0-9.eE"{\[ntf ]{0,90}`).Draw(t, "got")}.Kind()
	})
}
