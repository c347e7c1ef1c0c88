package encode

import (
	"strings"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
)

// xmlWriter writes a value as XML by the xml objects of its schema (3.1
// §4.8.26; nodeType of 3.2).
type xmlWriter struct {
	doc   *document.Document
	dst   []byte
	depth int
	err   error
}

const maxXMLDepth = 64

// XML encodes a body as XML. Its root element is named by the schema's
// xml object, else by its component.
func XML(d *document.Document, schema document.Value, arg string, v Argument) ([]byte, error) {
	target := d.Follow(schema)
	name := xmlNameOf(target)
	if name.local == "" {
		if ref := schema.StrAt("$ref"); ref != "" {
			name.local = ref[strings.LastIndexByte(ref, '/')+1:]
		} else {
			name.local = "root"
		}
	}
	if v.Kind() == rawjson.Array && !target.Get("xml").IsTrue("wrapped") {
		return nil, Invalid("argument %s is a list, and its schema has no xml.wrapped", arg)
	}
	w := &xmlWriter{doc: d, dst: []byte(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")}
	w.element(name, target, v)
	if w.err != nil {
		return nil, Invalid("argument %s cannot be written as XML: %v", arg, w.err)
	}
	return w.dst, nil
}

// IsRawXML reports whether a string is the document itself: it is if the schema
// has no xml object, as for SOAP, or if the string is markup.
func IsRawXML(d *document.Document, schema document.Value, v Argument) bool {
	schema = d.Follow(schema)
	if schema.Get("xml").OK() {
		return strings.HasPrefix(strings.TrimSpace(string(v.Scalar())), "<")
	}
	return true
}

// xmlName is the name of an element or attribute.
type xmlName struct{ prefix, local, space string }

func (n xmlName) String() string {
	if n.prefix != "" {
		return n.prefix + ":" + n.local
	}
	return n.local
}

// xmlNameOf returns the name in a schema's xml object.
func xmlNameOf(schema document.Value) xmlName {
	x := schema.Get("xml")
	return xmlName{prefix: x.StrAt("prefix"), local: x.StrAt("name"), space: x.StrAt("namespace")}
}

// xmlMemberName returns the name of a member, which its schema may override.
func xmlMemberName(schema document.Value, key string) xmlName {
	n := xmlNameOf(schema)
	if n.local == "" {
		n.local = key
	}
	return n
}

func (w *xmlWriter) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// element writes <name attributes>content</name>.
func (w *xmlWriter) element(name xmlName, schema document.Value, v Argument) {
	if w.depth++; w.depth > maxXMLDepth || len(w.dst) > MaxText {
		w.fail(Invalid("it is too deep or too long"))
	}
	defer func() { w.depth-- }()
	if w.err != nil {
		return
	}
	w.dst = append(w.dst, '<')
	w.name(name)
	w.declare(name)
	if v.Kind() == rawjson.Object {
		w.attributes(schema, v)
	}
	w.dst = append(w.dst, '>')
	switch v.Kind() {
	case rawjson.Object:
		w.members(schema, v)
	case rawjson.Array:
		w.items(name, schema, v)
	default:
		w.text(v.Scalar(), false)
	}
	w.dst = append(w.dst, "</"...)
	w.name(name)
	w.dst = append(w.dst, '>')
}

// declare writes the namespace declaration of a name.
func (w *xmlWriter) declare(n xmlName) {
	if n.space == "" {
		return
	}
	w.dst = append(w.dst, " xmlns"...)
	if n.prefix != "" {
		w.dst = append(append(w.dst, ':'), n.prefix...)
	}
	w.dst = append(w.dst, `="`...)
	w.text([]byte(n.space), true)
	w.dst = append(w.dst, '"')
}

// attributes writes the members that are attributes.
func (w *xmlWriter) attributes(schema document.Value, v Argument) {
	w.each(schema, v, func(key string, property document.Value, item Argument) {
		if !isAttribute(property) {
			return
		}
		name := xmlMemberName(property, key)
		if name.prefix != "" {
			w.declare(name)
		}
		w.dst = append(w.dst, ' ')
		w.name(name)
		w.dst = append(w.dst, `="`...)
		w.text(item.Scalar(), true)
		w.dst = append(w.dst, '"')
	})
}

func isAttribute(schema document.Value) bool {
	x := schema.Get("xml")
	return x.IsTrue("attribute") || x.StrAt("nodeType") == "attribute"
}

// members writes the members that are not attributes.
func (w *xmlWriter) members(schema document.Value, v Argument) {
	w.each(schema, v, func(key string, property document.Value, item Argument) {
		x := property.Get("xml")
		switch {
		case isAttribute(property):
		case x.StrAt("nodeType") == "text":
			w.text(item.Scalar(), false)
		case item.Kind() == rawjson.Array && !x.IsTrue("wrapped") && x.StrAt("nodeType") != "element":
			// Not wrapped: each item is an element of its own.
			w.items(xmlName{local: key}, property, item)
		default:
			w.element(xmlMemberName(property, key), property, item)
		}
	})
}

// items writes the items of a list under the name in their schema, else that of
// the list.
func (w *xmlWriter) items(list xmlName, schema document.Value, v Argument) {
	inner := w.doc.Follow(schema.Get("items"))
	name := xmlMemberName(inner, list.local)
	for n := v.Doc.First(v.Node); n != rawjson.None && w.err == nil; n = v.Doc.Next(n) {
		if item := (Argument{v.Doc, n}); item.IsGiven() {
			w.element(name, inner, item)
		}
	}
}

// each iterates over the members that are given, with their schemas.
func (w *xmlWriter) each(schema document.Value, v Argument, visit func(key string, property document.Value, item Argument)) {
	properties := map[string]document.Value{}
	w.doc.Properties(schema, 0, func(name string, p document.Value) { properties[name] = p })
	for n := v.Doc.First(v.Node); n != rawjson.None && w.err == nil; n = v.Doc.Next(n) {
		if item := (Argument{v.Doc, n}); item.IsGiven() {
			key := v.Doc.Key(n)
			visit(key, properties[key], item)
		}
	}
}

// name writes a name after checking it: it comes from the document or from the
// arguments.
func (w *xmlWriter) name(n xmlName) {
	for i, part := range []string{n.prefix, n.local} {
		if !isXMLName(part) && (i == 1 || part != "") {
			w.fail(Invalid("%.40q is not a valid name", part))
			return
		}
	}
	w.dst = append(w.dst, n.String()...)
}

// isXMLName reports whether s is a name of XML 1.0 without a colon; beyond
// ASCII all letters are accepted.
func isXMLName(s string) bool {
	for i, r := range s {
		start := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0xC0 && r != 0xD7 && r != 0xF7 && r != utf8.RuneError
		if !start && (i == 0 || r != '-' && r != '.' && (r < '0' || r > '9')) {
			return false
		}
	}
	return s != ""
}

// text writes character data. Characters that are illegal in XML are an error.
func (w *xmlWriter) text(text []byte, attribute bool) {
	for _, r := range string(text) {
		switch {
		case r == '&':
			w.dst = append(w.dst, "&amp;"...)
		case r == '<':
			w.dst = append(w.dst, "&lt;"...)
		case r == '>':
			w.dst = append(w.dst, "&gt;"...)
		case r == '"' && attribute:
			w.dst = append(w.dst, "&quot;"...)
		case r == '\r', (r == '\n' || r == '\t') && attribute: // readers would change them
			w.dst = append(w.dst, "&#x"+string("0123456789ABCDEF"[r])+";"...)
		case r < ' ' && r != '\n' && r != '\t', r == 0xFFFE, r == 0xFFFF:
			w.fail(Invalid("it contains a control character"))
			return
		default:
			w.dst = utf8.AppendRune(w.dst, r)
		}
	}
}
