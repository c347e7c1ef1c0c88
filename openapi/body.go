package openapi

import (
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
	"github.com/tenon-mcp/tenon/openapi/internal/encode"
)

// body is how an operation's request body is made.
type body struct {
	arg      string // property in the arguments; empty for forms of 2.0, whose fields are parameters
	media    string // Content-Type, as declared
	write    bodyWriter
	required bool
	node     document.Value // request body object, or body parameter of 2.0
	schema   document.Value // of the chosen media type
	doc      *document.Document

	rules     map[string]partRule // fields of a form, by name
	otherwise partRule            // for fields that the schema does not name
	files     *encode.Files
	overridden
}

// bodyWriter is the way in which the argument becomes bytes.
type bodyWriter uint8

const (
	noBody bodyWriter = iota
	jsonBody
	formBody
	fieldsBody // form of 2.0: its fields are parameters
	textBody
	binaryBody
	partsBody      // multipart, of an object
	partFieldsBody // multipart form of 2.0: its fields are parameters
	xmlBody
	unsupportedBody
)

// isArgument reports whether the body is one argument.
func (b *body) isArgument() bool {
	return b.write != noBody && b.write != fieldsBody && b.write != partFieldsBody
}

// bodyOf reads the request body and chooses one of its media types.
func (p *plan) bodyOf(o *operation, params []parameter, legacy document.Value) body {
	if o.api.legacy() {
		return p.legacyBodyOf(o, params, legacy)
	}
	node, err := o.api.doc.Deref(o.node.Get("requestBody"))
	if err != nil {
		p.addDiagnostic(o, o.node.Get("requestBody"), "request body ignored: "+err.Error())
		return body{}
	}
	b := body{node: node, required: node.IsTrue("required"), doc: o.api.doc, files: o.api.files()}
	rank := 0
	var chosen document.Value
	for media, v := range node.Get("content").Each() {
		entry, err := o.api.doc.Deref(v)
		if err != nil {
			p.addDiagnostic(o, v, "request body "+media+" ignored: "+err.Error())
			continue
		}
		if w, r := writerOf(o.api.doc, encode.MediaType(media), entry.Get("schema")); r > rank {
			rank, chosen = r, entry
			b.media, b.write, b.schema = media, w, entry.Get("schema")
		}
	}
	if b.write == jsonBody && strings.Contains(b.media, "*") {
		b.media = "application/json"
	}
	if b.write == formBody || b.write == partsBody {
		b.rules, b.otherwise = p.partRules(o, b.schema, chosen.Get("encoding"))
	}
	return b
}

// unsupportedMedia returns a media type of the request body where none of the
// declared ones can be written; empty: one can, or there is no body.
func (o *operation) unsupportedMedia() (media string, required bool) {
	if o.api.legacy() {
		return o.legacyUnsupportedMedia()
	}
	node := o.api.doc.Follow(o.node.Get("requestBody"))
	for key, v := range node.Get("content").Each() {
		if w, _ := writerOf(o.api.doc, encode.MediaType(key), o.api.doc.Follow(v).Get("schema")); w != unsupportedBody {
			return "", false
		}
		media = encode.MediaType(key)
	}
	return media, node.IsTrue("required")
}

func (o *operation) legacyUnsupportedMedia() (media string, required bool) {
	consumes := o.node.Get("consumes")
	if consumes.Len() == 0 {
		consumes = o.api.doc.Root.Get("consumes")
	}
	for _, c := range consumes.Each() {
		if w, _ := writerOf(o.api.doc, encode.MediaType(c.Str()), document.Value{}); w != unsupportedBody {
			return "", false
		}
		media = encode.MediaType(c.Str())
	}
	if media == "" {
		return "", false
	}
	for _, from := range []document.Value{o.item, o.node} {
		for _, v := range o.api.doc.Follow(from.Get("parameters")).Each() {
			if node := o.api.doc.Follow(v); node.StrAt("in") == "body" {
				if b := o.api.legacyBody(node, consumes); b.write == unsupportedBody {
					return b.media, b.required
				}
			}
		}
	}
	return "", false
}

