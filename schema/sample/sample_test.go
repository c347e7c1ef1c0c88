package sample_test

import (
	"testing"

	"github.com/tenon-mcp/tenon/schema"
	"github.com/tenon-mcp/tenon/schema/sample"
)

func TestSample(t *testing.T) {
	for doc, want := range map[string]string{
		`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["b"]}`: `{"b":1}`,
		`{"type":"object","properties":{"a":{"type":"string"}}}`:                                         `{"a":"text"}`,
		`{"type":"array","items":{"$ref":"#/$defs/A"},"$defs":{"A":{"enum":["x","y"]}}}`:                 `["x"]`,
		`{"type":"array","items":{"type":"null"},"minItems":2}`:                                          `[null,null]`,
		`{"type":"string","pattern":"^[A-Z]{2}-\\d+$"}`:                                                  `"AA-0"`,
		`{"type":"string","minLength":6}`:                                                                `"textxx"`,
		`{"type":"string","maxLength":2}`:                                                                `"te"`,
		`{"type":"string","format":"date"}`:                                                              `"2026-01-31"`,
		`{"type":"integer","minimum":7,"multipleOf":5}`:                                                  `10`,
		`{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1}`:                                    `0.5`,
		`{"type":"integer","examples":["no integer"],"maximum":-3}`:                                      `-3`,
		`{"type":"integer","examples":[42]}`:                                                             `42`,
		`{"anyOf":[{"type":"null"},{"type":"boolean"}]}`:                                                 `true`,
		`{"allOf":[{"required":["a"]},{"properties":{"a":{"const":[1]}}}]}`:                              `{"a":[1]}`,
		`{"type":"object","properties":{"next":{"$ref":"#"}}}`:                                           `{"next":{"next":{"next":{"next":{}}}}}`,
		`{}`: `"text"`,
	} {
		s, err := schema.Compile([]byte(doc), schema.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := sample.Of(s); !ok || string(got) != want {
			t.Errorf("%s: %s, %v, want %s", doc, got, ok, want)
		}
	}
	for _, doc := range []string{`{"not":{}}`, `{"type":"object","properties":{"next":{"$ref":"#"}},"required":["next"]}`, `{"allOf":[{"type":"string"},{"type":"null"}]}`} {
		s, err := schema.Compile([]byte(doc), schema.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := sample.Of(s); ok {
			t.Errorf("%s: %s", doc, got)
		}
	}
}
