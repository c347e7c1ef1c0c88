package openapi

import (
	"bytes"
	"fmt"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
	"github.com/tenon-mcp/tenon/schema"
)

// reportPatterns reports the patterns of a document that cannot be run: they are
// not validated.
func reportPatterns(d *document.Document) {
	f := d.Root.File
	if src := f.Doc.Source(); bytes.Contains(src, []byte(`"patternProperties"`)) || !allPatternsRun(src) {
		findPatterns(d, document.Value{File: f, Node: f.Doc.Root()}, false)
	}
}

// allPatternsRun reports whether everything that looks like a pattern in a JSON text
// can be run. It is fast, and only documents with others are searched node by
// node.
func allPatternsRun(src []byte) bool {
	word := []byte(`"pattern"`)
	seen := map[string]bool{}
	for i := bytes.Index(src, word); i >= 0; i = bytes.Index(src, word) {
		src = bytes.TrimLeft(src[i+len(word):], " \t\r\n:")
		end := bytes.IndexByte(src[min(1, len(src)):], '"') + 1
		if len(src) == 0 || src[0] != '"' || end <= 0 {
			continue
		}
		text := src[1:end]
		if bytes.HasSuffix(text, []byte(`\`)) { // the quote can be escaped: search node by node
			return false
		}
		if seen[string(text)] {
			continue
		}
		seen[string(text)] = true
		if !schema.Runs(string(rawjson.AppendUnescaped(nil, text))) {
			return false
		}
	}
	return true
}

// findPatterns visits a value. With names, its members are named by patterns.
func findPatterns(d *document.Document, v document.Value, names bool) {
	doc := v.File.Doc
	for n := doc.First(v.Node); n != rawjson.None; n = doc.Next(n) {
		m, key := document.Value{File: v.File, Node: n}, ""
		if v.Kind() == rawjson.Object {
			key = doc.Key(n)
		}
		switch {
		case names && !schema.Runs(key):
			reportPattern(d, m, key)
		case key == "pattern" && m.Kind() == rawjson.String && !schema.Runs(m.Str()):
			reportPattern(d, m, m.Str())
		}
		findPatterns(d, m, key == "patternProperties" && !names)
	}
}

func reportPattern(d *document.Document, v document.Value, pattern string) {
	d.AddDiagnostic(v, fmt.Sprintf("the pattern %.200q is not supported: values are not validated against it", pattern))
}
