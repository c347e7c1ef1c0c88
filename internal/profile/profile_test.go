package profile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/internal/profile"
)

func TestRewrite(t *testing.T) {
	inline := profile.Needs{Inline: true}
	strict := profile.Needs{NoOneOf: true, Closed: true, AllRequired: true}
	for name, test := range map[string]struct {
		needs     profile.Needs
		doc, want string
		notes     []string
	}{
		"nothing": {profile.Needs{}, `{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}}}`, `{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}}}`, nil},
		"a reference": {
			inline, `{"type":"object","properties":{"a":{"$ref":"#/$defs/A","description":"own"}},"$defs":{"A":{"type":"string","description":"A"}}}`,
			`{"type":"object","properties":{"a":{"type":"string","description":"own"}}}`, nil,
		},
		"a reference beside keywords": {
			inline, `{"type":"object","properties":{"a":{"$ref":"#/$defs/A","minLength":2}},"$defs":{"A":{"type":"string"}}}`,
			`{"type":"object","properties":{"a":{"minLength":2,"allOf":[{"type":"string"}]}}}`, nil,
		},
		"a recursive reference": {
			inline, `{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"array","items":{"$ref":"#/$defs/A"}}}}`,
			`{"type":"object","properties":{"a":{"type":"array","items":{"type":"array","items":{},"description":"A, as above"}}}}`,
			[]string{"is recursive: within itself A is of any form"},
		},
		"a reference to nothing": {inline, `{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}}}`, `{"type":"object","properties":{"a":{}}}`, []string{"refers to A, which is not there"}},
		"types": {
			profile.Needs{SplitTypes: true},
			`{"type":"object","properties":{"a":{"type":["integer","null","string"],"minimum":1,"minLength":2,"enum":[1,"xx",null],"title":"A"}}}`,
			`{"type":"object","properties":{"a":{"title":"A","anyOf":[{"type":"integer","enum":[1],"minimum":1},{"type":"null"},{"type":"string","enum":["xx"],"minLength":2}]}}}`, nil,
		},
		"an enum of numbers": {
			profile.Needs{TextEnums: true},
			`{"type":"object","properties":{"a":{"type":"integer","enum":[1,2],"description":"How many"}}}`,
			`{"type":"object","properties":{"a":{"description":"How many. One of 1, 2.","type":"integer"}}}`,
			[]string{"has an enum at /properties/a whose values are no texts: they stand in the description"},
		},
		"a text or null": {
			profile.Needs{TextEnums: true},
			`{"type":"object","properties":{"a":{"type":["string","null"],"enum":["x",null]}}}`,
			`{"type":"object","properties":{"a":{"anyOf":[{"type":"string","enum":["x"]},{"type":"null"}]}}}`, nil,
		},
		"forms at the root": {
			profile.Needs{NoRootCombinators: true},
			`{"type":"object","properties":{"k":{}},"anyOf":[{"properties":{"a":{"type":"string"}},"required":["k","a"]},{"properties":{"b":{"type":"string"}},"required":["k","b"]}]}`,
			`{"type":"object","properties":{"k":{},"a":{"type":"string"},"b":{"type":"string"}},"required":["k"],"description":"Needs a and k, or b and k."}`,
			[]string{"has several forms at the root: which members go together is checked when it is called"},
		},
		"all of the root": {
			profile.Needs{NoRootCombinators: true},
			`{"type":"object","properties":{"k":{}},"allOf":[{"$ref":"#/$defs/A"}],"$defs":{"A":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}}`,
			`{"type":"object","properties":{"k":{},"a":{"type":"string"}},"$defs":{"A":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}},"required":["a"]}`, nil,
		},
		"strict": {
			strict, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"object","properties":{"c":{"enum":["x"]}},"required":["c"]}},"required":["a"]}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":["object","null"],"properties":{"c":{"enum":["x"]}},"required":["c"],"additionalProperties":false}},"required":["a","b"],"additionalProperties":false}`, nil,
		},
		"a strict choice": {
			strict, `{"type":"object","properties":{"a":{"type":"object","oneOf":[{"type":"object","properties":{"k":{"const":"x"}},"required":["k"]},{"type":"object","properties":{"k":{"const":"y"}},"required":["k"]}]}},"required":["a"]}`,
			`{"type":"object","properties":{"a":{"anyOf":[{"type":"object","properties":{"k":{"const":"x"}},"required":["k"],"additionalProperties":false},{"type":"object","properties":{"k":{"const":"y"}},"required":["k"],"additionalProperties":false}]}},"required":["a"],"additionalProperties":false}`, nil,
		},
		"a strict map": {
			strict, `{"type":"object","properties":{"a":{"type":"object","additionalProperties":{"type":"integer"},"description":"By name"}},"required":["a"]}`,
			`{"type":"object","properties":{"a":{"type":"string","description":"By name. A JSON object as text; each of its values fits {\"type\":\"integer\"}."}},"required":["a"],"additionalProperties":false}`,
			[]string{"has an object of any form at /properties/a, which is sent as JSON text"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			made, notes := test.needs.Rewrite([]byte(test.doc), 0)
			if diff := cmp.Diff(test.want, string(made)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.notes, notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRewriteIsBounded: definitions that would double with each level, and recursive
// forms of forms, end within the limit and are noted.
func TestRewriteIsBounded(t *testing.T) {
	var defs []string
	for i := range 60 {
		defs = append(defs, fmt.Sprintf(`"D%d":{"type":"object","properties":{"a":{"$ref":"#/$defs/D%d"},"b":{"$ref":"#/$defs/D%d"}}}`, i, i+1, i+1))
	}
	doubling := `{"type":"object","properties":{"a":{"$ref":"#/$defs/D0"}},"$defs":{` + strings.Join(defs, ",") + `,"D60":{}}}`
	made, notes := profile.Needs{Inline: true}.Rewrite([]byte(doubling), 20_000)
	if len(made) > 20_000 || len(notes) < 2 || strings.Contains(string(made), "$ref") {
		t.Errorf("%d bytes, notes %q", len(made), notes)
	}
	forms := `{"type":"object","anyOf":[{"$ref":"#/$defs/F"},{"$ref":"#/$defs/F"}],"$defs":{"F":{"type":"object","properties":{"x":{"$ref":"#/$defs/F"}},"anyOf":[{"$ref":"#/$defs/F"},{"$ref":"#/$defs/F"},{"required":["x"]}]}}}`
	for _, needs := range []profile.Needs{{NoRootCombinators: true}, {Closed: true, AllRequired: true, NoOneOf: true}, {Inline: true, NoRootCombinators: true, Closed: true, NoOneOf: true}} {
		if made, notes := needs.Rewrite([]byte(forms), 0); len(notes) == 0 || len(made) > 1<<20 {
			t.Errorf("%+v: %d bytes, notes %q", needs, len(made), notes)
		}
	}
	var wide []string
	for i := range 5000 {
		wide = append(wide, fmt.Sprintf(`"p%d":{"type":["string","null"]}`, i))
	}
	made, notes = profile.Needs{Inline: true, SplitTypes: true, TextEnums: true, NoOneOf: true, Closed: true, AllRequired: true}.Rewrite([]byte(`{"type":"object","properties":{`+strings.Join(wide, ",")+`}}`), 0)
	if strings.Count(string(made), `"anyOf"`) != 5000 || notes != nil {
		t.Errorf("%d bytes, notes %q", len(made), notes)
	}
	if made, notes := (profile.Needs{Inline: true}).Rewrite([]byte(`[`), 0); string(made) != "[" || len(notes) != 1 {
		t.Errorf("%s, notes %q", made, notes)
	}
}
