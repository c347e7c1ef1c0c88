package schema_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon/internal/publish"
	"github.com/tenon-mcp/tenon/schema"
)

// What Compatible makes compiles, accepts every object that the document
// accepts, and needs no further change.
func TestClientSafeProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { clientSafeHolds(t) })
}

func FuzzClientSafe(f *testing.F) { f.Fuzz(rapid.MakeFuzz(clientSafeHolds)) }

func clientSafeHolds(t *rapid.T) {
	m := maker{T: t, wild: rapid.Bool().Draw(t, "wild"), named: rapid.Bool().Draw(t, "named")}
	doc := m.document(m.pick("", `"type":"object"`, `"type":"object"`, `"type":["object","null"]`))
	safe, changes := publish.Compatible([]byte(doc))
	before, err := oracle(doc)
	if safe == nil {
		if len(changes) != 1 {
			t.Fatalf("%s\nis rejected for several reasons: %+v", doc, changes)
		}
		if value := m.object(3); err == nil && fits(t, before, value) {
			t.Fatalf("%s\nis rejected, though %s fits: %+v", doc, value, changes)
		}
		return
	}
	if len(changes) == 0 && string(safe) != doc {
		t.Fatalf("%s\nbecame %s\nwithout a word", doc, safe)
	}
	after := mustCompile(t, string(safe), doc)
	if _, err := schema.Compile(safe, schema.Options{}); err != nil {
		t.Fatalf("%s\nbecame %s\nwhich does not compile: %v", doc, safe, err)
	}
	if again, more := publish.Compatible(safe); len(more) > 0 || string(again) != string(safe) {
		t.Fatalf("%s\nbecame %s\nand then %s\n%v", doc, safe, again, more)
	}
	if err != nil {
		return
	}
	for i := range 12 {
		value := m.object(3)
		if fits(t, before, value) && !fits(t, after, value) {
			t.Fatalf("%s\nbecame %s\n%v\nand rejects value %d, %s", doc, safe, fmt.Sprintf("%+v", changes), i, value)
		}
	}
}
