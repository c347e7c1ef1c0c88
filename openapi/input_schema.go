package openapi

import (
	"bytes"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// input is the full schema of the arguments object, as it is published or as
// it is checked.
func (o *operation) input(dir direction) []byte {
	if !o.api.doc.marked() && !o.api.doc.discriminated() {
		dir = input // both are the same
	}
	p := o.planned()
	w := inputWriter{dst: make([]byte, 0, 1024)}
	w.dst = append(w.dst, `{"type":"object","properties":{`...)
	for i := range p.params {
		q := &p.params[i]
		if !q.hidden {
			w.property(q.arg, o.parameterSchema(q, dir), or(q.description, describe(q.node)), q.required)
		}
	}
	if p.body.exists() && !p.body.hidden && p.body.write != unsupportedBody {
		w.property(p.body.arg, o.bodySchema(&p.body, dir), or(p.body.description, p.body.describe()), p.body.required)
	}
	w.dst = append(w.dst, '}')
	if len(w.required) > 0 {
		w.dst = append(w.dst, `,"required":[`...)
		w.dst = append(append(w.dst, w.required...), ']')
	}
	w.dst = append(w.dst, `,"additionalProperties":false}`...)
	return assemble(w.dst, w.deps...)
}

// inputWriter collects the properties.
type inputWriter struct {
	dst      []byte
	required []byte // the inside of the list
	deps     [][]*definition
	some     bool
}

func (w *inputWriter) property(name string, f fragment, description string, required bool) {
	if w.some {
		w.dst = append(w.dst, ',')
	}
	w.some = true
	w.dst = append(rawjson.AppendString(w.dst, name), ':')
	w.dst = appendDescribed(w.dst, objectSchema(f.body), description)
	if len(f.deps) > 0 {
		w.deps = append(w.deps, f.deps)
	}
	if !required {
		return
	}
	if len(w.required) > 0 {
		w.required = append(w.required, ',')
	}
	w.required = rawjson.AppendString(w.required, name)
}

func (o *operation) parameterSchema(q *parameter, dir direction) fragment {
	switch {
	case !q.node.ok():
		return fragment{body: []byte(`{"type":"string"}`)} // only the path names it
	case o.api.legacy():
		return o.api.doc.convertParameter(q.node, dir)
	case q.schema.ok():
		return o.api.doc.convert(q.schema, dir)
	}
	return fragment{body: []byte("{}")}
}

func (o *operation) bodySchema(b *body, dir direction) fragment {
	switch {
	case b.write == unsupportedBody:
		return fragment{body: []byte("{}")}
	case b.write == binaryBody:
		return fragment{body: []byte(`{"type":"string","contentEncoding":"base64"}`)}
	case b.write == textBody && b.schema.strAt("type") != "string":
		return fragment{body: []byte(`{"type":"string"}`)}
	case (b.write == formBody || b.write == partsBody) && !b.schema.ok():
		return fragment{body: []byte(`{"type":"object"}`)}
	case b.schema.ok():
		return o.api.doc.convert(b.schema, dir)
	}
	return fragment{body: []byte("{}")}
}

// describe is the description of a parameter.
func describe(node value) string {
	text := strings.TrimSpace(node.strAt("description"))
	if node.isTrue("deprecated") {
		text = strings.TrimSpace("Deprecated. " + text)
	}
	return text
}

// describe also says what kind of body the bytes become.
func (b *body) describe() string {
	text := b.node.strAt("description")
	switch b.write {
	case textBody:
		text += " (" + b.media + ")"
	case xmlBody:
		text += " (" + b.media
		if s := b.doc.follow(b.schema); saysNothing(s) || !s.ok() || s.strAt("type") == "string" {
			text += "; a string is the whole document"
		}
		text += ")"
	case binaryBody:
		text += " (" + b.media + b.files.hint("; ") + ")"
	case partsBody:
		text += " (" + b.media + b.files.hint("; files ") + ")"
	default:
	}
	return strings.TrimSpace(text)
}

// appendDescribed writes a schema with a description, which wins over the
// schema's own.
func appendDescribed(dst, schema []byte, description string) []byte {
	if description == "" {
		return append(dst, schema...)
	}
	dst = append(dst, `{"description":`...)
	dst = rawjson.AppendString(dst, description)
	rest := members(schema)
	if len(rest) > 0 {
		dst = append(append(dst, ','), rest...)
	}
	return append(dst, '}')
}

// members is the inside of a schema object without its description.
func members(schema []byte) []byte {
	schema = bytes.TrimSpace(schema)
	inside := schema[1 : len(schema)-1]
	if !bytes.Contains(inside, []byte(`"description"`)) {
		return inside
	}
	doc, err := rawjson.Parse(schema)
	if err != nil || doc.Get(doc.Root(), "description") == rawjson.None {
		return inside
	}
	var out []byte
	for n := doc.First(doc.Root()); n != rawjson.None; n = doc.Next(n) {
		if string(doc.RawKey(n)) == "description" {
			continue
		}
		if len(out) > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), doc.RawKey(n)...), '"', ':')
		out = append(out, doc.Raw(n)...)
	}
	return out
}
