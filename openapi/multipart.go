package openapi

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
	"github.com/tenon-mcp/tenon/openapi/internal/encode"
)

// multipartWriter encodes a multipart body (RFC 7578). The media type of a part
// is that of its encoding object, or follows from its schema: JSON for objects,
// a file for binary data, plain text for everything else.
type multipartWriter struct {
	buf      bytes.Buffer
	boundary string
	form     bool // multipart/form-data: parts have names
	files    *encode.Files
}

func newMultipart(media string, f *encode.Files) *multipartWriter {
	var b [15]byte
	_, _ = rand.Read(b[:]) // never fails: see crypto/rand
	return &multipartWriter{boundary: "tenon-" + hex.EncodeToString(b[:]), form: encode.MediaType(media) == "multipart/form-data", files: f}
}

// contentType returns the Content-Type with the boundary.
func (w *multipartWriter) contentType(media string) string {
	return encode.MediaType(media) + "; boundary=" + w.boundary
}

// partRule is how a field is encoded.
type partRule struct {
	media string // Content-Type of the part; empty: depends on the value
	file  bool   // the argument stands for bytes; see files
	bare  bool   // it is a file only because its schema is empty, so a Content-Type can make it text
	style encode.Style
	how   bool // style is set: by the encoding object
}

// field writes the parts of one argument: one per element of a list (RFC 7578
// §4.3), unless the list is JSON.
func (w *multipartWriter) field(name string, rule partRule, v encode.Argument) error {
	isJSONPart := rule.media != "" && encode.IsJSON(rule.media)
	if v.Kind() != rawjson.Array || isJSONPart {
		return w.part(name, rule, v)
	}
	for n := v.Doc.First(v.Node); n != rawjson.None; n = v.Doc.Next(n) {
		item := encode.Argument{Doc: v.Doc, Node: n}
		if !item.IsGiven() {
			continue
		}
		if err := w.part(name, rule, item); err != nil {
			return err
		}
	}
	return nil
}

func (w *multipartWriter) part(name string, rule partRule, v encode.Argument) error {
	filename, media, content := "", rule.media, v.Scalar()
	switch {
	case rule.file && v.Kind() == rawjson.String:
		got, err := w.files.Read(name, v)
		if err != nil {
			return err
		}
		content, filename = got.Content, got.Name
		if media == "" || strings.Contains(media, "*") {
			media = got.MediaType
		}
	case v.Kind() == rawjson.Object || v.Kind() == rawjson.Array:
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
	if w.buf.Len() > encode.MaxUpload {
		return encode.TooLong("the body", encode.MaxUpload)
	}
	return nil
}

func (w *multipartWriter) end() []byte {
	w.buf.WriteString("--" + w.boundary + "--\r\n")
	return w.buf.Bytes()
}

// quoteName escapes a name as browsers do: quotes and line ends are
// percent-encoded (RFC 7578 §5.1.1 leaves it to them).
func quoteName(name string) string {
	return strings.NewReplacer(`"`, "%22", "\r", "%0D", "\n", "%0A").Replace(name)
}

// parts encodes an object as a multipart body.
func (b *body) parts(v encode.Argument) ([]byte, string, error) {
	if v.Kind() != rawjson.Object {
		return nil, "", encode.Invalid("argument %s must be an object", b.arg)
	}
	w := newMultipart(b.media, b.files)
	for n := v.Doc.First(v.Node); n != rawjson.None; n = v.Doc.Next(n) {
		field := encode.Argument{Doc: v.Doc, Node: n}
		if !field.IsGiven() {
			continue
		}
		name := v.Doc.Key(n)
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

// partRules reads how each property of a form is encoded, and how undeclared
// ones are.
func (p *plan) partRules(o *operation, schema, encoding document.Value) (rules map[string]partRule, otherwise partRule) {
	rules = map[string]partRule{}
	d := o.api.doc
	d.Properties(schema, 0, func(name string, v document.Value) {
		rules[name] = partRule{file: isFile(d, v), bare: !declaresFile(d, v)}
	})
	for name, v := range encoding.Each() {
		rule := rules[name]
		if media := firstMedia(v.StrAt("contentType")); media != "" {
			rule.media = media
			rule.file = rule.file && !rule.bare || isBinary(media)
		}
		if v.Get("style").OK() || v.Get("explode").OK() {
			rule.style, rule.how = p.styleAt(o, v, encode.InForm), true
			rule.style.Escape = encode.EscapeForm
		}
		rules[name] = rule
	}
	if more := schema.Get("additionalProperties"); more.Kind() == rawjson.Object {
		otherwise.file = isFile(d, d.Follow(more))
	}
	return rules, otherwise
}

// firstMedia returns the first media type of a list that is not a range.
func firstMedia(list string) string {
	for m := range strings.SplitSeq(list, ",") {
		if m = strings.TrimSpace(m); encode.IsMediaType(encode.MediaType(m)) && !strings.ContainsAny(m, "\r\n*") {
			return m
		}
	}
	return ""
}

// isFile reports whether a schema is of raw bytes or a list of them: the format
// binary (3.0), type file (2.0), a media type without an encoding (3.1).
func isFile(d *document.Document, schema document.Value) bool {
	return declaresFile(d, schema) || d.Version >= document.V31 && saysNothing(itemOf(d, schema))
}

func declaresFile(d *document.Document, schema document.Value) bool {
	return isBytes(itemOf(d, schema))
}

// itemOf returns the schema of a part: for an array the schema of its items.
func itemOf(d *document.Document, schema document.Value) document.Value {
	if items := schema.Get("items"); schema.StrAt("type") == "array" && items.OK() {
		return d.Follow(items)
	}
	return schema
}

// saysNothing reports whether a schema accepts every value: since 3.1 a part
// with such a schema is bytes (3.1 §4.8.15.1.3, application/octet-stream).
func saysNothing(schema document.Value) bool {
	if schema.Kind() == rawjson.Bool {
		return schema.File.Doc.IsTrue(schema.Node)
	}
	if schema.Kind() != rawjson.Object {
		return false
	}
	for key := range schema.Each() {
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

// isBytes reports whether a schema is of raw bytes.
func isBytes(schema document.Value) bool {
	return schema.StrAt("format") == "binary" || schema.StrAt("type") == "file" ||
		schema.StrAt("contentMediaType") != "" && schema.StrAt("contentEncoding") == "" && !strings.HasPrefix(schema.StrAt("contentMediaType"), "text/") && !encode.IsJSON(schema.StrAt("contentMediaType"))
}
