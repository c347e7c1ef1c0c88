package convert

import (
	"bytes"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

// TestArraysAreConvertedExactly holds what becomes of a schema of an array, with
// an enum beside its type, against the schema as the document has
// it, with another library as the judge: both accept the same values in every
// direction. In one case nothing could fit the document: an enum none of whose
// values is an array. There the values are those of the items.
func TestArraysAreConvertedExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pick := func(from ...string) string { return rapid.SampledFrom(from).Draw(t, "pick") }
		scalars := []string{`"a"`, `"b"`, `1`, `2`, `true`, `null`, `[]`, `["a"]`, `["c"]`, `[1,2]`, `{"x":1}`}
		schema := pick(`"type":"array"`, `"type":["array","null"]`, `"type":["string","array"]`) + pick("", `,"items":{}`, `,"items":{"type":"string"}`, `,"items":{"type":"integer","maximum":1}`, `,"items":{"type":"string","enum":["a","c"]}`, `,"items":false`, `,"items":true`) +
			pick("", `,"minItems":1`, `,"maxItems":1`, `,"uniqueItems":true`)
		var enum []string
		if rapid.Bool().Draw(t, "enum") {
			enum = rapid.SliceOfNDistinct(rapid.SampledFrom(scalars), 1, 4, rapid.ID[string]).Draw(t, "values")
			if rapid.Bool().Draw(t, "enum first") {
				schema = `"enum":[` + strings.Join(enum, ",") + `],` + schema
			} else {
				schema += `,"enum":[` + strings.Join(enum, ",") + `]`
			}
		}
		whole := "{" + schema + "}"
		if rapid.Bool().Draw(t, "below") {
			whole = `{"type":"object","properties":{"p":` + whole + `}}`
		}
		d, err := parseConverter("api.json", []byte(component("3.1.0", whole, "")))
		if err != nil {
			t.Fatal(err)
		}
		before := judgeOf(t, whole)
		unfit := enum != nil // nothing fits the enum and the type
		for _, v := range enum {
			unfit = unfit && v[0] != '['
		}
		for dir := range directions {
			f := d.Schema(schemaS(d), dir)
			made := string(Assemble(f.Body, f.Deps))
			after := judgeOf(t, made)
			for range 12 {
				value := `[` + strings.Join(rapid.SliceOfN(rapid.SampledFrom(scalars), 0, 3).Draw(t, "items"), ",") + `]`
				if rapid.IntRange(0, 4).Draw(t, "other") == 0 {
					value = pick(scalars...)
				}
				if strings.HasPrefix(whole, `{"type":"object"`) {
					value = `{"p":` + value + `}`
				}
				was, is := accepts(t, before, value), accepts(t, after, value)
				if was == is || unfit && !was && accepts(t, judgeOf(t, intendedByEnum(whole, enum)), value) {
					continue
				}
				t.Fatalf("%s\nbecame in direction %d\n%s\nand %s: fitted %v, fits %v", whole, dir, made, value, was, is)
			}
		}
	})
}

// intendedByEnum is a schema in which what the enum of an array lists is for its
// items.
func intendedByEnum(whole string, enum []string) string {
	list := `"enum":[` + strings.Join(enum, ",") + `]`
	for _, cut := range []string{list + ",", "," + list} {
		if strings.Contains(whole, cut) {
			whole = strings.Replace(whole, cut, "", 1)
			break
		}
	}
	return strings.Replace(whole, `"type":"array"`, `"type":"array","allOf":[{"items":{`+list+`}}]`, 1)
}

func judgeOf(t *rapid.T, text string) *jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("s.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("s.json")
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

func accepts(t *rapid.T, s *jsonschema.Schema, text string) bool {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v) == nil
}
