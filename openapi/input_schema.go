package openapi

import (
	"bytes"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi/internal/convert"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
)

// input returns the full schema of the arguments object, for publication or for
// validation.
func (o *operation) input(dir convert.Direction) []byte {
	if !o.api.doc.MayHaveReadOnly() && !o.api.doc.MayHaveDiscriminator() {
		dir = convert.Input // both are equal
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
	if p.body.isArgument() && !p.body.hidden && p.body.write != unsupportedBody {
		w.property(p.body.arg, o.bodySchema(&p.body, dir), or(p.body.description, p.body.describe()), p.body.required)
	}
	w.dst = append(w.dst, '}')
	if len(w.required) > 0 {
		w.dst = append(w.dst, `,"required":[`...)
		w.dst = append(append(w.dst, w.required...), ']')
	}
	w.dst = append(w.dst, `,"additionalProperties":false}`...)
	return convert.Assemble(w.dst, w.deps...)
}

// inputWriter collects the properties.
type inputWriter struct {
	dst      []byte
	required []byte // the elements of the list
	deps     [][]*convert.Definition
	some     bool
}

func (w *inputWriter) property(name string, f convert.Fragment, description string, required bool) {
	if w.some {
		w.dst = append(w.dst, ',')
	}
	w.some = true
	w.dst = append(rawjson.AppendString(w.dst, name), ':')
	w.dst = appendDescribed(w.dst, objectSchema(f.Body), description)
	if len(f.Deps) > 0 {
		w.deps = append(w.deps, f.Deps)
	}
	if !required {
		return
	}
	if len(w.required) > 0 {
		w.required = append(w.required, ',')
	}
	w.required = rawjson.AppendString(w.required, name)
}

func (o *operation) parameterSchema(q *parameter, dir convert.Direction) convert.Fragment {
	switch {
	case !q.node.OK():
		return convert.Fragment{Body: []byte(`{"type":"string"}`)} // declared by the path alone
	case o.api.legacy():
		return o.api.schemas.Parameter(q.node, dir)
	case q.schema.OK():
		return o.api.schemas.Schema(q.schema, dir)
	}
	return convert.Fragment{Body: []byte("{}")}
}

func (o *operation) bodySchema(b *body, dir convert.Direction) convert.Fragment {
	switch {
	case b.write == unsupportedBody:
		return convert.Fragment{Body: []byte("{}")}
	case b.write == binaryBody:
		return convert.Fragment{Body: []byte(`{"type":"string","contentEncoding":"base64"}`)}
	case b.write == textBody && b.schema.StrAt("type") != "string":
		return convert.Fragment{Body: []byte(`{"type":"string"}`)}
	case (b.write == formBody || b.write == partsBody) && !b.schema.OK():
		return convert.Fragment{Body: []byte(`{"type":"object"}`)}
	case b.schema.OK():
		return o.api.schemas.Schema(b.schema, dir)
	}
	return convert.Fragment{Body: []byte("{}")}
}

// describe returns the description of a parameter.
func describe(node document.Value) string {
	text := strings.TrimSpace(node.StrAt("description"))
	if node.IsTrue("deprecated") {
		text = strings.TrimSpace("Deprecated. " + text)
	}
	return text
}

// describe returns the description of a body, with its media type where the
// argument is not JSON.
func (b *body) describe() string {
	text := b.node.StrAt("description")
	switch b.write {
	case textBody:
		text += " (" + b.media + ")"
	case xmlBody:
		text += " (" + b.media
		if s := b.doc.Follow(b.schema); saysNothing(s) || !s.OK() || s.StrAt("type") == "string" {
			text += "; a string is the whole document"
		}
		text += ")"
	case binaryBody:
		text += " (" + b.media + b.files.Hint("; ") + ")"
	case partsBody:
		text += " (" + b.media + b.files.Hint("; files ") + ")"
	default:
	}
	return strings.TrimSpace(text)
}

// appendDescribed writes a schema with a description, which replaces the
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

// members returns the members of a schema object without its description.
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
