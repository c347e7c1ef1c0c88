package schema_test

import (
	"testing"

	"github.com/tenon-mcp/tenon/schema"
)

func TestRelax(t *testing.T) {
	const words = `{"type":"object","description":"root","properties":{"a":{"description":"own","type":"array","items":{"title":"deep","type":"string"}},"b":{"$ref":"#/$defs/b"}},"$defs":{"b":{"description":"definition","maximum":1}}}`
	const chain = `{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"required":["a"],"$defs":{"a":{"type":"object","properties":{"b":{"$ref":"#/$defs/b"}}},` +
		`"b":{"type":"object","properties":{"c":{"$ref":"#/$defs/c"}}},"c":{"type":["array","null"],"items":{"$ref":"#/$defs/d"}},"d":{"minimum":1,"maximum":100000}}}`
	const nested = `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"array","items":{"type":"object","properties":{"c":{"type":"string","enum":["first","second"]}},"required":["c"],"additionalProperties":false}}}}}}`
	tests := map[string]struct {
		doc   string
		limit int
		want  string
		how   schema.Relaxation
	}{
		"within the limit": {words, len(words), words, schema.None},
		"words below the root's properties": {
			words, 180,
			`{"type":"object","description":"root","properties":{"a":{"description":"own","type":"array","items":{"type":"string"}},"b":{"$ref":"#/$defs/b"}},"$defs":{"b":{"maximum":1}}}`,
			schema.Descriptions,
		},
		"all words but the root's": {
			words, 160,
			`{"type":"object","description":"root","properties":{"a":{"type":"array","items":{"type":"string"}},"b":{"$ref":"#/$defs/b"}},"$defs":{"b":{"maximum":1}}}`,
			schema.Descriptions,
		},
		"the farthest references": {
			chain, 300,
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"required":["a"],"$defs":{"a":{"type":"object","properties":{"b":{"$ref":"#/$defs/b"}}},` +
				`"b":{"type":"object","properties":{"c":{"$ref":"#/$defs/c"}}},"c":{"type":["array","null"],"items":{}}}}`,
			schema.Structure,
		},
		"nearer ones": {
			chain, 200,
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"required":["a"],"$defs":{"a":{"type":"object","properties":{"b":{"type":"object"}}}}}`,
			schema.Structure,
		},
		"all of them":        {chain, 120, `{"type":"object","properties":{"a":{"type":"object"}},"required":["a"]}`, schema.Structure},
		"the names alone":    {chain, 60, `{"type":"object","properties":{"a":{}},"required":["a"]}`, schema.Structure},
		"what is required":   {chain, 40, `{"type":"object","required":["a"]}`, schema.Structure},
		"the type":           {chain, 20, `{"type":"object"}`, schema.Structure},
		"no room at all":     {chain, 2, `{"type":"object"}`, schema.Structure},
		"the deepest levels": {nested, 180, `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"array","items":{"type":"object","required":["c"]}}}}}}`, schema.Structure},
		"deep levels":        {nested, 130, `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"array"}}}}}`, schema.Structure},
		"a root that is a reference": {
			`{"type":"object","$ref":"#/$defs/a","$defs":{"a":{"type":"object","properties":{"b":{"type":"string","minLength":1}},"required":["b"]}}}`, 100,
			`{"type":"object","properties":{"b":{"type":"string"}},"required":["b"]}`,
			schema.Structure,
		},
		"what would accept less goes as a whole": {
			`{"properties":{"a":{"not":{"$ref":"#/$defs/a"},"oneOf":[{"$ref":"#/$defs/b"},{"type":"null"}],"maxLength":10}},"$defs":{"a":{"minLength":1000000000},"b":{"type":"string","maxLength":2000000000,"minLength":3}}}`, 90,
			`{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}],"maxLength":10}}}`,
			schema.Structure,
		},
		"no schema": {`[1,2,3]`, 3, `{}`, schema.Structure},
		"no JSON":   {`{"type":`, 3, `{}`, schema.Structure},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, how := schema.Relax([]byte(test.doc), test.limit)
			if string(got) != test.want || how != test.how {
				t.Errorf("Relax(…, %d) = %s (%d bytes), %s; want %s, %s", test.limit, got, len(got), how, test.want, test.how)
			}
		})
	}
}

func TestRelaxationHasAName(t *testing.T) {
	for how, want := range map[schema.Relaxation]string{schema.None: "none", schema.Descriptions: "descriptions", schema.Structure: "structure"} {
		if how.String() != want {
			t.Errorf("%d is called %q; want %q", how, how, want)
		}
	}
}
