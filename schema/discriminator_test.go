package schema_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon/schema"
)

const pets = `"$defs":{
	"Cat":{"type":"object","required":["lives"],"properties":{"kind":{"type":"string"},"lives":{"type":"integer"}}},
	"Dog":{"type":"object","required":["bark"],"properties":{"kind":{"type":"string"},"bark":{"type":"string"}}},
	"Pet":{"oneOf":[{"$ref":"#/$defs/Cat"},{"$ref":"#/$defs/Dog"}],"discriminator":{"propertyName":"kind"}}}`

// Where no branch fits, the violations are those of the branch that the value
// belongs to. Both validators agree.
func TestDiscriminator(t *testing.T) {
	const both = `[{"$ref":"#/$defs/Cat"},{"$ref":"#/$defs/Dog"}]`
	union := func(keyword, branches, mapping string) string {
		return `"` + keyword + `":` + branches + `,"discriminator":{"propertyName":"kind"` + mapping + `}`
	}
	explicit := `,"mapping":{"a cat":"#/$defs/Cat","tom":"Cat","Dog":"#/$defs/Cat","bird":"#/$defs/Bird","odd":7}`
	all := []string{"/bark", "/lives"}
	tests := []struct {
		name, doc, value string
		want             []string // path and name of what is missing or wrong
	}{
		{"a name", union("oneOf", both, ""), `{"kind":"Cat"}`, []string{"/lives"}},
		{"another name", union("oneOf", both, ""), `{"kind":"Dog"}`, []string{"/bark"}},
		{"anyOf", union("anyOf", both, ""), `{"kind":"Cat","bark":1}`, []string{"/lives"}},
		{"a name with escapes", union("oneOf", both, ""), `{"\u006bind":"C\u0061t"}`, []string{"/lives"}},
		{"a value that is not a name", union("oneOf", both, explicit), `{"kind":"a cat"}`, []string{"/lives"}},
		{"a mapping to a name", union("oneOf", both, explicit), `{"kind":"tom"}`, []string{"/lives"}},
		{"a name beside a mapping", union("oneOf", both, explicit), `{"kind":"Cat"}`, []string{"/lives"}},
		{"a name that is mapped to another", union("oneOf", both, explicit), `{"kind":"Dog"}`, []string{"/lives"}},
		{"a mapping to no branch", union("oneOf", both, explicit), `{"kind":"bird"}`, all},
		{"a mapping that is not a string", union("oneOf", both, explicit), `{"kind":"odd"}`, all},
		{"an unknown kind", union("anyOf", both, ""), `{"kind":"Fish"}`, all},
		{"a kind that is not a string", union("oneOf", both, ""), `{"kind":null}`, []string{"/bark", "/kind", "/lives"}},
		{"no kind", union("oneOf", both, ""), `{}`, all},
		{"no object", union("oneOf", both, ""), `[]`, []string{""}},
		{"an inline branch has no name", union("oneOf", `[{"type":"object","required":["x"]},{"$ref":"#/$defs/Cat"}]`, ""), `{"kind":"Cat"}`, []string{"/lives"}},
		{"two branches of a name", union("oneOf", `[{"$ref":"#/$defs/Cat"},{"$ref":"#/$defs/x/Cat"}]`, ""), `{"kind":"Cat"}`, []string{"/lives", "/x"}},
		{"the same branch twice", union("oneOf", `[{"$ref":"#/$defs/Dog"},{"$ref":"#/$defs/Cat"},{"$ref":"#/$defs/Cat"}]`, ""), `{"kind":"Cat"}`, []string{"/lives"}},
		{"two that fit are two", union("oneOf", both, ""), `{"kind":"Cat","lives":9,"bark":"wow"}`, []string{""}},
		{"nested", `"properties":{"pet":{"$ref":"#/$defs/Pet"},"pets":{"items":{"$ref":"#/$defs/Pet"}}}`, `{"pet":{"kind":"Dog"},"pets":[{"kind":"Cat","lives":9},{"kind":"Cat","lives":"9"}]}`, []string{"/pet/bark", "/pets/1/lives"}},
		{"a union in a union", union("oneOf", `[{"$ref":"#/$defs/Pet"},{"$ref":"#/$defs/x/Cat"}]`, `,"mapping":{"Dog":"Pet"}`), `{"kind":"Dog"}`, []string{"/bark"}},
		{"no name of the property", `"oneOf":` + both + `,"discriminator":{"mapping":{"Cat":"Cat"}}`, `{"kind":"Cat"}`, all},
		{"a discriminator of another form", `"oneOf":` + both + `,"discriminator":"kind"`, `{"kind":"Cat"}`, all},
		{"a mapping of another form", union("oneOf", both, `,"mapping":[1]`), `{"kind":"Cat"}`, []string{"/lives"}},
		{"no union", `"required":["y"],"discriminator":{"propertyName":"kind"}`, `{"kind":"Cat"}`, []string{"/y"}},
	}
	defs := strings.Replace(pets, `"Pet":`, `"x":{"Cat":{"required":["x"]}},"Pet":`, 1)
	for _, tt := range tests {
		for _, tier := range []string{"", `"unevaluatedItems":true,`} {
			t.Run(tt.name+tier, func(t *testing.T) {
				s, err := schema.Compile([]byte("{"+tier+tt.doc+","+defs+"}"), schema.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if s.Bytes() != (tier == "") {
					t.Errorf("the tier of bytes serves it: %v", s.Bytes())
				}
				if diff := cmp.Diff(tt.want, wrongPlaces(s.Validate([]byte(tt.value)))); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// wrongPlaces are the paths of violations, missing members with their name, each
// once and sorted.
func wrongPlaces(found []schema.Violation) []string {
	var places []string
	for _, v := range found {
		if name, ok := strings.CutPrefix(v.Expected, `member "`); ok {
			v.Path += "/" + strings.TrimSuffix(name, `"`)
		}
		places = append(places, v.Path)
	}
	slices.Sort(places)
	return slices.Compact(places)
}

// Whatever a discriminator says, a value fits as without it, and all that is told
// of it is also told without it.
func TestDiscriminatorIsAHint(t *testing.T) {
	rapid.Check(t, discriminatorIsAHint)
}

func FuzzDiscriminator(f *testing.F) { f.Fuzz(rapid.MakeFuzz(discriminatorIsAHint)) }

func discriminatorIsAHint(t *rapid.T) {
	pick := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(t, label) }
	branch := func(i int) string {
		return fmt.Sprintf(`"B%d":{%s%s"properties":{"k":%s,"a":%s,"u":{"$ref":"#/$defs/U"}}}`, i,
			pick("type", "", `"type":"object",`), pick("required", "", `"required":["k"],`, `"required":["a"],`),
			pick("k", `{}`, `{"type":"string"}`, `{"const":"B0"}`, `{"enum":["B1","x"]}`), pick("a", `{"type":"integer"}`, `{"type":"string"}`, `{"minimum":3}`))
	}
	refs := make([]string, rapid.IntRange(1, 3).Draw(t, "branches"))
	for i := range refs {
		refs[i] = pick("branch", `{"$ref":"#/$defs/B0"}`, `{"$ref":"#/$defs/B1"}`, `{"required":["z"]}`, `{"type":"array"}`)
	}
	hint := `,"discriminator":{"propertyName":"k","mapping":{"x":` + pick("x", `"B0"`, `"#/$defs/B1"`, `"nowhere"`, `1`, `""`) + `,"B1":` + pick("B1", `"B1"`, `"#/$defs/B0"`) + `}}`
	doc := `{` + pick("tier", "", `"unevaluatedItems":true,`) + `"$ref":"#/$defs/U","$defs":{"U":{"` + pick("union", "oneOf", "anyOf") + `":[` + strings.Join(refs, ",") + `]HINT},` + branch(0) + `,` + branch(1) + `}}`
	compile := func(hint string) *schema.Schema {
		s, err := schema.Compile([]byte(strings.Replace(doc, "HINT", hint, 1)), schema.Options{})
		if err != nil {
			t.Fatalf("%s: %v", doc, err)
		}
		return s
	}
	with, plain := compile(hint), compile("")
	for range 10 {
		k := pick("kind", `"B0"`, `"B1"`, `"x"`, `"y"`, `1`)
		value := `{"k":` + k + `,"a":` + pick("value", `1`, `4`, `"s"`, `null`) + pick("more", "", `,"z":1`, `,"u":{"k":"B0"}`, `,"u":{"k":"x","a":1}`, `,"u":[]`) + `}`
		got, all := with.Validate([]byte(value)), plain.Validate([]byte(value))
		if (len(got) == 0) != (len(all) == 0) {
			t.Fatalf("%s\n%s\nof %s: %v, without the discriminator %v", doc, hint, value, got, all)
		}
		for _, v := range got {
			if !slices.Contains(all, v) {
				t.Fatalf("%s\n%s\nof %s: %v, which is not told without the discriminator: %v", doc, hint, value, v, all)
			}
		}
	}
}

// Changes follow the branch that is told of; where the whole does not fit then,
// nothing is changed.
func TestDiscriminatorLeadsChanges(t *testing.T) {
	const doc = `"$defs":{
		"Cat":{"type":"object","required":["lives"],"properties":{"kind":{"type":"string"},"lives":{"type":"integer"},"toys":{"type":"array"}},"additionalProperties":false},
		"Dog":{"type":"object","required":["bark"],"properties":{"kind":{"type":"string"},"bark":{"type":"string"},"size":{"type":"number"}}},
		"Null":{"enum":[null]}}`
	const branches, tag = `[{"$ref":"#/$defs/Cat"},{"$ref":"#/$defs/Dog"}]`, `,"discriminator":{"propertyName":"kind"}`
	for union, schemas := range map[string]string{
		"oneOf": `"oneOf":` + branches + tag, "anyOf": `"anyOf":` + branches + tag,
		"with null":             `"anyOf":[{"oneOf":` + branches + tag + `},{"type":"null"}]`,
		"with null by name":     `"oneOf":[{"anyOf":` + branches + tag + `},{"$ref":"#/$defs/Null"}]`,
		"with null among them":  `"oneOf":[{"$ref":"#/$defs/Cat"},{"$ref":"#/$defs/Dog"},{"const":null}]` + tag,
		"with a union in union": `"allOf":[{"oneOf":` + branches + tag + `}]`,
	} {
		for _, tier := range []string{"", `"unevaluatedItems":true,`} {
			s := compile(t, "{"+tier+schemas+","+doc+"}")
			for _, tt := range []struct{ value, fixed, coerced string }{
				{`{"kind":"Cat","lives":"9"}`, `{"kind":"Cat","lives":9}`, `{"kind":"Cat","lives":9}`},
				{`{"kind":"Cat","lives":9,"toys":null,"more":1}`, `{"kind":"Cat","lives":9}`, `{"kind":"Cat","lives":9,"more":1}`},
				{`{"kind":"Cat","lives":9,"toys":"[1]"}`, ``, `{"kind":"Cat","lives":9,"toys":[1]}`},
				{`{"kind":"Dog","bark":"wow","size":"2.5","lives":"9"}`, `{"kind":"Dog","bark":"wow","size":2.5,"lives":"9"}`, `{"kind":"Dog","bark":"wow","size":2.5,"lives":"9"}`},
				{`{"kind":"Cat","bark":7,"lives":"many"}`, ``, ``},
				{`{"kind":"Fish","lives":"9"}`, ``, ``},
			} {
				fixed, fixes, left := s.Repair([]byte(tt.value))
				want := or(tt.fixed, tt.value)
				if string(fixed) != want || (tt.fixed == "") != (len(left) > 0) {
					t.Errorf("%s %s: %s became %s, %v, %v", tier, union, tt.value, fixed, fixes, left)
				}
				for _, v := range left {
					if strings.Contains(v.Expected, "null") {
						t.Errorf("%s %s: %s is told %v", tier, union, tt.value, v)
					}
				}
				if coerced, _ := s.Coerce([]byte(tt.value)); string(coerced) != or(tt.coerced, tt.value) {
					t.Errorf("%s %s: %s is read as %s", tier, union, tt.value, coerced)
				}
			}
		}
	}
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}
