package sample_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/schema"
	"github.com/tenon-mcp/tenon/schema/sample"
)

func TestInfer(t *testing.T) {
	var many []string
	for i := range 300 {
		many = append(many, fmt.Sprintf(`"id%d":{"n":%d}`, i, i))
	}
	tests := map[string]struct {
		samples []string
		want    string
	}{
		"no sample":                     {nil, `{}`},
		"an object":                     {[]string{`{"id":1,"name":"a"}`}, `{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"}},"required":["id","name"]}`},
		"a member that one is without":  {[]string{`{"id":1,"name":"a"}`, `{"id":2}`}, `{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"}},"required":["id"]}`},
		"a member that comes later":     {[]string{`{"id":2}`, `{"id":1,"name":"a"}`}, `{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"}},"required":["id"]}`},
		"items that differ":             {[]string{`[{"a":1},{"a":null,"b":[]},"x"]`}, `{"type":"array","items":{"type":["object","string"],"properties":{"a":{"type":["integer","null"]},"b":{"type":"array"}},"required":["a"]}}`},
		"integers and fractions":        {[]string{`[1,1.5]`}, `{"type":"array","items":{"type":"number"}}`},
		"integers in disguise":          {[]string{`[1.0,1e2]`}, `{"type":"array","items":{"type":"integer"}}`},
		"all types there are":           {[]string{`[1.5,"a",null,true,{},[]]`}, `{"type":"array","items":{"type":["object","array","string","number","boolean","null"]}}`},
		"an object that is a map":       {[]string{`{` + strings.Join(many, ",") + `}`, `{"x":5}`}, `{"type":"object","additionalProperties":{"type":["object","integer"]}}`},
		"objects without members":       {[]string{`{}`, `{}`}, `{"type":"object"}`},
		"names that must be written so": {[]string{`{"a\"b":1}`}, `{"type":"object","properties":{"a\"b":{"type":"integer"}},"required":["a\"b"]}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var samples [][]byte
			for _, s := range test.samples {
				samples = append(samples, []byte(s))
			}
			got, err := sample.Infer(samples...)
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			s, err := schema.Compile(got, schema.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, sample := range samples {
				if bad := s.Validate(sample); bad != nil {
					t.Errorf("%s: %v", sample, bad)
				}
			}
		})
	}
	if _, err := sample.Infer([]byte(`1`), []byte(`{"a":1,"a":2}`)); err == nil || !strings.HasPrefix(err.Error(), "sample 2: ") {
		t.Errorf("invalid JSON: %v", err)
	}
}
