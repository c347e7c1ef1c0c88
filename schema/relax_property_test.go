package schema_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon/internal/publish"
)

// What Relax makes compiles, accepts whatever the document accepts, is within
// the limit if anything can be, and as fit to be published as the document.
func TestRelaxProperty(t *testing.T) {
	rapid.Check(t, relaxHolds)
}

func FuzzRelax(f *testing.F) { f.Fuzz(rapid.MakeFuzz(relaxHolds)) }

func relaxHolds(t *rapid.T) {
	m := maker{T: t}
	doc := m.document(m.pick("", `"type":"object"`))
	safe := rapid.Bool().Draw(t, "safe")
	if safe {
		published, _ := publish.Compatible([]byte(doc))
		if published == nil {
			return
		}
		doc = string(published)
	}
	limit := rapid.IntRange(0, len(doc)).Draw(t, "limit")
	relaxed, how := publish.Relax([]byte(doc), limit)
	if len(relaxed) > limit && string(relaxed) != `{}` && string(relaxed) != `{"type":"object"}` {
		t.Fatalf("%s\nbecame %s, which is longer than %d", doc, relaxed, limit)
	}
	if (how == publish.None) != (string(relaxed) == doc) {
		t.Fatalf("%s\nbecame %s, by %s", doc, relaxed, how)
	}
	before, err := oracle(doc)
	if err != nil {
		return
	}
	after := mustCompile(t, string(relaxed), doc)
	if again, _ := publish.Relax([]byte(doc), limit); string(again) != string(relaxed) {
		t.Fatalf("%s\nbecame %s\nand another time %s", doc, relaxed, again)
	}
	if published, changes := publish.Compatible(relaxed); safe && string(relaxed) != `{}` && len(changes) > 0 {
		t.Fatalf("%s\nbecame %s\nand to be published %s\n%+v", doc, relaxed, published, changes)
	}
	for range 12 {
		value := m.value(3)
		fitted := fits(t, before, value)
		if is := fits(t, after, value); fitted && !is {
			t.Fatalf("%s\nbecame %s\nby %s, and rejects %s", doc, relaxed, how, value)
		} else if how == publish.Descriptions && is != fitted {
			t.Fatalf("%s\nbecame %s\nby %s, and accepts %s", doc, relaxed, how, value)
		}
	}
}
