package schema_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon/internal/publish"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// A body accepts in its new place what the document accepts, whatever else is
// in the bundle.
func TestBundleProperty(t *testing.T) {
	rapid.Check(t, bundleHolds)
}

func FuzzBundle(f *testing.F) { f.Fuzz(rapid.MakeFuzz(bundleHolds)) }

func bundleHolds(t *rapid.T) {
	m := maker{T: t, named: rapid.Bool().Draw(t, "named")}
	var bundle publish.Bundle
	var docs, bodies []string
	var before []*jsonschema.Schema
	for range rapid.IntRange(1, 3).Draw(t, "documents") {
		doc := m.document("")
		if len(docs) > 0 && m.chance(30) {
			doc = docs[0]
		}
		s, err := oracle(doc)
		if err != nil {
			continue
		}
		body, err := bundle.Add([]byte(doc))
		if err != nil {
			t.Fatalf("%s\nis rejected: %v", doc, err)
		}
		alone(t, doc)
		before = append(before, s)
		docs = append(docs, doc)
		bodies = append(bodies, fmt.Sprintf(`"x%d":%s`, len(bodies), body))
	}
	whole := fmt.Sprintf(`{"properties":{%s}`, strings.Join(bodies, ","))
	if defs := bundle.AppendDefs(nil); len(defs) > 0 {
		whole += "," + string(defs)
	}
	whole += "}"
	after := mustCompile(t, whole, strings.Join(docs, "\n"))
	for range 12 {
		value := m.value(3)
		for i, s := range before {
			if was, is := fits(t, s, value), fits(t, after, fmt.Sprintf(`{"x%d":%s}`, i, value)); was != is {
				t.Fatalf("%s\nbecame x%d in %s\nwhere %s fits: before %v, after %v", docs[i], i, whole, value, was, is)
			}
		}
	}
}

// alone fails unless AddOnly makes of a document what Add makes of it.
func alone(t *rapid.T, doc string) {
	var one, only publish.Bundle
	want, err := one.Add([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	got, err := only.AddOnly([]byte(doc))
	if err != nil {
		t.Fatalf("%s\nis rejected: %v", doc, err)
	}
	if w, g := compact(t, want)+compact(t, one.AppendDefs(nil)), compact(t, got)+compact(t, only.AppendDefs(nil)); w != g {
		t.Fatalf("%s\nbecame %s\nand alone %s", doc, w, g)
	}
}

// compact is a value, or a member, without white space.
func compact(t rapid.TB, text []byte) string {
	dst, err := rawjson.AppendCompact(nil, bytes.TrimPrefix(text, []byte(`"$defs":`)))
	if err != nil && len(text) > 0 {
		t.Fatal(err)
	}
	return string(dst)
}
