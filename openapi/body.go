package openapi

import (
	"bytes"
	"encoding/base64"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// body is how an operation's request body is made.
type body struct {
	arg      string // its property in the arguments; empty for forms of 2.0, whose fields are parameters
	media    string // Content-Type, as declared
	write    bodyWriter
	required bool
	node     value            // request body object, or body parameter of 2.0
	schema   value            // of the chosen media type
	fields   map[string]style // fields of a form with a style of their own
}

// bodyWriter says how the argument becomes bytes.
type bodyWriter uint8

const (
	noBody bodyWriter = iota
	jsonBody
	formBody
	fieldsBody // form of 2.0: the parameters in it
	textBody
	binaryBody
	unsupportedBody
	unsupportedFields // likewise a form of 2.0 that nobody can write yet
)

// exists tells whether the body is one argument.
func (b *body) exists() bool {
	return b.write != noBody && b.write != fieldsBody && b.write != unsupportedFields
}

// bodyOf reads the request body and chooses one of its media types.
func (p *plan) bodyOf(o *operation, params []parameter, legacy value) body {
	if o.api.legacy() {
		return p.legacyBodyOf(o, params, legacy)
	}
	node, err := o.api.doc.deref(o.node.get("requestBody"))
	if err != nil {
		p.fault(o, o.node.get("requestBody"), "request body is left out: "+err.Error())
		return body{}
	}
	b := body{node: node, required: node.isTrue("required")}
	rank := 0
	var chosen value
	for media, v := range node.get("content").each() {
		entry, err := o.api.doc.deref(v)
		if err != nil {
			p.fault(o, v, "request body "+media+" is left out: "+err.Error())
			continue
		}
		if w, r := writerOf(mediaType(media), entry.get("schema")); r > rank {
			rank, chosen = r, entry
			b.media, b.write, b.schema = media, w, entry.get("schema")
		}
	}
	if b.write == jsonBody && strings.Contains(b.media, "*") {
		b.media = "application/json"
	}
	if b.write == formBody {
		b.fields = p.fieldStyles(o, chosen.get("encoding"))
	}
	if b.write == unsupportedBody {
		p.fault(o, node, "request body "+b.media+" is not supported yet")
	}
	return b
}

// writerOf says how a body of a media type is made, and how much it is liked:
// a schema says most about JSON and nothing about bytes.
func writerOf(media string, schema value) (w bodyWriter, rank int) {
	switch {
	case media == "application/json":
		return jsonBody, 9
	case media == "*/*" || media == "application/*":
		return jsonBody, 6
	case isJSON(media):
		return jsonBody, 8
	case media == "application/x-www-form-urlencoded":
		return formBody, 7
	case strings.HasPrefix(media, "multipart/"):
		return unsupportedBody, 1
	case strings.HasPrefix(media, "text/") && media != "text/xml" && media != "text/event-stream":
		return textBody, 5
	case isBinary(media), schema.strAt("format") == "binary", schema.strAt("type") == "file":
		return binaryBody, 4
	case schema.strAt("type") == "string":
		return textBody, 3
	}
	return unsupportedBody, 2
}

func isBinary(media string) bool {
	major, minor, _ := strings.Cut(media, "/")
	switch major {
	case "image", "audio", "video", "font":
		return true
	}
	switch minor {
	case "octet-stream", "pdf", "zip", "gzip", "x-gzip", "x-tar", "x-gtar":
		return true
	}
	return false
}

// fieldStyles reads how the fields of a form are written.
func (p *plan) fieldStyles(o *operation, encoding value) map[string]style {
	var m map[string]style
	for name, v := range encoding.each() {
		if v.get("style").kind() == rawjson.Invalid && v.get("explode").kind() == rawjson.Invalid {
			continue
		}
		if m == nil {
			m = map[string]style{}
		}
		s := p.styleAt(o, v, inForm)
		s.escape = escapeForm
		m[name] = s
	}
	return m
}

// legacyBodyOf reads the body of 2.0: one parameter, or the fields of a form.
func (p *plan) legacyBodyOf(o *operation, params []parameter, node value) body {
	consumes := o.node.get("consumes")
	if consumes.len() == 0 {
		consumes = o.api.doc.root.get("consumes")
	}
	if node.ok() {
		return legacyJSON(node, consumes)
	}
	for i := range params {
		if params[i].in == inForm {
			return p.legacyForm(o, params, consumes)
		}
	}
	return body{}
}

func legacyJSON(node, consumes value) body {
	b := body{node: node, schema: node.get("schema"), required: node.isTrue("required"), media: "application/json", write: jsonBody}
	rank := 0
	for _, c := range consumes.each() {
		if w, r := writerOf(mediaType(c.str()), b.schema); r > rank {
			rank, b.write, b.media = r, w, c.str()
		}
	}
	if b.write == formBody || b.write == jsonBody && strings.Contains(b.media, "*") {
		b.write, b.media = jsonBody, "application/json" // a form has no body parameter: the list is the document's default
	}
	return b
}

func (p *plan) legacyForm(o *operation, params []parameter, consumes value) body {
	multipart := !onlyJSON(consumes)
	for _, c := range consumes.each() {
		if mediaType(c.str()) == "application/x-www-form-urlencoded" {
			multipart = false
		}
	}
	for i := range params {
		if params[i].node.strAt("type") == "file" {
			multipart = true
		}
	}
	if multipart {
		p.fault(o, o.node, "request body multipart/form-data is not supported yet")
		return body{write: unsupportedFields, media: "multipart/form-data"}
	}
	return body{write: fieldsBody, media: "application/x-www-form-urlencoded"}
}

// onlyJSON: documents often say "application/json" once for all operations,
// their forms included.
func onlyJSON(consumes value) bool {
	for _, c := range consumes.each() {
		if !isJSON(mediaType(c.str())) {
			return false
		}
	}
	return true
}

// bytes makes the body out of its argument.
func (b *body) bytes(v argument) ([]byte, error) {
	switch b.write {
	case jsonBody:
		return v.doc.Raw(v.node), nil
	case formBody:
		return b.form(v)
	case textBody:
		return v.scalar(), nil
	case binaryBody:
		return decodeBase64(b.arg, v)
	default:
		return nil, b.unsupported()
	}
}

func (b *body) unsupported() error {
	return refused("a request body of type %s is not supported yet", b.media)
}

func (b *body) form(v argument) ([]byte, error) {
	if v.kind() != rawjson.Object {
		return nil, invalid("argument %s must be an object", b.arg)
	}
	plain := styleOf("form")
	plain.escape = escapeForm
	var dst []byte
	for n := v.doc.First(v.node); n != rawjson.None && len(dst) <= maxText; n = v.doc.Next(n) {
		field := argument{v.doc, n}
		if !field.given() {
			continue
		}
		key := v.doc.Key(n)
		s, styled := b.fields[key]
		if !styled {
			s = plain
		}
		dst = appendField(dst, s, escapeForm.text(key), field, styled)
	}
	if len(dst) > maxText {
		return nil, tooLong("the form", maxText)
	}
	return dst, nil
}

// appendField writes one field behind the others. An object without a style of
// its own is JSON text (3.1 §4.8.15.1.1).
func appendField(dst []byte, s style, name string, v argument, styled bool) []byte {
	start := len(dst)
	if start > 0 {
		dst = append(dst, '&')
	}
	mark := len(dst)
	if v.kind() == rawjson.Object && !styled {
		dst = append(append(dst, name...), '=')
		dst = s.escape.append(dst, v.scalar())
	} else {
		dst = s.append(dst, name, v)
	}
	if len(dst) == mark {
		return dst[:start]
	}
	return dst
}

func decodeBase64(arg string, v argument) ([]byte, error) {
	if v.kind() != rawjson.String {
		return nil, invalid("argument %s must be a base64 string", arg)
	}
	text := bytes.TrimRight(v.scalar(), "=")
	enc := base64.RawStdEncoding
	if bytes.ContainsAny(text, "-_") {
		enc = base64.RawURLEncoding
	}
	out := make([]byte, enc.DecodedLen(len(text)))
	n, err := enc.Decode(out, text)
	if err != nil {
		return nil, invalid("argument %s is not base64", arg)
	}
	return out[:n], nil
}
