package schema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/schema"
)

func TestAgreesWithTheLibrary(t *testing.T) {
	for _, c := range agreeCases() {
		var values []json.RawMessage
		if err := json.Unmarshal([]byte(c.values), &values); err != nil {
			t.Fatalf("%s: %v", c.values, err)
		}
		t.Run(c.doc, func(t *testing.T) {
			for _, v := range values {
				agree(t, []byte(c.doc), v)
				agree(t, []byte(`{"properties":{"p":`+c.doc+`}}`), []byte(`{"p":`+string(v)+`}`))
			}
		})
	}
}

// agree holds our judgement of a value against the library's.
func agree(t *testing.T, doc, value []byte) {
	t.Helper()
	library, err := newJudge(doc, false)
	s, own := schema.Compile(doc, schema.Options{})
	if err != nil && own == nil {
		t.Fatalf("only we compile %s\nthe library: %v", doc, err)
	}
	if err == nil && own != nil {
		t.Fatalf("only the library compiles %s\nwe: %v", doc, own)
	}
	if err != nil {
		return
	}
	got := s.Validate(value)
	want := library.pointers(value)
	if (len(want) == 0) != (got == nil) {
		t.Fatalf("the library: %q, we: %v\nschema %s\nvalue %s", want, got, doc, value)
	}
	if len(got) >= 100 || misplaced(doc) {
		return
	}
	if diff := cmp.Diff(want, violated(got)); diff != "" {
		t.Fatalf("locations (-library +we):\n%s\nbyte validator %v, schema %s\nvalue %s", diff, s.Bytes(), doc, value)
	}
}

// misplaced reports whether the library may name wrong locations: an error of
// propertyNames shares its path with the members that come after it.
func misplaced(doc []byte) bool { return strings.Contains(string(doc), "propertyNames") }
