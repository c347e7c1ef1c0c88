package publish_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/internal/publish"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

func TestBundle(t *testing.T) {
	tests := map[string]struct {
		docs   []string
		bodies []string
		defs   string
	}{
		"nothing to move": {
			docs:   []string{`{ "type": "string" }`, `true`},
			bodies: []string{`{ "type": "string" }`, `true`},
		},
		"definitions move as they stand": {
			docs:   []string{`{"$ref":"#/$defs/a%20b", "$defs":{"a b":{ "type":"array","items":{"$ref":"#/$defs/c"}},"c":{"maximum":1.0}}}`},
			bodies: []string{`{"$ref":"#/$defs/a%20b"}`},
			defs:   `"$defs":{"a b":{ "type":"array","items":{"$ref":"#/$defs/c"}},"c":{"maximum":1.0}}`,
		},
		"the same definition is kept once": {
			docs: []string{
				`{"$ref":"#/$defs/a","$defs":{"a":{"items":{"$ref":"#/$defs/a"}}}}`,
				`{"items":{"$ref":"#/$defs/a"},"$defs":{"a":{"items":{"$ref":"#/$defs/a"}}}}`,
			},
			bodies: []string{`{"$ref":"#/$defs/a"}`, `{"items":{"$ref":"#/$defs/a"}}`},
			defs:   `"$defs":{"a":{"items":{"$ref":"#/$defs/a"}}}`,
		},
		"another one under the same name gets another": {
			docs: []string{
				`{"$ref":"#/$defs/a~1","$defs":{"a/":{"type":"null"}}}`,
				`{"$ref":"#/$defs/a~1","$defs":{"a/":{"type":"array"}}}`,
				`{"$ref":"#/$defs/a~1","$defs":{"a/":{"type":"array"}}}`,
			},
			bodies: []string{`{"$ref":"#/$defs/a~1"}`, `{"$ref":"#/$defs/a~1_2"}`, `{"$ref":"#/$defs/a~1_2"}`},
			defs:   `"$defs":{"a/":{"type":"null"},"a/_2":{"type":"array"}}`,
		},
		"the same text that means something else": {
			docs: []string{
				`{"$ref":"#/$defs/a","$defs":{"a":{"items":{"$ref":"#/$defs/b"}},"b":{"type":"null"}}}`,
				`{"$ref":"#/$defs/a","$defs":{"a":{"items":{"$ref":"#/$defs/b"}},"b":{"type":"array"},"a_2":{}}}`,
			},
			bodies: []string{`{"$ref":"#/$defs/a"}`, `{"$ref":"#/$defs/a_3"}`},
			defs:   `"$defs":{"a":{"items":{"$ref":"#/$defs/b"}},"b":{"type":"null"},"a_3":{"items":{"$ref":"#/$defs/b_2"}},"b_2":{"type":"array"},"a_2":{}}`,
		},
		"a document that refers to itself": {
			docs: []string{
				`{"$id":"x","$schema":"y","properties":{"a":{"$ref":"#"},"b":{"$ref":"#/$defs/c"},"d":{"$ref":"#/properties/b"}},"$defs":{"c":{}}}`,
				`{"properties":{"a":{"$ref":"#"}}}`,
				`{"properties":{"a":{"$ref":"#"}}}`,
			},
			bodies: []string{`{"$ref":"#/$defs/Root"}`, `{"$ref":"#/$defs/Root_2"}`, `{"$ref":"#/$defs/Root_2"}`},
			defs: `"$defs":{"Root":{"properties":{"a":{"$ref":"#/$defs/Root"},"b":{"$ref":"#/$defs/Root/$defs/c"},` +
				`"d":{"$ref":"#/$defs/Root/properties/b"}},"$defs":{"c":{}}},"Root_2":{"properties":{"a":{"$ref":"#/$defs/Root_2"}}}}`,
		},
		"anchors": {
			docs:   []string{`{"$ref":"#x","$defs":{"a":{"$anchor":"x","items":{"$dynamicRef":"#y"}},"b":{"$dynamicAnchor":"y"}}}`},
			bodies: []string{`{"$ref":"#/$defs/a"}`},
			defs:   `"$defs":{"a":{"items":{"$ref":"#/$defs/b"}},"b":{}}`,
		},
		"a part with a base of its own": {
			docs:   []string{`{"$ref":"#/$defs/a","$defs":{"a":{"$id":"x","properties":{"p":{"$ref":"#/$defs/b"},"q":{"$ref":"#/$defs/a"}},"$defs":{"b":{}}}}}`},
			bodies: []string{`{"$ref":"#/$defs/a"}`},
			defs:   `"$defs":{"a":{"properties":{"p":{"$ref":"#/$defs/a/$defs/b"},"q":{"$ref":"#/$defs/a/$defs/a"}},"$defs":{"b":{}}}}`,
		},
		"a reference that leads nowhere": {
			docs: []string{
				`{"$ref":"#/$defs/a"}`,
				`{"$ref":"#/$defs/a","$defs":{"a":{}}}`,
				`{"$ref":"#/$defs/a/x"}`,
			},
			bodies: []string{`{"$ref":"#/$defs/a"}`, `{"$ref":"#/$defs/a_2"}`, `{"$ref":"#/$defs/a_3/x"}`},
			defs:   `"$defs":{"a_2":{}}`,
		},
		"references that are data": {
			docs:   []string{`{"const":{"$ref":"#"},"default":{"$ref":"#/x"},"properties":{"$ref":{"type":"string"}}}`},
			bodies: []string{`{"const":{"$ref":"#"},"default":{"$ref":"#/x"},"properties":{"$ref":{"type":"string"}}}`},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var b, alone publish.Bundle
			var bodies []string
			for _, doc := range test.docs {
				body, err := b.Add([]byte(doc))
				if err != nil {
					t.Fatal(err)
				}
				bodies = append(bodies, string(body))
			}
			if len(test.docs) == 1 {
				body, err := alone.AddOnly([]byte(test.docs[0]))
				if err != nil || compact(t, body) != compact(t, []byte(bodies[0])) || compact(t, alone.AppendDefs(nil)) != compact(t, b.AppendDefs(nil)) {
					t.Errorf("alone: %s, %s, %v", body, alone.AppendDefs(nil), err)
				}
			}
			if diff := cmp.Diff(test.bodies, bodies); diff != "" {
				t.Errorf("bodies (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.defs, string(b.AppendDefs(nil))); diff != "" {
				t.Errorf("definitions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBundleRefuses(t *testing.T) {
	for _, doc := range []string{``, `{`, `null`, `[]`, `"x"`} {
		if body, err := new(publish.Bundle).Add([]byte(doc)); err == nil {
			t.Errorf("Add(%s) = %s; want an error", doc, body)
		}
		if body, err := new(publish.Bundle).AddOnly([]byte(doc)); err == nil {
			t.Errorf("AddOnly(%s) = %s; want an error", doc, body)
		}
	}
}

// Documents in which nothing is to be renamed are taken apart by their bytes;
// what comes out must be what Add makes of them.
func TestAddOnlyIsAddOfOneDocument(t *testing.T) {
	tests := map[string]string{
		"no definitions":              `{"type":"object","properties":{"a":{"type":"string"}}}`,
		"definitions at the end":      `{"items":{"$ref":"#/$defs/a"},"$defs":{"a":{"$ref":"#/$defs/b"},"b":{}}}`,
		"definitions at the start":    `{"$defs":{"a":{}},"items":{"$ref":"#/$defs/a"}}`,
		"definitions in the middle":   `{"type":"array","$defs":{"a":{}},"items":{"$ref":"#/$defs/a"}}`,
		"nothing but definitions":     `{"$defs":{"a":{}}}`,
		"no definition in them":       `{"type":"array","$defs":{}}`,
		"definitions twice":           `{"$defs":{"a":{}},"items":{"$ref":"#/$defs/a"},"$defs":{"a":{"type":"string"}}}`,
		"definitions that are a list": `{"$defs":[{}],"items":{"$ref":"#/$defs/0"}}`,
		"a reference to the root":     `{"items":{"$ref":"#"},"$defs":{"a":{}}}`,
		"a reference into the body":   `{"items":{"$ref":"#/properties/a"},"properties":{"a":{}}}`,
		"a reference that dangles":    `{"items":{"$ref":"#/$defs/b"},"$defs":{"a":{}}}`,
		"an identity":                 `{"$id":"http://a.test/b","items":{"$ref":"#/$defs/a"},"$defs":{"a":{}}}`,
		"an anchor":                   `{"items":{"$ref":"#b"},"$defs":{"a":{"$anchor":"b"}}}`,
		"an escaped reference":        `{"items":{"\u0024ref":"#"},"$defs":{"a":{}}}`,
		"words in a value":            `{"enum":["$ref","$defs",{"$defs":{"a":1}}],"$defs":{"a":{"const":"}"}}}`,
		"braces and quotes in a name": `{"properties":{"a}\"{":{"$ref":"#/$defs/a"}},"$defs":{"a":{"title":"\\"}}}`,
	}
	for name, doc := range tests {
		t.Run(name, func(t *testing.T) {
			var b, alone publish.Bundle
			want, err := b.Add([]byte(doc))
			if err != nil {
				t.Fatal(err)
			}
			got, err := alone.AddOnly([]byte(doc))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want)+string(b.AppendDefs(nil)), string(got)+string(alone.AppendDefs(nil))); diff != "" {
				t.Errorf("(-Add +AddOnly):\n%s", diff)
			}
		})
	}
}

// alone fails unless AddOnly makes of a document what Add makes of it.

// compact returns a value, or a member, without white space.
func compact(t testing.TB, text []byte) string {
	dst, err := rawjson.AppendCompact(nil, bytes.TrimPrefix(text, []byte(`"$defs":`)))
	if err != nil && len(text) > 0 {
		t.Fatal(err)
	}
	return string(dst)
}
