package convert

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon/schema"
)

// TestDiscriminator: what is published has no discriminator. Values are checked
// with one, which only chooses the violations that are told.
func TestDiscriminator(t *testing.T) {
	const (
		others = `,"Cat":{"type":"object","required":["lives"],"properties":{"kind":{"type":"string"},"lives":{"type":"integer"}}},
		"Dog":{"type":"object","required":["bark"],"properties":{"kind":{"type":"string"}}},
		"Tom":{"$ref":"#/components/schemas/Cat"},"Rex":{"description":"a dog","allOf":[{"$ref":"#/components/schemas/Puppy"}]},"Puppy":{"$ref":"#/components/schemas/Dog"},
		"Round":{"$ref":"#/components/schemas/Back"},"Back":{"$ref":"#/components/schemas/Round"},"More":{"allOf":[{"$ref":"#/components/schemas/Cat"}],"minProperties":1},
		"Big Dog":{"type":"object","required":["size"]},"Stray":{"type":"object"},
		"Pet":{"anyOf":[{"$ref":"#/components/schemas/Cat"},{"$ref":"#/components/schemas/Dog"}],"discriminator":{"propertyName":"kind"}}`
		cat, dog = `{"$ref":"#/components/schemas/Cat"}`, `{"$ref":"#/components/schemas/Dog"}`
	)
	union := func(keyword, branches, mapping string) string {
		return `{"` + keyword + `":[` + branches + `],"discriminator":{"propertyName":"kind"` + mapping + `}}`
	}
	both := cat + "," + dog
	all := []string{"bark", "lives"}
	tests := []struct {
		name, schema, value string
		missing             []string
	}{
		{"references", union("oneOf", both, `,"mapping":{"c":"#/components/schemas/Cat","d":"#/components/schemas/Dog"}`), `{"kind":"c"}`, []string{"lives"}},
		{"names", union("oneOf", both, `,"mapping":{"c":"Cat","d":"Dog"}`), `{"kind":"d"}`, []string{"bark"}},
		{"anyOf", union("anyOf", both, `,"mapping":{"c":"Cat"}`), `{"kind":"c"}`, []string{"lives"}},
		{"a name beside a mapping", union("oneOf", both, `,"mapping":{"c":"Cat"}`), `{"kind":"Dog"}`, []string{"bark"}},
		{"a name that is mapped to another", union("oneOf", both, `,"mapping":{"Dog":"Cat"}`), `{"kind":"Dog"}`, []string{"lives"}},
		{"a name that is mapped to no branch", union("oneOf", both, `,"mapping":{"Dog":"Stray"}`), `{"kind":"Dog"}`, all},
		{"a mapping that leads nowhere", union("oneOf", both, `,"mapping":{"c":"#/components/schemas/Lost","x":"https://elsewhere.test/x.json","n":1}`), `{"kind":"c"}`, all},
		{"another file, which is not read", union("oneOf", both, `,"mapping":{"c":"https://elsewhere.test/x.json"}`), `{"kind":"c"}`, all},
		{"a name that no definition can have", union("oneOf", cat+`,{"$ref":"#/components/schemas/Big%20Dog"}`, ``), `{"kind":"Big Dog"}`, []string{"size"}},
		{"inline branches", union("oneOf", `{"type":"object","required":["x"]},`+cat, ``), `{"kind":"Cat"}`, []string{"lives"}},
		{"a mapping to another name of a branch", union("oneOf", both, `,"mapping":{"c":"#/components/schemas/Tom","d":"Rex"}`), `{"kind":"c"}`, []string{"lives"}},
		{"the same, twice removed", union("oneOf", both, `,"mapping":{"c":"#/components/schemas/Tom","d":"Rex"}`), `{"kind":"d"}`, []string{"bark"}},
		{"a branch by another name", union("oneOf", `{"$ref":"#/components/schemas/Rex"},`+cat, `,"mapping":{"d":"Dog"}`), `{"kind":"d"}`, []string{"bark"}},
		{"other names in a circle", union("oneOf", both, `,"mapping":{"c":"#/components/schemas/Round"}`), `{"kind":"c"}`, all},
		{"another name that says more", union("oneOf", both, `,"mapping":{"c":"#/components/schemas/More"}`), `{"kind":"c"}`, all},
		{"an unknown kind", union("oneOf", both, ``), `{"kind":"fish"}`, all},
		{"no kind", union("oneOf", both, ``), `{}`, all},
		{"nested", `{"type":"object","properties":{"p":` + union("oneOf", both, ``) + `,"q":{"$ref":"#/components/schemas/Pet"}}}`, `{"p":{"kind":"Cat"},"q":{"kind":"Dog"}}`, []string{"bark", "lives"}},
		{"a kind that does not fit its branch", union("oneOf", both, ``), `{"kind":"Dog","lives":9}`, nil},
	}
	for _, tt := range tests {
		for _, version := range []string{"3.0.3", "3.1.0"} {
			t.Run(version+" "+tt.name, func(t *testing.T) {
				d := mustParse(t, component(version, tt.schema, others))
				for _, dir := range []Direction{Input, InputCheck, Output, OutputCheck} {
					f := d.Schema(schemaS(d), dir)
					doc := Assemble(f.Body, f.Deps)
					if want := dir == InputCheck || dir == OutputCheck; want != strings.Contains(string(doc), `"discriminator"`) {
						t.Errorf("direction %d: %s", dir, doc)
					}
					s, err := schema.Compile(doc, schema.Options{})
					if err != nil {
						t.Fatal(err)
					}
					want := tt.missing
					found := s.Validate([]byte(tt.value))
					if dir == Input || dir == Output {
						if (len(found) > 0) != (len(want) > 0) {
							t.Errorf("direction %d: %v", dir, found)
						}
						continue
					}
					if diff := cmp.Diff(want, missing(found)); diff != "" {
						t.Errorf("direction %d: %s\n%s", dir, diff, doc)
					}
				}
				if diagnostics := d.Diagnostics(); len(diagnostics) > 0 {
					t.Error(diagnostics)
				}
			})
		}
	}
}

