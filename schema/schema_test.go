package schema_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/schema"
)

func TestViolations(t *testing.T) {
	const doc = `{"type":"object","properties":{"temperature":{"type":"number"},"humidity":{},"unit":{"enum":["C","F"]}},"required":["temperature","humidity"],"additionalProperties":false}`
	tests := map[string]struct {
		value string
		want  []schema.Violation
	}{
		"fits":               {`{"temperature":1,"humidity":2}`, nil},
		"wrong type":         {`{"temperature":"1","humidity":2}`, []schema.Violation{{"/temperature", "type", "number", `"1"`}}},
		"missing member":     {`{"temperature":1}`, []schema.Violation{{"", "required", `member "humidity"`, "nothing"}}},
		"forbidden member":   {`{"temperature":1,"humidity":2,"a/b":3}`, []schema.Violation{{"/a~1b", "additionalProperties", `no member "a/b"`, "3"}}},
		"not one of the two": {`{"temperature":1,"humidity":2,"unit":"K"}`, []schema.Violation{{"/unit", "enum", `one of "C", "F"`, `"K"`}}},
		"duplicate key":      {`{"a":1,"a":2}`, []schema.Violation{{"", "syntax", "strict JSON: offset 7: duplicate key", `"a":2}`}}},
	}
	s, err := schema.Compile([]byte(doc), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, s.Validate([]byte(test.value))); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}
