package typedecl_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/internal/typedecl"
)

func TestCoverage(t *testing.T) {
	for name, test := range map[string]struct {
		data                string
		exact, record, blob int
		blobs               string
	}{
		"nothing is declared":            {"", 0, 0, 1, "data"},
		"no JSON":                        {"{", 0, 0, 1, "data"},
		"anything":                       {`{}`, 0, 0, 1, "data"},
		"a text":                         {`{"type":"string"}`, 1, 0, 0, ""},
		"a null":                         {`{"type":"null"}`, 1, 0, 0, ""},
		"members":                        {`{"type":"object","properties":{"a":{"type":"string"},"b":{}}}`, 2, 0, 1, "data.b"},
		"an object":                      {`{"type":"object"}`, 0, 0, 1, "data"},
		"an object without members":      {`{"type":"object","additionalProperties":false}`, 1, 0, 0, ""},
		"members without a type":         {`{"properties":{"a":{"type":"string"}}}`, 1, 0, 1, "data"},
		"a map":                          {`{"type":"object","additionalProperties":{"type":"integer"}}`, 1, 1, 0, ""},
		"a map of anything":              {`{"type":"object","additionalProperties":{}}`, 0, 0, 1, "data"},
		"a list":                         {`{"type":"array","items":{"type":"object","properties":{"a":{"type":"array"}}}}`, 3, 0, 1, "data[].a[]"},
		"a tuple":                        {`{"type":"array","prefixItems":[{"type":"string"},{}],"items":false,"minItems":2}`, 2, 0, 1, "data[1]"},
		"an alternative of anything":     {`{"anyOf":[{"type":"string"},{}]}`, 0, 0, 1, "data"},
		"alternatives":                   {`{"anyOf":[{"type":"string"},{"type":"object","properties":{"a":{}}}]}`, 1, 0, 1, "data.a"},
		"what applies together":          {`{"allOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"description":"x"}]}`, 2, 0, 0, ""},
		"a definition in two places":     {`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"},"b":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"object","properties":{"x":{}}}}}`, 3, 0, 1, "data.a.x"},
		"a definition within itself":     {`{"$ref":"#/$defs/A","$defs":{"A":{"type":"array","items":{"$ref":"#/$defs/A"}}}}`, 2, 0, 0, ""},
		"a definition that is a map":     {`{"type":"array","items":{"$ref":"#/$defs/A"},"$defs":{"A":{"type":"object","additionalProperties":{"type":"string"}}}}`, 2, 1, 0, ""},
		"a definition that is not there": {`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}}}`, 1, 0, 1, "data.a"},
		"nothing but itself":             {`{"$ref":"#/$defs/A","$defs":{"A":{"$ref":"#/$defs/A"}}}`, 1, 0, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := typedecl.NewSet(false)
			one := typedecl.Tool{Name: "t"}
			if test.data != "" {
				one.Data = []byte(test.data)
			}
			s.Add(one)
			want := []typedecl.Coverage{{Exact: test.exact, Record: test.record, Blob: test.blob}}
			got := s.Coverage()
			if blobs := strings.Join(got[0].Blobs, " "); blobs != test.blobs {
				t.Errorf("blobs are %q, want %q", blobs, test.blobs)
			}
			got[0].Blobs = nil
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.data, diff)
			}
		})
	}
}