// missing lists the names of members that are missing, each once.
func missing(found []schema.Violation) (names []string) {
	for _, v := range found {
		if name, ok := strings.CutPrefix(v.Expected, `member "`); ok {
			names = append(names, strings.TrimSuffix(name, `"`))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// The discriminator of 2.0 is the name of a property and restricts nothing.
func TestDiscriminatorOfVersion2(t *testing.T) {
	d := mustParse(t, component("2.0", `{"type":"object","discriminator":"kind","required":["kind"],"properties":{"kind":{"type":"string"}}}`, `,"Cat":{"allOf":[{"$ref":"#/definitions/S"},{"required":["lives"]}]}`))
	for dir := range directions {
		f := d.Schema(schemaS(d), dir)
		if got, want := string(Assemble(f.Body, f.Deps)), `{"type":"object","required":["kind"],"properties":{"kind":{"type":"string"}}}`; got != want {
			t.Errorf("direction %d: %s", dir, got)
		}
	}
}

// A value fits what is published if, and only if, it fits what values are checked
// against, whatever the discriminators of a document are.
func TestDiscriminatorsKeepTheVerdict(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pick := func(from ...string) string { return rapid.SampledFrom(from).Draw(t, "pick") }
		ref := func() string {
			return `{"$ref":"#/components/schemas/` + pick("A", "B", "A", "B", "C", "Lost") + `"}`
		}
		branch := func() string {
			if rapid.IntRange(0, 3).Draw(t, "inline") == 0 {
				return `{"required":["z"]}`
			}
			return ref()
		}
		union := func() string {
			return `"` + pick("oneOf", "anyOf") + `":[` + branch() + `,` + branch() + `],"discriminator":` +
				pick(`{"propertyName":"k"}`, `{"propertyName":"k","mapping":{"x":"A","A":"B","y":"#/components/schemas/C"}}`, `{"propertyName":"k","mapping":{"x":"#/components/schemas/B","B":"nowhere"}}`, `{"mapping":{}}`, `"k"`, `{"propertyName":1}`)
		}
		object := func() string {
			return `{"type":"object"` + pick("", `,"required":["k"]`, `,"required":["a"]`) + `,"properties":{"k":` +
				pick(`{"type":"string"}`, `{"enum":["A","x"]}`, `{}`) + `,"a":{"type":` + pick(`"integer"`, `"string"`) + `,"readOnly":` + pick("true", "false") + `},"u":{` + union() + `}}}`
		}
		text := component(pick("3.0.3", "3.1.0"), `{`+pick("", `"nullable":true,`)+union()+`}`, `,"A":`+object()+`,"B":`+object()+`,"C":{`+union()+`}`)
		d, err := parseConverter("api.json", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		published, checks := converted(t, d, Output), converted(t, d, OutputCheck)
		for range 10 {
			value := `{"k":` + pick(`"A"`, `"B"`, `"x"`, `"y"`, `1`) + pick("", `,"a":1`, `,"a":"s"`) + pick("", `,"z":1`, `,"u":{"k":"A"}`, `,"u":{"k":"x","a":1}`) + `}`
			got, want := checks.Validate([]byte(value)), published.Validate([]byte(value))
			if (len(got) == 0) != (len(want) == 0) {
				t.Fatalf("%s\nvalue %s\nchecked %v\npublished %v\n%s\n%s", text, value, got, want, checks.Doc(), published.Doc())
			}
		}
	})
}

func converted(t *rapid.T, d *Converter, dir Direction) *schema.Schema {
	f := d.Schema(schemaS(d), dir)
	s, err := schema.Compile(Assemble(f.Body, f.Deps), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
