package publish_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon/internal/publish"
)

func TestArraysGetItems(t *testing.T) {
	for name, test := range map[string]struct{ doc, tuples, others string }{
		"an array":                        {`{"type":"object","properties":{"a":{"type":"array","maxItems":2}}}`, `{"type":"object","properties":{"a":{"items":{},"type":"array","maxItems":2}}}`, ""},
		"an array or null":                {`{"type":"object","properties":{"a":{"type":["null","array"]}}}`, `{"type":"object","properties":{"a":{"items":{},"type":["null","array"]}}}`, ""},
		"every type":                      {`{"type":"object","properties":{"a":{"type":["object","array","string","integer","number","boolean","null"]}}}`, `{"type":"object","properties":{"a":{"type":["object","array","string","integer","number","boolean","null"]}}}`, ""},
		"an array in an array":            {`{"type":"object","additionalProperties":{"type":"array","items":{"type":"array"}}}`, `{"type":"object","additionalProperties":{"type":"array","items":{"items":{},"type":"array"}}}`, ""},
		"a definition":                    {`{"type":"object","$defs":{"A":{"type":"array"}}}`, `{"type":"object","$defs":{"A":{"items":{},"type":"array"}}}`, ""},
		"a tuple":                         {`{"type":"object","properties":{"a":{"type":"array","prefixItems":[{}]}}}`, `{"type":"object","properties":{"a":{"items":{},"type":"array","prefixItems":[{}]}}}`, `{"type":"object","properties":{"a":{"type":"array","prefixItems":[{}]}}}`},
		"items are there":                 {`{"type":"object","properties":{"a":{"type":"array","items":false}}}`, `{"type":"object","properties":{"a":{"type":"array","items":false}}}`, ""},
		"no type":                         {`{"type":"object","properties":{"a":{"maxItems":2}}}`, `{"type":"object","properties":{"a":{"maxItems":2}}}`, ""},
		"an array that is a value":        {`{"type":"object","default":{"type":"array"}}`, `{"type":"object","default":{"type":"array"}}`, ""},
		"unevaluatedItems would see less": {`{"type":"object","properties":{"a":{"type":"array","unevaluatedItems":false}}}`, `{"type":"object","properties":{"a":{"type":"array","unevaluatedItems":false}}}`, ""},
		"a property of that name":         {`{"type":"object","properties":{"a":{"type":"array","properties":{"unevaluatedItems":{}}}}}`, `{"type":"object","properties":{"a":{"items":{},"type":"array","properties":{"unevaluatedItems":{}}}}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if test.others == "" {
				test.others = test.tuples
			}
			for tuples, want := range map[bool]string{true: test.tuples, false: test.others} {
				got, changes := new(publish.Compatibility).WithItems([]byte(test.doc), tuples)
				if string(got) != want || len(changes) != 0 {
					t.Errorf("tuples %v: %s\nbecame %s, want\n%s\nwith the changes %v", tuples, test.doc, got, want, changes)
				}
			}
		})
	}
}

// TestItemsMeanTheSame holds, with another library as the judge, that a document with
// items accepts what the compatible one accepts, and nothing else.
func TestItemsMeanTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pick := func(from ...string) string { return rapid.SampledFrom(from).Draw(t, "pick") }
		var array func(depth int) string
		array = func(depth int) string {
			inner := `{"type":"string"}`
			if depth > 0 {
				inner = array(depth - 1)
			}
			of := []string{pick(`"type":"array"`, `"type":["array","null"]`, `"minItems":0`)}
			for _, keyword := range []string{
				`"items":` + inner, `"prefixItems":[` + inner + `]`, `"contains":` + inner, `"maxItems":2`, `"uniqueItems":true`,
				`"allOf":[` + inner + `]`, `"anyOf":[` + inner + `,{"type":"null"}]`, `"not":` + inner, `"unevaluatedItems":false`,
			} {
				if rapid.IntRange(0, 3).Draw(t, "has") == 0 {
					of = append(of, keyword)
				}
			}
			return "{" + strings.Join(of, ",") + "}"
		}
		doc := `{"type":"object","properties":{"p":` + array(2) + `}}`
		plain, _ := publish.Compatible([]byte(doc))
		for _, tuples := range []bool{true, false} {
			made, _ := new(publish.Compatibility).WithItems([]byte(doc), tuples)
			before, after := judge(t, string(plain)), judge(t, string(made))
			for range 12 {
				var value func(depth int) string
				value = func(depth int) string {
					if depth == 0 || rapid.IntRange(0, 3).Draw(t, "leaf") == 0 {
						return pick(`"a"`, `1`, `null`, `{}`)
					}
					parts := make([]string, rapid.IntRange(0, 3).Draw(t, "n"))
					for i := range parts {
						parts[i] = value(depth - 1)
					}
					return "[" + strings.Join(parts, ",") + "]"
				}
				v := `{"p":` + value(3) + `}`
				if was, is := fits(t, before, v), fits(t, after, v); was != is {
					t.Fatalf("%s\nbecame %s\nand %s: fitted %v, fits %v", plain, made, v, was, is)
				}
			}
		}
	})
}

func judge(t *rapid.T, doc string) *jsonschema.Schema {
	c := jsonschema.NewCompiler()
	parsed, err := jsonschema.UnmarshalJSON(strings.NewReader(doc))
	if err == nil {
		err = c.AddResource("doc.json", parsed)
	}
	if err != nil {
		t.Fatal(strconv.Quote(doc), err)
	}
	s, err := c.Compile("doc.json")
	if err != nil {
		t.Fatal(doc, err)
	}
	return s
}

func fits(t *rapid.T, s *jsonschema.Schema, value string) bool {
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(value))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v) == nil
}
