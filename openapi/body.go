package openapi

import (
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// body is how an operation's request body is made.
type body struct {
	arg      string // its property in the arguments; empty for forms of 2.0, whose fields are parameters
	media    string // Content-Type, as declared
	write    bodyWriter
	required bool
	node     value // request body object, or body parameter of 2.0
	schema   value // of the chosen media type
	doc      *document

	rules     map[string]partRule // fields of a form, by name
	otherwise partRule            // of fields that the schema does not name
	files     *files
	altered
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
	partsBody      // multipart, of an object
	partFieldsBody // multipart of 2.0: the parameters in it
	xmlBody
	unsupportedBody
)

// exists tells whether the body is one argument.
func (b *body) exists() bool {
	return b.write != noBody && b.write != fieldsBody && b.write != partFieldsBody
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
	b := body{node: node, required: node.isTrue("required"), doc: o.api.doc, files: o.api.files()}
	rank := 0
	var chosen value
	for media, v := range node.get("content").each() {
		entry, err := o.api.doc.deref(v)
		if err != nil {
			p.fault(o, v, "request body "+media+" is left out: "+err.Error())
			continue
		}
		if w, r := o.api.doc.writerOf(mediaType(media), entry.get("schema")); r > rank {
			rank, chosen = r, entry
			b.media, b.write, b.schema = media, w, entry.get("schema")
		}
	}
	if b.write == jsonBody && strings.Contains(b.media, "*") {
		b.media = "application/json"
	}
	if b.write == formBody || b.write == partsBody {
		b.rules, b.otherwise = p.partRules(o, b.schema, chosen.get("encoding"))
	}
	return b
}

// unsendable is the media type of a request body where none of those that are
// declared can be made; empty: one can, or there is no body.
func (o *operation) unsendable() (media string, required bool) {
	if o.api.legacy() {
		return o.legacyUnsendable()
	}
	node := o.api.doc.follow(o.node.get("requestBody"))
	for key, v := range node.get("content").each() {
		if w, _ := o.api.doc.writerOf(mediaType(key), o.api.doc.follow(v).get("schema")); w != unsupportedBody {
			return "", false
		}
		media = mediaType(key)
	}
	return media, node.isTrue("required")
}

func (o *operation) legacyUnsendable() (media string, required bool) {
	consumes := o.node.get("consumes")
	if consumes.len() == 0 {
		consumes = o.api.doc.root.get("consumes")
	}
	for _, c := range consumes.each() { // nearly always something that can be made
		if w, _ := o.api.doc.writerOf(mediaType(c.str()), value{}); w != unsupportedBody {
			return "", false
		}
		media = mediaType(c.str())
	}
	if media == "" {
		return "", false
	}
	for _, from := range []value{o.item, o.node} {
		for _, v := range o.api.doc.follow(from.get("parameters")).each() {
			if node := o.api.doc.follow(v); node.strAt("in") == "body" {
				if b := o.api.legacyBody(node, consumes); b.write == unsupportedBody {
					return b.media, b.required
				}
			}
		}
	}
	return "", false
}

// writerOf says how a body of a media type is made, and how much it is liked:
// a schema says most about JSON and nothing about bytes.
func (d *document) writerOf(media string, schema value) (w bodyWriter, rank int) {
	schema = d.follow(schema)
	switch {
	case strings.Contains(media, "*") && isBytes(schema):
		return binaryBody, 4
	case media == "application/json":
		return jsonBody, 9
	case media == "*/*" || media == "application/*":
		return jsonBody, 5
	case isJSON(media):
		return jsonBody, 8
	case media == "application/x-www-form-urlencoded":
		return formBody, 7
	case strings.HasPrefix(media, "multipart/"):
		return partsBody, 6
	case media == "text/xml" || media == "application/xml" || strings.HasSuffix(media, "+xml") && media != "image/svg+xml":
		return xmlBody, 3
	case strings.HasPrefix(media, "text/") && media != "text/event-stream":
		return textBody, 4
	case isBinary(media), schema.strAt("format") == "binary", schema.strAt("type") == "file":
		return binaryBody, 4
	case schema.strAt("type") == "string":
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

// legacyBodyOf reads the body of 2.0: one parameter, or the fields of a form.
func (p *plan) legacyBodyOf(o *operation, params []parameter, node value) body {
	consumes := o.node.get("consumes")
	if consumes.len() == 0 {
		consumes = o.api.doc.root.get("consumes")
	}
	if node.ok() {
		return o.api.legacyBody(node, consumes)
	}
	for i := range params {
		if params[i].in == inForm {
			return p.legacyForm(o, params, consumes)
		}
	}
	return body{}
}

func (a *api) legacyBody(node, consumes value) body {
	b := body{doc: a.doc, files: a.files(), node: node, schema: node.get("schema"), required: node.isTrue("required"), media: "application/json", write: jsonBody}
	rank := 0
	for _, c := range consumes.each() {
		if w, r := a.doc.writerOf(mediaType(c.str()), b.schema); r > rank {
			rank, b.write, b.media = r, w, c.str()
		}
	}
	if b.write == formBody || b.write == partsBody || b.write == jsonBody && strings.Contains(b.media, "*") {
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
		return body{write: partFieldsBody, media: "multipart/form-data", files: o.api.files()}
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

// bytes makes the body out of its argument. media is its Content-Type where
// that is not the declared one.
func (b *body) bytes(v argument) (content []byte, media string, err error) {
	switch b.write {
	case jsonBody:
		return v.doc.Raw(v.node), "", nil
	case formBody:
		content, err = b.form(v)
	case textBody:
		content = v.scalar()
	case binaryBody:
		var u upload
		u, err = b.files.read(b.arg, v)
		content = u.content
		if strings.Contains(b.media, "*") {
			media = u.media
		}
	case partsBody:
		return b.parts(v)
	case xmlBody:
		if v.kind() == rawjson.String && b.doc.isRawXML(b.schema, v) {
			content = v.scalar()
			break
		}
		content, err = b.doc.xmlDocument(b.schema, b.arg, v)
	default:
		err = b.unsupported()
	}
	return content, media, err
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
		rule := b.rules[key]
		switch {
		case rule.how:
			dst = appendField(dst, rule.style, escapeForm.text(key), field, true)
		case isJSON(rule.media):
			dst = appendPair(dst, escapeForm.text(key), field)
		default:
			dst = appendField(dst, plain, escapeForm.text(key), field, false)
		}
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
		return appendPair(dst[:start], name, v)
	}
	dst = s.append(dst, name, v)
	if len(dst) == mark {
		return dst[:start]
	}
	return dst
}

// appendPair writes a field as one text, JSON where it is no scalar.
func appendPair(dst []byte, name string, v argument) []byte {
	if len(dst) > 0 {
		dst = append(dst, '&')
	}
	dst = append(append(dst, name...), '=')
	return escapeForm.append(dst, v.scalar())
}
