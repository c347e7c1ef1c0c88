package openapi

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// multipartWriter makes a body of several parts (RFC 7578). What a part is
// sent as comes from its encoding object, else from its schema: JSON for
// objects, a file for binary data, plain text for the rest.
type multipartWriter struct {
	buf      bytes.Buffer
	boundary string
	form     bool // multipart/form-data: parts have names
	files    *files
}

func newMultipart(media string, f *files) *multipartWriter {
	var b [15]byte
	_, _ = rand.Read(b[:]) // never fails: see crypto/rand
	return &multipartWriter{boundary: "tenon-" + hex.EncodeToString(b[:]), form: mediaType(media) == "multipart/form-data", files: f}
}

// contentType is the header that tells the boundary.
func (w *multipartWriter) contentType(media string) string {
	return mediaType(media) + "; boundary=" + w.boundary
}

// partRule says how a field is sent.
type partRule struct {
	media string // Content-Type of the part; empty: by the value
	file  bool   // the argument stands for bytes; see files
	bare  bool   // that its schema says nothing is why it is a file: a Content-Type decides otherwise
	style style
	how   bool // style counts: the encoding object names one
}

// field writes the parts of one argument: one for each element of a list
// (RFC 7578 §4.3), unless the list is JSON.
func (w *multipartWriter) field(name string, rule partRule, v argument) error {
	isJSONPart := rule.media != "" && isJSON(rule.media)
	if v.kind() != rawjson.Array || isJSONPart {
		return w.part(name, rule, v)
	}
	for n := v.doc.First(v.node); n != rawjson.None; n = v.doc.Next(n) {
		item := argument{v.doc, n}
		if !item.given() {
			continue
		}
		if err := w.part(name, rule, item); err != nil {
			return err
		}
	}
	return nil
}

func (w *multipartWriter) part(name string, rule partRule, v argument) error {
	filename, media, content := "", rule.media, v.scalar()
	switch {
	case rule.file && v.kind() == rawjson.String:
		got, err := w.files.read(name, v)
		if err != nil {
			return err
		}
		content, filename = got.content, got.name
		if media == "" || strings.Contains(media, "*") {
			media = got.media
		}
	case v.kind() == rawjson.Object || v.kind() == rawjson.Array:
		if media == "" {
			media = "application/json"
		}
	}
	w.buf.WriteString("--" + w.boundary + "\r\n")
	if w.form {
		w.buf.WriteString(`Content-Disposition: form-data; name="` + quoteName(name) + `"`)
		if filename != "" {
			w.buf.WriteString(`; filename="` + quoteName(filename) + `"`)
		}
		w.buf.WriteString("\r\n")
	}
	if media != "" {
		w.buf.WriteString("Content-Type: " + media + "\r\n")
	}
	w.buf.WriteString("\r\n")
	w.buf.Write(content)
	w.buf.WriteString("\r\n")
	if w.buf.Len() > maxUpload {
		return tooLong("the body", maxUpload)
	}
	return nil
}

func (w *multipartWriter) end() []byte {
	w.buf.WriteString("--" + w.boundary + "--\r\n")
	return w.buf.Bytes()
}

// quoteName writes a name as browsers do: what could end it or the line is
// percent-encoded (RFC 7578 §5.1.1 leaves it to them).
func quoteName(name string) string {
	return strings.NewReplacer(`"`, "%22", "\r", "%0D", "\n", "%0A").Replace(name)
}

// parts makes a multipart body out of an object.
func (b *body) parts(v argument) ([]byte, string, error) {
	if v.kind() != rawjson.Object {
		return nil, "", invalid("argument %s must be an object", b.arg)
	}
	w := newMultipart(b.media, b.files)
	for n := v.doc.First(v.node); n != rawjson.None; n = v.doc.Next(n) {
		field := argument{v.doc, n}
		if !field.given() {
			continue
		}
		name := v.doc.Key(n)
		rule, known := b.rules[name]
		if !known {
			rule = b.otherwise
		}
		if err := w.field(name, rule, field); err != nil {
			return nil, "", err
		}
	}
	return w.end(), w.contentType(b.media), nil
}

