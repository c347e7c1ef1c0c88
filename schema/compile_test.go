package schema_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/schema"
)

func TestCompileRefuses(t *testing.T) {
	tests := map[string]struct{ doc, pointer, what string }{
		"what is not JSON":                  {`{"type":`, "", "offset 8: the input ends, expected a value"},
		"duplicate keys":                    {`{"type":"null","type":"null"}`, "", "offset 15: duplicate key"},
		"not a schema":                      {`[]`, "", "a schema is an object or a boolean"},
		"an unknown type":                   {`{"properties":{"a/b":{"type":"text"}}}`, "/properties/a~1b/type", `"text" is not the name of a type`},
		"a type that is not a name":         {`{"type":["string",1]}`, "/type/1", "1 is not the name of a type"},
		"no types":                          {`{"type":[]}`, "/type", "must not be empty"},
		"a type that is listed twice":       {`{"type":["null","null"]}`, "/type", `"\"null\"" is in the list twice`},
		"required that is not a list":       {`{"required":true}`, "/required", "must be a list of names"},
		"a name required twice":             {`{"required":["a","\u0061"]}`, "/required", `"a" is in the list twice`},
		"a negative count":                  {`{"minLength":-1}`, "/minLength", "must be an integer that is not negative"},
		"a count with a fraction":           {`{"maxItems":1.5}`, "/maxItems", "must be an integer that is not negative"},
		"a multiple of nothing":             {`{"multipleOf":0}`, "/multipleOf", "must be more than 0"},
		"a bound that is not a number":      {`{"minimum":"1"}`, "/minimum", "must be a number"},
		"an empty union":                    {`{"anyOf":[]}`, "/anyOf", "must not be empty"},
		"items as a list":                   {`{"items":[{}]}`, "/items", "a schema is an object or a boolean"},
		"a pattern that is not a string":    {`{"pattern":1}`, "/pattern", "must be a string"},
		"a description that is null":        {`{"description":null}`, "/description", "must be a string"},
		"a reference to nothing":            {`{"$ref":"#/$defs/a"}`, "/$ref", `reference "#/$defs/a" cannot be resolved`},
		"a reference to no anchor":          {`{"items":{"$ref":"#a"}}`, "/items/$ref", `reference "#a" cannot be resolved`},
		"a reference to what is none":       {`{"$ref":"#/x","x":1}`, "/x", "a schema is an object or a boolean"},
		"a error behind a reference":        {`{"$ref":"#/x/y","x":{"y":{"type":"x"}}}`, "/x/y/type", `"x" is not the name of a type`},
		"a reference to the network":        {`{"$ref":"http://127.0.0.1:1/s"}`, "", `failing loading "http://127.0.0.1:1/s": reference to http://127.0.0.1:1/s, which is another document`},
		"a reference to a file":             {`{"$ref":"file:///etc/passwd"}`, "", `failing loading "file:///etc/passwd": reference to file:///etc/passwd, which is another document`},
		"a wrong anchor":                    {`{"$anchor":"1"}`, "/$anchor", `"1" is not the name of an anchor`},
		"a error in the fallback validator": {`{"contains":{"minimum":[]},"unevaluatedItems":true}`, "/contains/minimum", "must be a number"},
		"too many schemas for tier two":     {`{"contains":{},"prefixItems":[` + strings.Repeat("{},", 6000) + `{}]}`, "", "6003 schemas in one document with contains; at most 5000 are read"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := schema.Compile([]byte(test.doc), schema.Options{})
			var got *schema.Error
			if !errors.As(err, &got) {
				t.Fatalf("got %v, want an *Error", err)
			}
			if diff := cmp.Diff(&schema.Error{Pointer: test.pointer, Message: test.what}, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReferencesInsideADocumentInTheDocument(t *testing.T) {
	const doc = `{"contains":{},"properties":{"a":{"$ref":"inner"}},"$defs":{"i":{"$id":"inner","$ref":"#/$defs/b","$defs":{"b":{"type":"null"}}}}}`
	s, err := schema.Compile([]byte(doc), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/a"}, violated(s.Validate([]byte(`{"a":1}`)))); diff != "" {
		t.Errorf("locations (-want +got):\n%s", diff)
	}
}

func TestViolationsOfTheSecondTierComeInOrder(t *testing.T) {
	s, err := schema.Compile([]byte(`{"unevaluatedProperties":{"type":"null"}}`), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range s.Validate([]byte(`{"d":1,"a":[],"c":"","b":{},"e":null,"f":1}`)) {
		got = append(got, v.Path)
	}
	if diff := cmp.Diff([]string{"/d", "/a", "/c", "/b", "/f"}, got); diff != "" {
		t.Errorf("locations (-want +got):\n%s", diff)
	}
}

func TestFormats(t *testing.T) {
	values := []string{
		`"2024-02-28"`, `"2024-02-29"`, `"2023-02-29"`, `"2024-13-01"`, `"2024-00-01"`, `"2024-01-00"`, `"2024-01-01T00:00:00Z"`,
		`"2024-01-01T23:59:60Z"`, `"1998-12-31T23:59:60Z"`, `"2024-01-01T24:00:00Z"`, `"2024-01-01T00:00:00.123Z"`, `"2024-01-01T00:00:00.Z"`,
		`"2024-01-01T00:00:00"`, `"2024-01-01T00:00:00+01:00"`, `"2024-01-01t00:00:00z"`, `"2024-01-01T00:00:00Zx"`, `"2024-01-01T00:00:00.1"`,
		`"123e4567-e89b-12d3-a456-426614174000"`, `"123E4567-E89B-12D3-A456-426614174000"`, `"123g4567-e89b-12d3-a456-426614174000"`,
		`"123e4567-e89b-12d3-a456-42661417400"`, `"a@example.org"`, `"example.org"`, `"https://example.org/a?b#c"`, `"::1"`, `"127.0.0.1"`,
		`"\u0032024-02-28"`, `""`, `1`, `null`,
	}
	for _, format := range []string{"date", "date-time", "time", "uuid", "email", "uri", "ipv4", "ipv6", "hostname", "regex", "unknown"} {
		t.Run(format, func(t *testing.T) {
			doc := []byte(`{"format":"` + format + `"}`)
			library, err := newJudge(doc, true)
			if err != nil {
				t.Fatal(err)
			}
			s, err := schema.Compile(doc, schema.Options{AssertFormat: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range values {
				if diff := cmp.Diff(library.pointers([]byte(v)), violated(s.Validate([]byte(v)))); diff != "" {
					t.Errorf("%s (-library +we):\n%s", v, diff)
				}
			}
		})
	}
}

func TestFormatIsAnAnnotationUnlessAsserted(t *testing.T) {
	s, err := schema.Compile([]byte(`{"format":"date"}`), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Validate([]byte(`"never"`)); got != nil {
		t.Errorf("got %v", got)
	}
}

func TestWhatViolationsSay(t *testing.T) {
	long := strings.Repeat("é", 100)
	tests := map[string]struct {
		doc, value, keyword, expected, got string
	}{
		"several types":      {`{"type":["string","null","integer"]}`, `1.5`, "type", "null, integer or string", "1.5"},
		"a constant":         {`{"const":{"a":1}}`, `[]`, "const", `{"a":1}`, "[]"},
		"a long value":       {`{"type":"null"}`, `"` + long + `"`, "type", "null", `"` + strings.Repeat("é", 38) + "…"},
		"a bound":            {`{"maximum":10}`, `11`, "maximum", "at most 10", "11"},
		"an exclusive bound": {`{"exclusiveMinimum":1.5}`, `1`, "exclusiveMinimum", "more than 1.5", "1"},
		"a length":           {`{"minLength":2}`, `"a"`, "minLength", "at least 2 characters", `"a"`},
		"one item":           {`{"minItems":1}`, `[]`, "minItems", "at least 1 item", "[]"},
		"members":            {`{"maxProperties":0}`, `{"a":1}`, "maxProperties", "at most 0 members", `{"a":1}`},
		"a pattern":          {`{"pattern":"^x"}`, `"y"`, "pattern", "a string that matches ^x", `"y"`},
		"a multiple":         {`{"multipleOf":0.5}`, `1.2`, "multipleOf", "a multiple of 0.5", "1.2"},
		"not":                {`{"not":{}}`, `1`, "not", "a value that does not match the schema under not", "1"},
		"oneOf":              {`{"oneOf":[true,true]}`, `1`, "oneOf", "exactly one matching schema under oneOf", "1"},
		"false":              {`false`, `1`, "false", "nothing", "1"},
		"a name":             {`{"propertyNames":{"maxLength":1}}`, `{"ab":1}`, "propertyNames", `another name than "ab"`, `{"ab":1}`},
		"equal items":        {`{"uniqueItems":true}`, `[1,1.0]`, "uniqueItems", "no two equal items", "[1,1.0]"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			want := []schema.Violation{{Keyword: test.keyword, Expected: test.expected, Got: test.got}}
			s, err := schema.Compile([]byte(test.doc), schema.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, s.Validate([]byte(test.value))); diff != "" {
				t.Errorf("byte validator (-want +got):\n%s", diff)
			}
			if s, err = schema.Compile([]byte(`{"allOf":[`+test.doc+`],"dependentRequired":{}}`), schema.Options{}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, s.Validate([]byte(test.value))); diff != "" {
				t.Errorf("fallback validator (-want +got):\n%s", diff)
			}
		})
	}
}

func TestViolationAsJSON(t *testing.T) {
	got, err := json.Marshal(schema.Violation{Path: "/a", Keyword: "type", Expected: "string", Got: "1"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"path":"/a","keyword":"type","expected":"string","got":"1"}`, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
