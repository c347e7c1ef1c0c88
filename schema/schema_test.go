package schema_test

import (
	"sync"
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

// TestHammer checks with one Schema from several goroutines, in both tiers.
func TestHammer(t *testing.T) {
	for name, doc := range map[string]string{
		"bytes":              `{"properties":{"a":{"type":"string","pattern":"^x"}},"required":["b"]}`,
		"fallback validator": `{"properties":{"a":{"type":"string","pattern":"^x"}},"required":["b"],"unevaluatedProperties":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			s, err := schema.Compile([]byte(doc), schema.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			for i := range 8 {
				wg.Go(func() {
					for range 50 {
						if i%2 == 0 && s.Validate([]byte(`{"a":"x\u0031","b":1}`)) != nil {
							t.Error("a value that fits was rejected")
						}
						if i%2 == 1 && len(s.Validate([]byte(`{"a":"y"}`))) != 2 {
							t.Error("a value with two errors was not rejected twice")
						}
					}
				})
			}
			wg.Wait()
		})
	}
}