// partRules reads how each property of a form is sent, and how those that the
// schema does not name.
func (p *plan) partRules(o *operation, schema, encoding value) (rules map[string]partRule, otherwise partRule) {
	rules = map[string]partRule{}
	d := o.api.doc
	d.properties(schema, 0, func(name string, v value) {
		rules[name] = partRule{file: d.isFile(v), bare: !d.declaresFile(v)}
	})
	for name, v := range encoding.each() {
		rule := rules[name]
		if media := firstMedia(v.strAt("contentType")); media != "" {
			rule.media = media
			rule.file = rule.file && !rule.bare || isBinary(media)
		}
		if v.get("style").ok() || v.get("explode").ok() {
			rule.style, rule.how = p.styleAt(o, v, inForm), true
			rule.style.escape = escapeForm
		}
		rules[name] = rule
	}
	if more := schema.get("additionalProperties"); more.kind() == rawjson.Object {
		otherwise.file = d.isFile(d.follow(more))
	}
	return rules, otherwise
}

// firstMedia is the first of a list of media types that can be sent.
func firstMedia(list string) string {
	for m := range strings.SplitSeq(list, ",") {
		if m = strings.TrimSpace(m); validMedia(mediaType(m)) && !strings.ContainsAny(m, "\r\n*") {
			return m
		}
	}
	return ""
}

// follow is deref that answers nothing where a reference leads nowhere.
func (d *document) follow(v value) value {
	target, err := d.deref(v)
	if err != nil {
		return value{}
	}
	return target
}

// properties goes over the properties of an object's schema, those of what it
// is composed of included.
func (d *document) properties(schema value, depth int, yield func(name string, v value)) {
	const maxDepth = 8
	schema = d.follow(schema)
	if !schema.ok() || depth > maxDepth {
		return
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		for _, part := range schema.get(key).each() {
			d.properties(part, depth+1, yield)
		}
	}
	for name, v := range schema.get("properties").each() {
		yield(name, d.follow(v))
	}
}

// isFile tells a schema of raw bytes, or of a list of them: the format binary
// (3.0), type file (2.0), a media type without an encoding (3.1).
func (d *document) isFile(schema value) bool {
	return d.declaresFile(schema) || d.version >= v31 && saysNothing(d.itemOf(schema))
}

func (d *document) declaresFile(schema value) bool { return isBytes(d.itemOf(schema)) }

// itemOf is the schema of a part: of an array's items, where it describes them.
func (d *document) itemOf(schema value) value {
	if items := schema.get("items"); schema.strAt("type") == "array" && items.ok() {
		return d.follow(items)
	}
	return schema
}

// saysNothing tells the schemas that admit every value: since 3.1 a part of such
// a schema is bytes (3.1 §4.8.15.1.3, application/octet-stream).
func saysNothing(schema value) bool {
	if schema.kind() == rawjson.Bool {
		return schema.file.doc.IsTrue(schema.node)
	}
	if schema.kind() != rawjson.Object {
		return false
	}
	for key := range schema.each() {
		switch key {
		case "title", "description", "deprecated", "default", "example", "examples", "readOnly", "writeOnly", "$comment", "externalDocs", "xml":
		default:
			if !strings.HasPrefix(key, "x-") {
				return false
			}
		}
	}
	return true
}

// isBytes tells a schema of raw bytes itself.
func isBytes(schema value) bool {
	return schema.strAt("format") == "binary" || schema.strAt("type") == "file" ||
		schema.strAt("contentMediaType") != "" && schema.strAt("contentEncoding") == "" && !strings.HasPrefix(schema.strAt("contentMediaType"), "text/") && !isJSON(schema.strAt("contentMediaType"))
}
