package publish_test

import (
	"testing"

	"github.com/tenon-mcp/tenon/internal/publish"
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
		how   publish.Relaxation
	}{
		"within the limit": {words, len(words), words, publish.None},
		"words below the root's properties": {
			words, 180,
			`{"type":"object","description":"root","properties":{"a":{"description":"own","type":"array","items":{"type":"string"}},"b":{"$ref":"#/$defs/b"}},"$defs":{"b":{"maximum":1}}}`,
			publish.Descriptions,
		},
		"all words but the root's": {
			words, 160,
			`{"type":"object","description":"root","properties":{"a":{"type":"array","items":{"type":"string"}},"b":{"$ref":"#/$defs/b"}},"$defs":{"b":{"maximum":1}}}`,
			publish.Descriptions,
		},
		"the farthest references": {
			chain, 300,
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"required":["a"],"$defs":{"a":{"type":"object","properties":{"b":{"$ref":"#/$defs/b"}}},` +
				`"b":{"type":"object","properties":{"c":{"$ref":"#/$defs/c"}}},"c":{"type":["array","null"],"items":{}}}}`,
			publish.Structure,
		},
		"nearer ones": {
			chain, 200,
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"required":["a"],"$defs":{"a":{"type":"object","properties":{"b":{"type":"object"}}}}}`,
			publish.Structure,
		},
		"all of them":        {chain, 120, `{"type":"object","properties":{"a":{"type":"object"}},"required":["a"]}`, publish.Structure},
		"the names alone":    {chain, 60, `{"type":"object","properties":{"a":{}},"required":["a"]}`, publish.Structure},
		"what is required":   {chain, 40, `{"type":"object","required":["a"]}`, publish.Structure},
		"the type":           {chain, 20, `{"type":"object"}`, publish.Structure},
		"no space at all":    {chain, 2, `{"type":"object"}`, publish.Structure},
		"the deepest levels": {nested, 180, `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"array","items":{"type":"object","required":["c"]}}}}}}`, publish.Structure},
		"deep levels":        {nested, 130, `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"array"}}}}}`, publish.Structure},
		"a root that is a reference": {
			`{"type":"object","$ref":"#/$defs/a","$defs":{"a":{"type":"object","properties":{"b":{"type":"string","minLength":1}},"required":["b"]}}}`, 100,
			`{"type":"object","properties":{"b":{"type":"string"}},"required":["b"]}`,
			publish.Structure,
		},
		"what would accept less goes as a whole": {
			`{"properties":{"a":{"not":{"$ref":"#/$defs/a"},"oneOf":[{"$ref":"#/$defs/b"},{"type":"null"}],"maxLength":10}},"$defs":{"a":{"minLength":1000000000},"b":{"type":"string","maxLength":2000000000,"minLength":3}}}`, 90,
			`{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}],"maxLength":10}}}`,
			publish.Structure,
		},
		"no schema": {`[1,2,3]`, 3, `{}`, publish.Structure},
		"no JSON":   {`{"type":`, 3, `{}`, publish.Structure},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, how := publish.Relax([]byte(test.doc), test.limit)
			if string(got) != test.want || how != test.how {
				t.Errorf("Relax(…, %d) = %s (%d bytes), %s; want %s, %s", test.limit, got, len(got), how, test.want, test.how)
			}
		})
	}
}

func TestRelaxationHasAName(t *testing.T) {
	for how, want := range map[publish.Relaxation]string{publish.None: "none", publish.Descriptions: "descriptions", publish.Structure: "structure"} {
		if how.String() != want {
			t.Errorf("%d is called %q; want %q", how, how, want)
		}
	}
}