// writerOf returns how a body of a media type is written, and its rank among
// alternatives: JSON is described best by a schema, raw bytes least.
func writerOf(d *document.Document, media string, schema document.Value) (w bodyWriter, rank int) {
	schema = d.Follow(schema)
	switch {
	case strings.Contains(media, "*") && isBytes(schema):
		return binaryBody, 4
	case media == "application/json":
		return jsonBody, 9
	case media == "*/*" || media == "application/*":
		return jsonBody, 5
	case encode.IsJSON(media):
		return jsonBody, 8
	case media == "application/x-www-form-urlencoded":
		return formBody, 7
	case strings.HasPrefix(media, "multipart/"):
		return partsBody, 6
	case media == "text/xml" || media == "application/xml" || strings.HasSuffix(media, "+xml") && media != "image/svg+xml":
		return xmlBody, 3
	case strings.HasPrefix(media, "text/") && media != "text/event-stream":
		return textBody, 4
	case isBinary(media), schema.StrAt("format") == "binary", schema.StrAt("type") == "file":
		return binaryBody, 4
	case schema.StrAt("type") == "string":
		return textBody, 2
	}
	return unsupportedBody, 1
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

// legacyBodyOf reads the body of 2.0: a body parameter, or the fields of a
// form.
func (p *plan) legacyBodyOf(o *operation, params []parameter, node document.Value) body {
	consumes := o.node.Get("consumes")
	if consumes.Len() == 0 {
		consumes = o.api.doc.Root.Get("consumes")
	}
	if node.OK() {
		return o.api.legacyBody(node, consumes)
	}
	for i := range params {
		if params[i].in == encode.InForm {
			return p.legacyForm(o, params, consumes)
		}
	}
	return body{}
}

func (a *api) legacyBody(node, consumes document.Value) body {
	b := body{doc: a.doc, files: a.files(), node: node, schema: node.Get("schema"), required: node.IsTrue("required"), media: "application/json", write: jsonBody}
	rank := 0
	for _, c := range consumes.Each() {
		if w, r := writerOf(a.doc, encode.MediaType(c.Str()), b.schema); r > rank {
			rank, b.write, b.media = r, w, c.Str()
		}
	}
	if b.write == formBody || b.write == partsBody || b.write == jsonBody && strings.Contains(b.media, "*") {
		b.write, b.media = jsonBody, "application/json" // a form has no body parameter, so this list is the document's default
	}
	return b
}

func (p *plan) legacyForm(o *operation, params []parameter, consumes document.Value) body {
	multipart := !onlyJSON(consumes)
	for _, c := range consumes.Each() {
		if encode.MediaType(c.Str()) == "application/x-www-form-urlencoded" {
			multipart = false
		}
	}
	for i := range params {
		if params[i].node.StrAt("type") == "file" {
			multipart = true
		}
	}
	if multipart {
		return body{write: partFieldsBody, media: "multipart/form-data", files: o.api.files()}
	}
	return body{write: fieldsBody, media: "application/x-www-form-urlencoded"}
}

// onlyJSON reports whether consumes lists nothing but JSON. Documents often set
// "application/json" once for all operations, including those with forms.
func onlyJSON(consumes document.Value) bool {
	for _, c := range consumes.Each() {
		if !encode.IsJSON(encode.MediaType(c.Str())) {
			return false
		}
	}
	return true
}

// bytes encodes the body's argument. media is its Content-Type where that
// differs from the declared one.
func (b *body) bytes(v encode.Argument) (content []byte, media string, err error) {
	switch b.write {
	case jsonBody:
		return v.Doc.Raw(v.Node), "", nil
	case formBody:
		content, err = b.form(v)
	case textBody:
		content = v.Scalar()
	case binaryBody:
		var u encode.Upload
		u, err = b.files.Read(b.arg, v)
		content = u.Content
		if strings.Contains(b.media, "*") {
			media = u.MediaType
		}
	case partsBody:
		return b.parts(v)
	case xmlBody:
		if v.Kind() == rawjson.String && encode.IsRawXML(b.doc, b.schema, v) {
			content = v.Scalar()
			break
		}
		content, err = encode.XML(b.doc, b.schema, b.arg, v)
	default:
		err = b.unsupported()
	}
	return content, media, err
}

func (b *body) unsupported() error {
	return encode.Rejected("a request body of type %s is not supported yet", b.media)
}

func (b *body) form(v encode.Argument) ([]byte, error) {
	if v.Kind() != rawjson.Object {
		return nil, encode.Invalid("argument %s must be an object", b.arg)
	}
	plain, _ := encode.StyleOf("", encode.InForm)
	plain.Escape = encode.EscapeForm
	var dst []byte
	for n := v.Doc.First(v.Node); n != rawjson.None && len(dst) <= encode.MaxText; n = v.Doc.Next(n) {
		field := encode.Argument{Doc: v.Doc, Node: n}
		if !field.IsGiven() {
			continue
		}
		key := v.Doc.Key(n)
		rule := b.rules[key]
		switch {
		case rule.how:
			dst = appendField(dst, rule.style, encode.EscapeForm.Text(key), field, true)
		case encode.IsJSON(rule.media):
			dst = appendPair(dst, encode.EscapeForm.Text(key), field)
		default:
			dst = appendField(dst, plain, encode.EscapeForm.Text(key), field, false)
		}
	}
	if len(dst) > encode.MaxText {
		return nil, encode.TooLong("the form", encode.MaxText)
	}
	return dst, nil
}

// appendField appends a field. An object without a style is written as JSON
// text (3.1 §4.8.15.1.1).
func appendField(dst []byte, s encode.Style, name string, v encode.Argument, styled bool) []byte {
	start := len(dst)
	if start > 0 {
		dst = append(dst, '&')
	}
	mark := len(dst)
	if v.Kind() == rawjson.Object && !styled {
		return appendPair(dst[:start], name, v)
	}
	dst = s.Append(dst, name, v)
	if len(dst) == mark {
		return dst[:start]
	}
	return dst
}

// appendPair appends a field as text, and as JSON if it is not a scalar.
func appendPair(dst []byte, name string, v encode.Argument) []byte {
	if len(dst) > 0 {
		dst = append(dst, '&')
	}
	dst = append(append(dst, name...), '=')
	return encode.EscapeForm.Append(dst, v.Scalar())
}
