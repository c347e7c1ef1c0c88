package evidence

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

const nested = `{"type":"object","properties":{"id":{"type":"integer"},"owner":{"$ref":"#/$defs/User"},"tags":{"type":"array","items":{"type":"string"}},
	"labels":{"type":"object","additionalProperties":{"$ref":"#/$defs/User"}},"pair":{"type":"array","prefixItems":[{"type":"integer"},{"type":"string"}]},
	"pet":{"oneOf":[{"type":"object","required":["bark"],"properties":{"bark":{"type":"boolean"},"age":{}}},{"type":"object","required":["meow"],"properties":{"meow":{},"age":{}}}]}},
	"$defs":{"User":{"allOf":[{"type":"object","properties":{"name":{"type":"string"}}}],"properties":{"boss":{"$ref":"#/$defs/User"},"e~/m":{}}}}}`

func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		name, schema, value string
		came                []string
		missing             int
	}{
		{name: "members", schema: nested, value: `{"id":1,"extra":{"owner":1}}`, came: []string{"/properties/id"}, missing: 16},
		{name: "a definition behind references", schema: nested, value: `{"owner":{"boss":{"name":"a"},"e~/m":1}}`, came: []string{"/$defs/User/allOf/0/properties/name", "/$defs/User/properties/boss", "/$defs/User/properties/e~0~1m", "/properties/owner"}, missing: 13},
		{name: "elements", schema: nested, value: `{"tags":["a"],"pair":[1]}`, came: []string{"/properties/pair", "/properties/pair/prefixItems/0", "/properties/tags", "/properties/tags/items"}, missing: 13},
		{name: "an empty list has no elements", schema: nested, value: `{"tags":[]}`, came: []string{"/properties/tags"}, missing: 16},
		{name: "a map", schema: nested, value: `{"labels":{"ann@example.com":{"name":"a"}}}`, came: []string{"/$defs/User/allOf/0/properties/name", "/properties/labels", "/properties/labels/additionalProperties"}, missing: 14},
		{name: "the alternative that it can be", schema: nested, value: `{"pet":{"meow":1,"age":2}}`, came: []string{"/properties/pet", "/properties/pet/oneOf/1/properties/age", "/properties/pet/oneOf/1/properties/meow"}, missing: 14},
		{name: "another type", schema: nested, value: `{"owner":[{"name":1}],"tags":{"0":1}}`, came: []string{"/properties/owner", "/properties/tags"}, missing: 15},
		{name: "a circle", schema: `{"$ref":"#/$defs/A","$defs":{"A":{"allOf":[{"$ref":"#/$defs/A"}],"properties":{"a":{"$ref":"#"}}}}}`, value: `{"a":{"a":{}}}`, came: []string{"/$defs/A/properties/a"}},
		{name: "no places", schema: `{"type":"string"}`, value: `"a"`},
		{name: "no schema", schema: `true`, value: `{}`},
		{name: "a reference to nowhere", schema: `{"properties":{"a":{"$ref":"#/$defs/none"},"b":{"$ref":"http://x/y"},"c":{"$ref":1}}}`, value: `{"a":{"x":1},"b":{}}`, came: []string{"/properties/a", "/properties/b"}, missing: 1},
		{name: "keywords of another kind", schema: `{"properties":[{"a":1}],"items":[1],"allOf":{"a":1},"prefixItems":{},"additionalProperties":true}`, value: `{"a":1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := placesOf([]byte(c.schema))
			var came []string
			missing := 0
			if p != nil {
				got := p.in([]byte(c.value), nil)
				for i, pointer := range p.pointers {
					if got.has(i) {
						came = append(came, pointer)
					} else {
						missing++
					}
				}
			}
			if d := cmp.Diff(c.came, came); d != "" || missing != c.missing {
				t.Errorf("%d are missing, want %d; those that came (-want +got):\n%s", missing, c.missing, d)
			}
		})
	}
}

// FuzzPlaces: whatever a schema and a value are, the places have pointers that lead
// somewhere, what came is among them, and a list of the value comes to no fewer.
func FuzzPlaces(f *testing.F) {
	f.Add(nested, `{"owner":{"boss":{"name":"a"}},"tags":["a"]}`)
	f.Add(`{"$ref":"#"}`, `{}`)
	f.Add(`{"items":{"$ref":"#"},"allOf":[{"$ref":"#"},{"$ref":"#"}]}`, `[[[[]]]]`)
	f.Fuzz(func(t *testing.T, schema, value string) {
		p := placesOf([]byte(schema))
		if p == nil {
			return
		}
		doc, err := rawjson.Parse([]byte(schema))
		if err != nil || !slices.IsSorted(p.pointers) {
			t.Fatal(err, p.pointers)
		}
		for _, pointer := range p.pointers {
			if doc.Pointer(pointer) == rawjson.None {
				t.Fatalf("%q leads nowhere", pointer)
			}
		}
		came := p.in([]byte(value), func(undeclared) {})
		back, err := parseCoverage(came.text())
		if err != nil || back != came || came.union(came) != came {
			t.Fatal(came, back, err)
		}
	})
}

// TestMissingPlaces counts responses and finds what none of them had: of a definition
// once, though two operations share it.
func TestMissingPlaces(t *testing.T) {
	const list, one = `{"type":"array","items":{"$ref":"#/$defs/Book"},"$defs":{"Book":{"type":"object","properties":{"id":{},"title":{},"isbn":{}}}}}`, `{"type":"object","properties":{"id":{},"title":{},"isbn":{}}}`
	all := []Described{
		{Operation: Operation{Name: "list", Responses: []tenon.ResponseSchema{{Status: "200", MediaType: "application/json", Schema: []byte(list)}}}, Source: "shop", Tool: "list"},
		{Operation: Operation{Name: "get", Responses: []tenon.ResponseSchema{{Status: "200", MediaType: "application/json", Schema: []byte(one), Definition: "Book"}}}, Source: "shop", Tool: "get"},
		{Operation: Operation{Name: "silent", Responses: []tenon.ResponseSchema{{Status: "200", MediaType: "application/json", Schema: []byte(list)}}}, Source: "shop", Tool: "silent"},
	}
	path := filepath.Join(t.TempDir(), "ledger.ndjson")
	r, err := Open(Options{Path: path, Describe: func(tool any) Operation {
		i, _ := tool.(int)
		return all[i].Operation
	}})
	if err != nil {
		t.Fatal(err)
	}
	observe := func(tool int, schemaText, body string) {
		against, err := schema.Compile([]byte(schemaText), schema.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r.Observe(&Observation{Tool: tool, Declared: true, Status: "200", MediaType: "application/json", Verdict: tenon.Fits, Against: against, Body: []byte(body)})
	}
	observe(0, list, `[{"id":1},{"id":2,"CANARY":3}]`)
	if err := r.Flush(); err != nil { // what was written before counts on
		t.Fatal(err)
	}
	observe(0, list, `[]`)
	observe(1, one, `{"title":"CANARY"}`)
	observe(1, one, "{"+strings.Repeat(" ", maxBodySize)+`"isbn":1}`) // too big to be looked into
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text := text(t, l); strings.Contains(text, "CANARY") {
		t.Error(text)
	}
	got := Compare(l.Sum(), all)
	if got.Places != 4 || len(got.Missing) != 1 || got.Missing[0].Pointer != "/$defs/Book/properties/isbn" || got.Missing[0].Described.Tool != "list" {
		t.Errorf("%d places, missing %+v", got.Places, got.Missing)
	}
}

// TestFewBodiesAreLookedInto: what takes time is bounded, and stops where it finds
// nothing new.
func TestFewBodiesAreLookedInto(t *testing.T) {
	against, err := schema.Compile([]byte(`{"properties":{"a":{},"b":{}}}`), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := &Recorder{looks: map[any]*looks{}}
	o := &Observation{Tool: 1, Declared: true, Against: against, Body: []byte(`{"a":1}`)}
	for range maxBodies {
		if !r.wanted(o) {
			t.Fatal("the first ones are looked into")
		}
		r.bodies++
	}
	if r.wanted(o) {
		t.Error("too many at a time")
	}
	r.bodies, r.looks[1].idle = 0, enoughLooks
	n := 0
	for range 10 * oneOfMany {
		if r.wanted(o) {
			n++
		}
	}
	if n != 10 {
		t.Errorf("%d of %d", n, 10*oneOfMany)
	}
	for tool := range maxLooks + 10 { // after reloads
		o.Tool = tool + 2
		r.wanted(o)
	}
	if len(r.looks) > maxLooks {
		t.Errorf("%d tools are kept", len(r.looks))
	}
}
