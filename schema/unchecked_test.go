package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon/schema"
)

// Patterns that neither ECMA-262 nor RE2 knows leave open what hangs on them,
// and nothing else.
func TestPatternsThatCannotBeRun(t *testing.T) {
	const p, q = `{"pattern":"(?>a)"}`, `{"$ref":"#/$defs/p"}`
	defs := `"$defs":{"p":{"allOf":[{"$ref":"#/$defs/q"}]},"q":` + p + `}`
	tests := map[string]struct{ doc, fits, open, broken string }{
		"a pattern":                       {p, `1`, `"x"`, ``},
		"beside another keyword":          {`{"pattern":"(?>a)","maxLength":1}`, `[]`, `"x"`, `"xy"`},
		"in a member":                     {`{"properties":{"a":` + p + `}}`, `{"b":"x"}`, `{"a":"x"}`, ``},
		"under not":                       {`{"not":` + p + `}`, ``, `"x"`, `1`},
		"under not, behind a reference":   {`{"not":{"properties":{"a":` + q + `}},` + defs + `}`, ``, `{"a":"x"}`, `{"a":1}`},
		"under anyOf with another":        {`{"anyOf":[` + p + `,{"maxLength":1}]}`, `"x"`, `"xy"`, ``},
		"under oneOf":                     {`{"oneOf":[` + p + `,{"minLength":1}],"type":"string"}`, ``, `"x"`, `1`},
		"under oneOf that two fit":        {`{"oneOf":[` + p + `,{"type":"string"},{"minLength":1}]}`, ``, `""`, `"x"`},
		"under oneOf that nothing fits":   {`{"oneOf":[{"type":"string","pattern":"(?>a)","maxLength":1},{"type":"null"}]}`, `null`, `"x"`, `"xy"`},
		"under if":                        {`{"if":` + p + `,"then":{"maxLength":2},"else":{"maxLength":1}}`, ``, `"xy"`, `"xyz"`},
		"under if that says the same":     {`{"if":` + p + `,"then":{"type":"string"},"else":{"minLength":1}}`, `"x"`, `""`, `1`},
		"as the name of members":          {`{"patternProperties":{"(?>a)":{"type":"null"}},"additionalProperties":false,"required":["b"]}`, ``, `{"b":null}`, `{"b":1}`},
		"as the name of what fits anyway": {`{"patternProperties":{"(?>a)":{"type":"integer"}},"additionalProperties":{"type":"number"}}`, `{"b":1}`, `{"b":1.5}`, `{"b":"x"}`},
		"as the name of a known member":   {`{"properties":{"b":{"maxLength":1}},"patternProperties":{"(?>a)":{"type":"null"}}}`, ``, `{"b":"x"}`, `{"b":"xy"}`},
		"for the names of members":        {`{"propertyNames":{"pattern":"(?>a)","maxLength":1}}`, `{}`, `{"b":1}`, `{"bb":1}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := compile(t, test.doc)
			if len(s.Unchecked()) != 1 || s.Unchecked()[0].Pattern != "(?>a)" {
				t.Errorf("said to be unchecked: %v", s.Unchecked())
			}
			for _, c := range []struct{ value, want string }{{test.fits, "fits"}, {test.open, "open"}, {test.broken, "broken"}} {
				if c.value == "" {
					continue
				}
				if found, open := s.Check([]byte(c.value)); standing(found, open) != c.want {
					t.Errorf("%s: got %v and %v, want %s", c.value, found, open, c.want)
				}
			}
		})
	}
}

func standing(found, open []schema.Violation) string {
	switch {
	case found != nil:
		return "broken"
	case open != nil:
		return "open"
	}
	return "fits"
}

// Keywords of the fallback validator beside such a pattern switch nothing off.
func TestPatternsThatCannotBeRunInTheSecondTier(t *testing.T) {
	const doc = `{"type":"object","properties":{"a":{"pattern":"(?>a)"},"b":{"oneOf":[{"type":"string"},{"type":"number"},{"type":"integer"}]},
		"c":{"not":{"type":"null"}},"d":{"if":{"type":"string"},"then":{"minLength":1}}},"unevaluatedProperties":false}`
	s := compile(t, doc)
	for value, want := range map[string]string{
		`{"b":"x","c":1,"d":"x"}`: "fits", `{"a":"x"}`: "open",
		`{"b":1}`: "broken", `{"c":null}`: "broken", `{"d":""}`: "broken", `{"e":1}`: "broken", `{"a":1,"b":true}`: "broken",
		`{"a":"x","b":1}`: "broken", `{"a":"x","c":null}`: "broken", `{"a":"x","d":""}`: "broken", `{"a":"x","e":1}`: "broken",
	} {
		if found, open := s.Check([]byte(value)); standing(found, open) != want {
			t.Errorf("%s: got %v and %v, want %s", value, found, open, want)
		}
	}
}

func TestWhatIsOpenHasPlaces(t *testing.T) {
	s := compile(t, `{"properties":{"a":{"items":{"pattern":"(?>a)"}},"b":{"not":{"pattern":"(?>b)"}}}}`)
	_, open := s.Check([]byte(`{"b":"y","a":["x",1]}`))
	want := []schema.Violation{
		{Path: "/b", Keyword: "not", Expected: "not checked: it depends on a pattern that cannot be run", Got: `"y"`},
		{Path: "/a/0", Keyword: "pattern", Expected: "a string that matches (?>a) (not checked: it cannot be run)", Got: `"x"`},
	}
	if diff := cmp.Diff(want, open); diff != "" {
		t.Errorf("open (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]schema.UncheckedPattern{{"/properties/a/items/pattern", "(?>a)"}, {"/properties/b/not/pattern", "(?>b)"}}, s.Unchecked()); diff != "" {
		t.Errorf("unchecked (-want +got):\n%s", diff)
	}
}

// Whatever such patterns may mean: what is broken is broken then, and what fits
// fits.
func TestUncheckedProperty(t *testing.T) {
	tried := map[string]int{}
	rapid.Check(t, func(t *rapid.T) { uncheckedHolds(t, tried) })
	t.Log(tried)
}

func FuzzUnchecked(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { uncheckedHolds(t, map[string]int{}) }))
}

func uncheckedHolds(t *rapid.T, tried map[string]int) {
	m := maker{T: t}
	patterns := []string{`"^a"`, `"b$"`, `"(?i)A"`, `"^\\pL"`}
	doc := m.document("")
	var hidden, replacements []string
	for i, p := range patterns {
		hidden = append(hidden, p, fmt.Sprintf(`"(?>%d)"`, i))
		replacements = append(replacements, fmt.Sprintf(`"(?>%d)"`, i), m.pick(`"[^]"`, `"[]"`, p, `"^$"`))
	}
	unknown := strings.NewReplacer(hidden...).Replace(doc)
	s, err := schema.Compile([]byte(unknown), schema.Options{})
	known, err2 := schema.Compile([]byte(strings.NewReplacer(replacements...).Replace(unknown)), schema.Options{})
	if err != nil || err2 != nil {
		return
	}
	for range 6 {
		value := []byte(m.value(2))
		found, open := s.Check(value)
		got := standing(found, open)
		tried[got]++
		if left := known.Validate(value); got != "open" && (left != nil) != (found != nil) {
			t.Fatalf("%s\n%s\nis %s: %v, but %v under\n%s", unknown, value, got, found, left, known.Doc())
		}
	}
}
