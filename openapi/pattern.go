package openapi

import (
	"bytes"
	"fmt"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

// tellPatterns reports the patterns of a document that cannot be run, before
// anything is called: values that hang on them are not checked.
func (d *document) tellPatterns() {
	f := d.root.file
	if src := f.doc.Source(); bytes.Contains(src, []byte(`"patternProperties"`)) || !allRun(src) {
		d.findPatterns(value{f, f.doc.Root()}, false)
	}
}

// allRun reports whether all that looks like a pattern in a JSON text can be
// run. Few documents have others, and those are looked at closely.
func allRun(src []byte) bool {
	word := []byte(`"pattern"`)
	seen := map[string]bool{}
	for i := bytes.Index(src, word); i >= 0; i = bytes.Index(src, word) {
		src = bytes.TrimLeft(src[i+len(word):], " \t\r\n:")
		end := bytes.IndexByte(src[min(1, len(src)):], '"') + 1 // one that is escaped ends too early, and is looked at closely
		if len(src) == 0 || src[0] != '"' || end <= 0 {
			continue
		}
		text := src[1:end]
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

// findPatterns goes over a value. Names says that its members are named by
// patterns.
func (d *document) findPatterns(v value, names bool) {
	doc := v.file.doc
	for n := doc.First(v.node); n != rawjson.None; n = doc.Next(n) {
		m, key := value{v.file, n}, ""
		if v.kind() == rawjson.Object {
			key = doc.Key(n)
		}
		switch {
		case names && !schema.Runs(key):
			d.notePattern(m, key)
		case key == "pattern" && m.kind() == rawjson.String && !schema.Runs(m.str()):
			d.notePattern(m, m.str())
		}
		d.findPatterns(m, key == "patternProperties" && !names)
	}
}

func (d *document) notePattern(v value, pattern string) {
	d.note(v, fmt.Sprintf("the pattern %.200q cannot be run: values are not checked against it", pattern))
}
