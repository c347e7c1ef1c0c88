package openapi

import (
	"net/url"
	"testing"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// panics reports whether f does.
func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

// What panicked while it was made is missing for good: half of a definition or
// of a plan looks like a small one, that demands and checks nothing.
func TestWhatPanickedOnceStaysMissing(t *testing.T) {
	t.Run("a definition", func(t *testing.T) {
		doc, err := rawjson.Parse([]byte(`{"openapi":"3.1.0","components":{"schemas":{"A":{"type":"string"}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		f := newFile(&file{name: "a", doc: doc})
		d, err := documentOf(f, address{path: "a"}, &library{})
		if err != nil {
			t.Fatal(err)
		}
		a := d.root.get("components").get("schemas").get("A")
		def := d.definition(value{f, a.node}, input)
		hidden := f.doc
		f.doc = nil // the converter reads it
		first := panics(func() { def.fragment() })
		f.doc = hidden
		if !first || !panics(func() { t.Errorf("a fragment: %s", def.fragment().body) }) {
			t.Error("the panic is forgotten")
		}
	})
	t.Run("a plan", func(t *testing.T) {
		o := &operation{method: "GET", path: "/a"}
		for range 2 {
			if !panics(func() { o.planned() }) {
				t.Errorf("a plan: %+v", o.plan)
			}
		}
	})
	t.Run("a file", func(t *testing.T) {
		at := &url.URL{Scheme: "https", Host: "a.example", Path: "/a"}
		l := &library{hosts: map[string]bool{"a.example": true}, fetch: func(*url.URL) ([]byte, error) { panic("once") }}
		if !panics(func() { _, _ = l.open(address{url: at}) }) {
			t.Fatal("reading does not panic")
		}
		if f, err := l.open(address{url: at}); err == nil {
			t.Errorf("a file: %+v", f)
		}
	})
}
