package projection_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/schema/projection"
)

func parsed(t *testing.T, paths string) *projection.Projection {
	t.Helper()
	p, err := projection.ParseProjection(strings.Split(paths, ",")...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestProjectValue(t *testing.T) {
	const pets = `{"total":2, "items":[ {"id":1,"name":"a","by":{"id":7,"x":null}}, {"id":2,"by":null} ],"next":null}`
	tests := map[string]struct{ paths, value, want string }{
		"a member":                        {`total`, pets, `{"total":2}`},
		"two, in the value's order":       {`next,total`, pets, `{"total":2,"next":null}`},
		"a whole array":                   {`items`, `{"x":1,"items":[1, 2]}`, `{"items":[1, 2]}`},
		"a member of items":               {`items[].id`, pets, `{"items":[{"id":1},{"id":2}]}`},
		"the same with a star":            {`items.*.id`, pets, `{"items":[{"id":1},{"id":2}]}`},
		"the same without":                {`items.id`, pets, `{"items":[{"id":1},{"id":2}]}`},
		"the same as a pointer":           {`/items/*/id`, pets, `{"items":[{"id":1},{"id":2}]}`},
		"null on the way stays":           {`items.by.id`, pets, `{"items":[{"by":{"id":7}},{"by":null}]}`},
		"what is missing stays so":        {`items.name`, pets, `{"items":[{"name":"a"},{}]}`},
		"every member":                    {`*.id`, `{"a":{"id":1,"x":2},"b":{"id":3},"c":4}`, `{"a":{"id":1},"b":{"id":3},"c":4}`},
		"every member and more of one":    {`*.id,a.x`, `{"a":{"id":1,"x":2},"b":{"id":3,"x":4}}`, `{"a":{"id":1,"x":2},"b":{"id":3}}`},
		"a part and the whole":            {`a.x,a`, `{"a":{"id":1,"x":2}}`, `{"a":{"id":1,"x":2}}`},
		"an array at the root":            {`id`, `[{"id":1,"x":2}]`, `[{"id":1}]`},
		"an array at the root, with []":   {`[].id`, `[{"id":1,"x":2}]`, `[{"id":1}]`},
		"arrays in arrays":                {`a[][].id`, `{"a":[[{"id":1,"x":2}],[]]}`, `{"a":[[{"id":1}],[]]}`},
		"names with dots and escapes":     {`/a.b/c~1d`, `{"\u0061.b":{"c\/d":1,"e":2},"f":3}`, `{"\u0061.b":{"c\/d":1}}`},
		"a scalar":                        {`a`, `12345678901234567890.10`, `12345678901234567890.10`},
		"an index is a name like another": {`a.0`, `{"a":[{"0":1},5]}`, `{"a":[{"0":1},5]}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parsed(t, test.paths).AppendValue(nil, []byte(test.value))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if got, err := parsed(t, "a").AppendValue(nil, []byte(`{"a":`)); err == nil {
		t.Errorf("invalid JSON became %s", got)
	}
}

func TestProjectSchema(t *testing.T) {
	tests := map[string]struct{ paths, doc, want string }{
		"members and what is required": {
			`id,by.name`,
			`{"type":"object","title":"Pet","properties":{"id":{"type":"integer"},"x":{},"by":{"type":"object","properties":{"name":{"type":"string"},"y":{}},"required":["y","name"]}},"required":["x","id"],"additionalProperties":false}`,
			`{"type":"object","title":"Pet","properties":{"id":{"type":"integer"},"by":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}},"additionalProperties":false,"required":["id"]}`,
		},
		"items": {
			`[].id`, `{"type":"array","minItems":1,"uniqueItems":true,"items":{"properties":{"id":{},"x":{}}}}`,
			`{"type":"array","minItems":1,"items":{"properties":{"id":{}}}}`,
		},
		"recursion": {
			`kids.kids.id`,
			`{"$ref":"#/$defs/Node","$defs":{"Node":{"type":"object","properties":{"id":{"type":"integer"},"kids":{"type":"array","items":{"$ref":"#/$defs/Node"}}},"required":["id"]}}}`,
			`{"$ref":"#/$defs/Node","$defs":{"Node":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/Node_2"}}},"required":[]},` +
				`"Node_2":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/Node_3"}}},"required":[]},` +
				`"Node_3":{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}}}`,
		},
		"a oneOf that is told apart by what is selected": {
			`kind`, `{"oneOf":[{"properties":{"kind":{"const":"x"}},"required":["kind"]},{"properties":{"kind":{"const":"y"}},"required":["kind"]}]}`,
			`{"oneOf":[{"properties":{"kind":{"const":"x"}},"required":["kind"]},{"properties":{"kind":{"const":"y"}},"required":["kind"]}]}`,
		},
		"a oneOf that is not": {
			`a`, `{"oneOf":[{"properties":{"kind":{"const":"x"},"a":{"type":"null"}}},{"properties":{"kind":{"const":"y"},"a":{}}}]}`,
			`{"anyOf":[{"properties":{"a":{"type":"null"}}},{"properties":{"a":{}}}]}`,
		},
		"a oneOf beside an anyOf": {
			`a`, `{"properties":{"a":{}},"anyOf":[{"minProperties":2}],"oneOf":[{"properties":{"b":{}},"required":["b"]},{}],"allOf":[{"required":["a","b"]}]}`,
			`{"properties":{"a":{}},"anyOf":[{}],"allOf":[{"required":["a"]},{"anyOf":[{"properties":{},"required":[]},{}]}]}`,
		},
		"const and enum": {
			`a`, `{"properties":{"a":{}},"enum":[{"a":1,"b":2},{"b":3,"a":1},{"a":2},7]}`,
			`{"properties":{"a":{}},"enum":[{"a":1},{"a":2},7]}`,
		},
		"a pattern that knows the name": {
			`x-a.b`, `{"patternProperties":{"^x-":{"properties":{"b":{"type":"string"},"c":{}}}},"additionalProperties":false}`,
			`{"properties":{"x-a":{"properties":{"b":{"type":"string"}}}},"additionalProperties":false}`,
		},
		"additionalProperties for the name": {
			`k.b`, `{"additionalProperties":{"properties":{"b":{"type":"string"},"c":{}}}}`,
			`{"properties":{"k":{"properties":{"b":{"type":"string"}}}},"additionalProperties":false}`,
		},
		"every member, as before": {
			`*.b`, `{"type":"object","minProperties":1,"additionalProperties":{"properties":{"b":{"type":"string"},"c":{}}}}`,
			`{"type":"object","minProperties":1,"properties":{},"additionalProperties":{"properties":{"b":{"type":"string"}}}}`,
		},
		"not, where a type is rejected": {`a`, `{"properties":{"a":{}},"not":{"type":"null"}}`, `{"properties":{"a":{}},"not":{"type":"null"}}`},
		"not, where it needs the rest":  {`a`, `{"properties":{"a":{}},"not":{"required":["b"]}}`, `{"properties":{"a":{}}}`},
		"if, where it needs the rest": {
			`a`, `{"properties":{"a":{}},"if":{"required":["b"]},"then":{"required":["a"]},"else":{"properties":{"a":{"type":"null"}}}}`,
			`{"properties":{"a":{}}}`,
		},
		"if, where all it looks at is selected": {
			`a`, `{"properties":{"a":{}},"if":{"required":["a"]},"then":{"required":["b"]},"else":{"minProperties":1}}`,
			`{"properties":{"a":{}},"if":{"required":["a"]},"then":{"required":[]},"else":{}}`,
		},
		"what depends on a member": {
			`a,b`, `{"properties":{"a":{},"b":{},"c":{}},"dependentRequired":{"a":["b","c"],"c":["a"]},"dependentSchemas":{"a":{"required":["c","b"]},"c":{"required":["a"]}}}`,
			`{"properties":{"a":{},"b":{}},"dependentRequired":{"a":["b"]},"dependentSchemas":{"a":{"required":["b"]}}}`,
		},
		"contains, where more items may become alike": {
			`[].a`, `{"contains":{"properties":{"a":{},"b":{"const":1}},"required":["b"]},"minContains":1,"maxContains":1}`,
			`{"contains":{"properties":{"a":{}},"required":[]},"minContains":1}`,
		},
		"contains, where all it looks at is selected": {
			`[].a`, `{"contains":{"required":["a"]},"maxContains":1,"items":{"properties":{"a":{},"b":{}}}}`,
			`{"contains":{"required":["a"]},"maxContains":1,"items":{"properties":{"a":{}}}}`,
		},
		"every member, and more of one that a pattern knows": {
			`*.a,x.b`, `{"patternProperties":{"^x":{"properties":{"a":{},"b":{},"c":{}}}},"additionalProperties":false}`,
			`{"properties":{"x":{"properties":{"a":{},"b":{}}}}}`,
		},
		"anchors become pointers":     {`a`, `{"properties":{"a":{"$ref":"#here"}},"$defs":{"x":{"$anchor":"here","type":"string"}}}`, `{"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"string"}}}`},
		"another document is nothing": {`a`, `{"properties":{"a":{"$ref":"other.json"}}}`, `{}`},
		"a schema that says nothing":  {`a.b`, `true`, `true`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parsed(t, test.paths).AppendSchema(nil, []byte(test.doc))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestProjectionRefuses(t *testing.T) {
	const doc = `{"type":"object","properties":{"items":{"type":"array","items":{"$ref":"#/$defs/Pet"}},"total":{"type":"integer"},"meta":{"type":"object"}},` +
		`"$defs":{"Pet":{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"},"owner":{"anyOf":[{"$ref":"#/$defs/Pet"},{"type":"null"}]}}}}}`
	tests := map[string]struct{ paths, want string }{
		"nothing at all":             {``, `path : a name is missing`},
		"an empty name":              {`a..b`, `path a..b: a name is missing`},
		"an index":                   {`items[0]`, `path items[0]: only "[]" is allowed in brackets; names with brackets are written as JSON Pointers`},
		"a letter too few":           {`itms`, `path itms: itms is not known; there is items`},
		"a member of the items":      {`Name`, `path Name: Name is not known; there is items, total, meta`},
		"deep, in a union":           {`items.owner.nam`, `path items.owner.nam: nam is not known; there is items.owner.name`},
		"below what has no members":  {`total.x`, `path total.x: x is not known`},
		"a member of a free object":  {`meta.x.y`, ``},
		"a member of recursive ones": {`items.owner.owner.owner.id`, ``},
		"the second of two":          {`total,x`, `path x: x is not known; there is items, total, meta`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			p, err := projection.ParseProjection(strings.Split(test.paths, ",")...)
			if err == nil {
				_, err = p.AppendSchema(nil, []byte(doc))
				if unknown := (*projection.PathError)(nil); err != nil && !errors.As(err, &unknown) {
					t.Errorf("%T", err)
				}
			}
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for name, paths := range map[string][]string{
		"no path": nil, "many paths": make([]string, 1000), "a long path": {strings.Repeat("a", 20_000)}, "a deep path": {strings.Repeat("a.", 100) + "b"},
	} {
		if _, err := projection.ParseProjection(paths...); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// TestProjectWhatIsNoJSON: what is cut off is an error, wherever that is.
func TestProjectWhatIsNoJSON(t *testing.T) {
	const whole = `{"a":[{"b":"x\"\\","c":[1,{"d":null}]},[2,"y"]],"e":{"f":-1.5e3,"\u0061":{}}}`
	for _, paths := range []string{"a", "a.b", "a.c.d,e.f", "*", "*.*.*", "nothing", "/a/*/c"} {
		p := parsed(t, paths)
		if _, err := p.AppendValue(nil, []byte(whole)); err != nil {
			t.Errorf("%s: %v", paths, err)
		}
		for i := range len(whole) {
			if got, err := p.AppendValue(nil, []byte(whole[:i])); err == nil {
				t.Errorf("%s of %s is %s", paths, whole[:i], got)
			}
		}
		if _, err := p.AppendValue(nil, bytes.Repeat([]byte("["), 1<<20)); err == nil {
			t.Errorf("%s: a bottomless list", paths)
		}
	}
}
