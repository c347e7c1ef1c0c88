package convert

import (
	"testing"

	"github.com/tenon-mcp/tenon/openapi/internal/document"
)

// panicked reports whether f does.
func panicked(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

// TestADefinitionThatPanickedStaysMissing: half of a definition looks like a small
// one, which validates nothing.
func TestADefinitionThatPanickedStaysMissing(t *testing.T) {
	d, err := document.Parse("a", []byte(`{"openapi":"3.1.0","components":{"schemas":{"A":{"type":"string"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	f := d.Root.File
	a := d.Root.Get("components").Get("schemas").Get("A")
	def := New(d).definition(document.Value{File: f, Node: a.Node}, Input)
	hidden := f.Doc
	f.Doc = nil // the converter reads it
	first := panicked(func() { def.fragment() })
	f.Doc = hidden
	if !first || !panicked(func() { t.Errorf("a fragment: %s", def.fragment().Body) }) {
		t.Error("the panic is forgotten")
	}
}
