package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/schema"
)

// bomb is a schema that applies 2^levels schemas to one value, with more
// members in the schema object that does not fit.
func bomb(levels int, last string) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	for i := range levels {
		fmt.Fprintf(&b, `"d%d":{"anyOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	fmt.Fprintf(&b, `"d%d":%s}}`, levels, last)
	return b.String()
}

func keywords(found []schema.Violation) []string {
	var list []string
	for _, v := range found {
		list = append(list, v.Keyword)
	}
	return list
}

// The checks of these values would take seconds to centuries if they were not
// bounded.
func TestBounds(t *testing.T) {
	branches := strings.Repeat(`{"properties":{"a":{"const":1},"b":false}},`, 2000) + `{"required":["a"]}`
	chain := strings.Repeat(`{"allOf":[{"minLength":1},`, 150) + `{"$ref":"#"}` + strings.Repeat(`]}`, 150)
	tests := map[string]struct {
		doc, value string
		bytes      bool
		want       []string
	}{
		"a bomb of unions, in bytes":                  {bomb(60, `{"type":"string","minLength":2}`), `"a"`, true, []string{"minLength"}},
		"a bomb of unions that fits":                  {bomb(60, `{"type":"string"}`), `"a"`, true, nil},
		"a bomb of unions for the fallback validator": {bomb(30, `{"required":["a"],"dependentRequired":{"x":["y"]}}`), `{}`, false, []string{"limit"}},
		"a bomb that recurses through members":        {`{"properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}`, strings.Repeat(`{"a":`, 60) + `1` + strings.Repeat(`}`, 60), true, nil},
		"more branches times items than we pay":       {`{"items":{"anyOf":[` + branches + `]}}`, `[` + strings.Repeat(`{"a":1,"b":1},`, 2000) + `{"a":2}]`, true, []string{"limit"}},
		"a schema that refers to itself":              {`{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}`, `1`, false, []string{"$ref"}},
		"deep values under a long chain": {
			`{"properties":{"a":` + chain + `},"unevaluatedProperties":true}`,
			strings.Repeat(`{"a":`, 990) + `1` + strings.Repeat(`}`, 990), false,
			[]string{"limit"},
		},
		"deep values under a long chain, in bytes": {
			`{"properties":{"a":` + chain + `}}`,
			strings.Repeat(`{"a":`, 990) + `1` + strings.Repeat(`}`, 990), true,
			[]string{"limit"},
		},
		"a pattern that is dear":               {`{"pattern":"([a-z]{1,30}){30}$"}`, `"` + strings.Repeat("a", 1<<22) + `1"`, true, []string{"limit"}},
		"an exponent that has many zeros":      {`{"multipleOf":3,"contains":true}`, `1e-999999999`, false, []string{"limit"}},
		"an exponent that has zeros, in bytes": {`{"multipleOf":3}`, `1e-99999999999999999999`, true, []string{"multipleOf"}},
		"nested too deep":                      {`{}`, strings.Repeat(`[`, 1001) + strings.Repeat(`]`, 1001), true, []string{"syntax"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := schema.Compile([]byte(test.doc), schema.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if s.Bytes() != test.bytes {
				t.Errorf("in bytes: got %v, want %v", s.Bytes(), test.bytes)
			}
			if diff := cmp.Diff(test.want, keywords(s.Validate([]byte(test.value)))); diff != "" {
				t.Errorf("keywords (-want +got):\n%s", diff)
			}
		})
	}
}

func TestViolationsAreBounded(t *testing.T) {
	for name, doc := range map[string]string{
		"bytes":              `{"items":{"type":"string"}}`,
		"fallback validator": `{"items":{"type":"string"},"unevaluatedItems":true}`,
	} {
		t.Run(name, func(t *testing.T) {
			s, err := schema.Compile([]byte(doc), schema.Options{})
			if err != nil {
				t.Fatal(err)
			}
			found := s.Validate([]byte(`[` + strings.Repeat("1,", 5000) + `1]`))
			if len(found) != 100 || found[0].Path != "/0" || found[99].Path != "/99" {
				t.Errorf("got %d violations, the last %v", len(found), found[len(found)-1])
			}
		})
	}
}

func TestNothingIsAllocatedWhenAValueFits(t *testing.T) {
	s, err := schema.Compile([]byte(`{"type":"array","items":`+strings.ReplaceAll(repositoryDoc, "#/$defs/", "#/items/$defs/")+`}`), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	value := []byte(`[` + strings.Repeat(repository+",", 20) + repository + `]`)
	if raced {
		t.Skip("the race detector makes a pool forget at random; without it this runs")
	}
	if n := testing.AllocsPerRun(100, func() { s.Validate(value) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
