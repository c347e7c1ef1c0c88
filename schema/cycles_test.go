package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon/internal/publish"
)

func TestBreakCycles(t *testing.T) {
	again := func(where string) string {
		return `"description":"As #/$defs/` + where + ` describes, nested to any depth."`
	}
	for name, c := range map[string]struct{ in, want string }{
		"none": {
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"},"b":{"$ref":"#/$defs/A"}},"$defs":{"A":{"properties":{"b":{"$ref":"#/$defs/B"}}},"B":{}}}`, "",
		},
		"a word that looks like one": {`{"type":"object","properties":{"$ref":{"default":{"$ref":"#"}}}}`, ""},
		"a tree": {
			`{"type":"object","properties":{"filter":{"$ref":"#/$defs/F"}},"$defs":{"F":{"type":"object","properties":{"and":{"type":"array","items":{"$ref":"#/$defs/F"}}}}}}`,
			`{"type":"object","properties":{"filter":{"$ref":"#/$defs/F"}},"$defs":{"F":{"type":"object","properties":{"and":{"type":"array","items":{"type":"object",` + again("F") + `}}}}}}`,
		},
		"by way of another, definitions first": {
			`{"$defs":{"A":{"items":{"$ref":"#/$defs/B"}},"B":{"items":{"$ref":"#/$defs/A"}}},"type":"object","properties":{"b":{"$ref":"#/$defs/B"}}}`,
			`{"$defs":{"A":{"items":{` + again("B") + `}},"B":{"items":{"$ref":"#/$defs/A"}}},"type":"object","properties":{"b":{"$ref":"#/$defs/B"}}}`,
		},
		"words of its own": {
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"array","items":{"type":["array","null"],"description":"deeper","$ref":"#/$defs/A"}}}}`,
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"array","items":{"type":["array","null"],"description":"deeper"}}}}`,
		},
		"what must not become wider": {
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"properties":{"x":{"not":{"$ref":"#/$defs/A"}},"y":{"oneOf":[{"type":"string"},{"$ref":"#/$defs/A"}]}}}}}`,
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"properties":{"x":{},"y":{"anyOf":[{"type":"string"},{` + again("A") + `}]}}}}}`,
		},
		"in definitions that nothing uses": {
			`{"type":"object","$defs":{"A":{"items":{"$ref":"#/$defs/A"}}}}`,
			`{"type":"object","$defs":{"A":{"items":{` + again("A") + `}}}}`,
		},
	} {
		if c.want == "" {
			c.want = c.in
		}
		got, changes := publish.BreakCycles([]byte(c.in))
		if diff := cmp.Diff(c.want, string(got)); diff != "" || (len(changes) == 0) != (c.want == c.in) {
			t.Errorf("%s (-want +got):\n%s\n%+v", name, diff, changes)
		}
	}
}

// TestBreakCyclesLinear has many definitions, each of which refers to all.
func TestBreakCyclesLinear(t *testing.T) {
	var all, defs []string
	for i := range 300 {
		all = append(all, fmt.Sprintf(`{"$ref":"#/$defs/D%d"}`, i))
	}
	for i := range 300 {
		defs = append(defs, fmt.Sprintf(`"D%d":{"items":{"anyOf":[%s]}}`, i, strings.Join(all, ",")))
	}
	acyclic, _ := publish.BreakCycles([]byte(`{"type":"object","$defs":{` + strings.Join(defs, ",") + `}}`))
	mustEnd(t, acyclic)
}

// What publish.BreakCycles makes has no cycle, accepts what the document accepts, and is
// as fit to be published as the document.
func TestBreakCyclesProperty(t *testing.T) { rapid.Check(t, breakCyclesHolds) }

func FuzzBreakCycles(f *testing.F) { f.Fuzz(rapid.MakeFuzz(breakCyclesHolds)) }

func breakCyclesHolds(t *rapid.T) {
	m := maker{T: t}
	made := m.document(`"type":"object"`)
	doc, _ := publish.Compatible([]byte(made))
	if doc == nil {
		return
	}
	acyclic, changes := publish.BreakCycles(doc)
	if (len(changes) == 0) != (string(acyclic) == string(doc)) {
		t.Fatalf("%s\nbecame %s\nby %+v", doc, acyclic, changes)
	}
	mustEnd(t, acyclic)
	if safe, more := publish.Compatible(acyclic); len(more) > 0 {
		t.Fatalf("%s\nbecame %s\nand to be published %s\n%+v", doc, acyclic, safe, more)
	}
	before, err := oracle(string(doc))
	if err != nil {
		return
	}
	after := mustCompile(t, string(acyclic), string(doc))
	for range 12 {
		if value := m.object(3); fits(t, before, value) && !fits(t, after, value) {
			t.Fatalf("%s\nbecame %s\nand rejects %s", doc, acyclic, value)
		}
	}
}

// mustEnd fails where following references from anywhere comes back: with
// nothing left to break, publish.BreakCycles returns the document.
func mustEnd(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, doc []byte,
) {
	t.Helper()
	if again, more := publish.BreakCycles(doc); len(more) > 0 {
		t.Fatalf("%s\nhas a cycle still, %s: %+v", doc, again, more)
	}
}
