package clients

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// written is a schema that a test writes, with what each part of it costs.
type written struct {
	strings.Builder
	parts map[string]int // bytes
	t     *rapid.T
}

// note writes a member that is of a part, sometimes.
func (w *written) note(part, member string) {
	if rapid.Bool().Draw(w.t, member) {
		w.WriteString(member + ",")
		w.parts[part] += len(member) + len(",")
	}
}

// schema writes a schema whose properties have names of keywords.
func (w *written) schema(depth int) {
	w.WriteString("{")
	w.note("descriptions", `"description":"an \"enum\", {of} things"`)
	w.note("descriptions", `"$comment":"x"`)
	w.note("titles", `"title":"Thing"`)
	w.note("values", `"enum":[{"description":"a value"},"pattern"]`)
	w.note("values", `"const":{"title":[]}`)
	w.note("bounds", `"pattern":"^,$"`)
	w.note("bounds", `"format":"date"`)
	w.note("bounds", `"minimum":0.5`)
	w.note("notes", `"examples":[{"description":1}]`)
	w.note("notes", `"default":{"enum":[1]}`)
	w.note("notes", `"x-order":1`)
	for _, key := range []string{"properties", "anyOf", "items"} {
		if depth == 0 || !rapid.Bool().Draw(w.t, key) {
			continue
		}
		switch key {
		case "properties":
			w.WriteString(`"properties":{"description":`)
			w.schema(depth - 1)
			w.WriteString(`,"enum":`)
			w.schema(depth - 1)
			w.WriteString("},")
		case "anyOf":
			w.WriteString(`"anyOf":[true,`)
			w.schema(depth - 1)
			w.WriteString("],")
		default:
			w.WriteString(`"items":`)
			w.schema(depth - 1)
			w.WriteString(",")
		}
	}
	w.WriteString(`"type":["object","array"]}`)
}

// TestCostOf: each part costs what was written of it, in the data and in definitions,
// what stands around them is the envelope, and together they are the schema.
func TestCostOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &written{parts: map[string]int{}, t: t}
		before, behind := `{"type":"object","properties":{"status":{"enum":["a"],"description":"of it"},`, `"time":{}},"required":["data"],`
		w.WriteString(before + `"data":`)
		w.schema(3)
		w.WriteString("," + behind)
		at := w.Len()
		w.WriteString(`"$defs":{"description":`)
		w.schema(2)
		w.WriteString("},")
		w.parts["definitions"] = w.Len() - at
		w.WriteString(`"title":"Envelope"}`)
		schema := []byte(w.String())
		w.parts["envelope"] = len(before + behind + `"title":"Envelope"}`)

		got := CostOf(schema, "data")
		if sum := got.Sum(); sum.Bytes != len(schema) || sum.Tokens != Tokens(schema) {
			t.Errorf("the parts have %d bytes and %d tokens, the schema %d and %d", sum.Bytes, sum.Tokens, len(schema), Tokens(schema))
		}
		for _, p := range append(got.Parts()[1:], Part{"definitions", got.Definitions}) {
			if p.Cost.Bytes != w.parts[p.Name] || p.Cost.Tokens < 0 || p.Cost.Tokens > p.Cost.Bytes {
				t.Errorf("%s: %d bytes and %d tokens, want %d bytes\n%s", p.Name, p.Cost.Bytes, p.Cost.Tokens, w.parts[p.Name], schema)
			}
		}
		if got.Structure.Tokens < 0 {
			t.Errorf("the structure has %d tokens", got.Structure.Tokens)
		}
		if whole := CostOf(schema, ""); whole.Envelope.Bytes != 0 || whole.Values.Bytes != got.Values.Bytes+len(`"enum":["a"],`) {
			t.Errorf("without an envelope: %+v", whole)
		}
	})
}

// TestCostOfAnything: what is no object schema is structure.
func TestCostOfAnything(t *testing.T) {
	for _, schema := range []string{"", "true", "{}", `{"type":`, `[{"title":"a"}]`, `{"properties":7,"$defs":null}`, `{"title" : "spaced"}`} {
		got := CostOf([]byte(schema), "data")
		if sum := got.Sum(); sum.Bytes != len(schema) || sum.Tokens != Tokens(schema) {
			t.Error(fmt.Sprintf("%q", schema), got)
		}
	}
}
