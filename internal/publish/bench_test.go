package publish_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/internal/publish"
)

// publishedSchema makes a schema of objects like those of the descriptions
// that are read: some definitions, each with a dozen members.
func publishedSchema(definitions int) []byte {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{"total_count":{"type":"integer"},"items":{"type":"array","items":{"$ref":"#/$defs/d0"}}},"required":["total_count","items"],"$defs":{`)
	for i := range definitions {
		fmt.Fprintf(&b, `"d%d":{"title":"Definition %[1]d","type":"object","properties":{`, i)
		for k := range 8 {
			fmt.Fprintf(&b, `"member_%d":{"description":"What the member is good for.","type":["string","null"],"enum":["one","two",null]},`, k)
		}
		fmt.Fprintf(&b, `"name":{"type":"string","pattern":"^[a-z]+$"},"next":{"$ref":"#/$defs/d%d"}},"required":["name","next","member_0"]},`, (i+1)%definitions)
	}
	return append([]byte(strings.TrimSuffix(b.String(), ",")), "}}"...)
}

func BenchmarkClientSafe(b *testing.B) {
	doc := publishedSchema(3)
	b.ReportAllocs()
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		if safe, changes := publish.Compatible(doc); safe == nil || len(changes) > 0 {
			b.Fatal(changes)
		}
	}
}

func BenchmarkBundle(b *testing.B) {
	doc := publishedSchema(3)
	b.ReportAllocs()
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		var bundle publish.Bundle
		body, err := bundle.Add(doc)
		if err != nil {
			b.Fatal(err)
		}
		bundle.AppendDefs(body)
	}
}

func BenchmarkRelax(b *testing.B) {
	doc := publishedSchema(100)
	b.ReportAllocs()
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		if relaxed, how := publish.Relax(doc, 2000); len(relaxed) > 2000 || how != publish.Structure {
			b.Fatal(how)
		}
	}
}
