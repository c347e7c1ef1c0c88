package schema_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon/schema"
)

func TestCoerce(t *testing.T) {
	tests := map[string]struct{ schema, value, want string }{
		"an object as text":                    {`{"properties":{"a":{"type":"object"}}}`, `{"a":"{\"b\":1}"}`, `{"a":{"b":1}}`},
		"a list as text, with space around it": {`{"properties":{"a":{"type":"array"}}}`, `{"a":" [1, 2] "}`, `{"a":[1, 2]}`},
		"a number and a boolean":               {`{"properties":{"a":{"type":"integer"},"b":{"type":"boolean"}}}`, `{"a":"7","b":"true"}`, `{"a":7,"b":true}`},
		"the whole":                            {`{"type":"object"}`, `"{\"a\":1}"`, `{"a":1}`},
		"text inside what was text":            {`{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer"}}}}`, `"{\"a\":\"[\\\"1\\\"]\"}"`, `{"a":[1]}`},
		"a string is admitted":                 {`{"properties":{"a":{"type":["object","string"]}}}`, `{"a":"{}"}`, `{"a":"{}"}`},
		"a branch admits a string":             {`{"properties":{"a":{"anyOf":[{"type":"string","maxLength":1},{"type":"object"}]}}}`, `{"a":"{}"}`, `{"a":"{}"}`},
		"nothing is said":                      {`{}`, `{"a":"{}"}`, `{"a":"{}"}`},
		"the type is not admitted either":      {`{"properties":{"a":{"type":"array"}}}`, `{"a":"{}"}`, `{"a":"{}"}`},
		"no JSON":                              {`{"properties":{"a":{"type":"array"}}}`, `{"a":"[1,"}`, `{"a":"[1,"}`},
		"a name that is there twice":           {`{"properties":{"a":{"type":"object"}}}`, `{"a":"{\"b\":1,\"b\":2}"}`, `{"a":"{\"b\":1,\"b\":2}"}`},
		"a member that is forbidden stays":     {`{"properties":{"a":{"type":"integer"}},"additionalProperties":false}`, `{"x":null,"a":"1"}`, `{"x":null,"a":1}`},
		"null for a list that may be missing":  {`{"properties":{"a":{"type":"array"}}}`, `{"a":null,"b":null}`, `{"b":null}`},
		"null that an enum does not have":      {`{"properties":{"a":{"enum":["x"]},"b":{"const":1}}}`, `{"a":null,"b":null}`, `{}`},
		"null that no branch has":              {`{"properties":{"a":{"anyOf":[{"type":"string"},{"$ref":"#/$defs/n"}]}},"$defs":{"n":{"type":"integer"}}}`, `{"a":null}`, `{}`},
		"null that is denied":                  {`{"properties":{"a":{"not":{"type":"null"}}}}`, `{"a":null}`, `{}`},
		"null that an enum has":                {`{"properties":{"a":{"enum":["x",null]},"b":{"type":"integer"}}}`, `{"a":null,"b":null}`, `{"a":null}`},
		"null that a branch has":               {`{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]},"b":{"type":"integer"}}}`, `{"a":null,"b":null}`, `{"a":null}`},
		"null farther down stays":              {`{"properties":{"a":{"properties":{"b":{"type":"string"}}}}}`, `{"a":{"b":null}}`, `{"a":{"b":null}}`},
		"null for a name that is forbidden":    {`{"properties":{"a":{}},"additionalProperties":false}`, `{"x":null}`, `{"x":null}`},
		"null stays":                           {`{"properties":{"a":{"type":"array"}},"required":["a"]}`, `{"a":null}`, `{"a":null}`},
		"broken JSON comes back":               {`{"type":"object"}`, `{"a":`, `{"a":`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := schema.Compile([]byte(tt.schema), schema.Options{})
			if err != nil {
				t.Fatal(err)
			}
			coerced, fixes := s.Coerce([]byte(tt.value))
			if diff := cmp.Diff(tt.want, string(coerced)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if (len(fixes) > 0) != (tt.want != tt.value) {
				t.Errorf("reported %+v", fixes)
			}
		})
	}
}

// TestCoerceRestoresTextArguments writes members of an object as text and gets the
// object back.
func TestCoerceRestoresTextArguments(t *testing.T) {
	s, err := schema.Compile([]byte(`{"type":"object","properties":{"o":{"type":"object"},"l":{"type":"array"},"n":{"type":["number","null"]},"s":{"type":"string"}}}`), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		intended := map[string]json.RawMessage{
			"o": encoded(rapid.MapOf(rapid.String(), rapid.Int()).Draw(t, "o")),
			"l": encoded(rapid.SliceOf(rapid.String()).Draw(t, "l")),
			"n": encoded(rapid.Ptr(rapid.Int64(), true).Draw(t, "n")),
			"s": encoded(rapid.SampledFrom([]string{"{}", "[1]", "7", "null", "x"}).Draw(t, "s")),
		}
		sent := map[string]json.RawMessage{}
		for name, v := range intended {
			if sent[name] = v; name != "s" && rapid.Bool().Draw(t, "as text") {
				sent[name] = encoded(string(v))
			}
		}
		coerced, _ := s.Coerce(encoded(sent))
		if diff := cmp.Diff(string(encoded(intended)), string(coerced)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

func encoded(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}
