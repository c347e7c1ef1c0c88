package main

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// lineWidth is how wide a folded value may be before it is broken up.
const lineWidth = 92

// fold writes JSON for a person: what fits on a line stands on one, the rest
// is indented.
func fold(value []byte) string {
	doc, err := rawjson.Parse(value)
	if err != nil {
		return string(value)
	}
	var b bytes.Buffer
	foldNode(&b, doc, doc.Root(), 0)
	return b.String()
}

func foldNode(b *bytes.Buffer, d *rawjson.Doc, n rawjson.Node, indent int) {
	flat := spaced(d, n)
	used := indent
	if i := bytes.LastIndexByte(b.Bytes(), '\n'); i >= 0 || b.Len() > 0 {
		used = utf8.RuneCount(b.Bytes()[i+1:])
	}
	kind := d.Kind(n)
	if kind != rawjson.Object && kind != rawjson.Array || used+utf8.RuneCountInString(flat) <= lineWidth {
		b.WriteString(flat)
		return
	}
	open, shut := byte('{'), byte('}')
	if kind == rawjson.Array {
		open, shut = '[', ']'
	}
	b.WriteByte(open)
	margin := "\n" + strings.Repeat("  ", indent/2+1)
	for c := d.First(n); c != rawjson.None; c = d.Next(c) {
		if b.Bytes()[b.Len()-1] != open {
			b.WriteByte(',')
		}
		b.WriteString(margin)
		if kind == rawjson.Object {
			b.WriteString(`"` + string(d.RawKey(c)) + `": `)
		}
		foldNode(b, d, c, indent+2)
	}
	b.WriteString(margin[:len(margin)-2])
	b.WriteByte(shut)
}

// spaced writes a value on one line, with a space behind each comma and colon.
func spaced(d *rawjson.Doc, n rawjson.Node) string {
	switch d.Kind(n) {
	case rawjson.Object, rawjson.Array:
	case rawjson.Invalid, rawjson.Null, rawjson.Bool, rawjson.Number, rawjson.String:
		return string(d.Raw(n))
	}
	var parts []string
	for c := d.First(n); c != rawjson.None; c = d.Next(c) {
		part := spaced(d, c)
		if d.Kind(n) == rawjson.Object {
			part = `"` + string(d.RawKey(c)) + `": ` + part
		}
		parts = append(parts, part)
	}
	if d.Kind(n) == rawjson.Object {
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
