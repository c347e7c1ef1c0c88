package openapi

import (
	"strings"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// xmlWriter writes a value as XML by the xml objects of its schema (3.1
// §4.8.26; nodeType of 3.2).
type xmlWriter struct {
	doc   *document
	dst   []byte
	depth int
	err   error
}

const maxXMLDepth = 64

// xmlDocument is a body in XML. Its root is named by the schema's xml object,
// else by the component that the schema is.
func (d *document) xmlDocument(schema value, arg string, v argument) ([]byte, error) {
	target := d.follow(schema)
	name := d.xmlNameOf(target)
	if name.local == "" {
		if ref := schema.strAt("$ref"); ref != "" {
			name.local = ref[strings.LastIndexByte(ref, '/')+1:]
		} else {
			name.local = "root"
		}
	}
	if v.kind() == rawjson.Array && !target.get("xml").isTrue("wrapped") {
		return nil, invalid("argument %s is a list, and its schema does not say what wraps it in XML", arg)
	}
	w := &xmlWriter{doc: d, dst: []byte(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")}
	w.element(name, target, v)
	if w.err != nil {
		return nil, invalid("argument %s cannot be written as XML: %v", arg, w.err)
	}
	return w.dst, nil
}

// isRawXML tells the strings that are the document itself: those of a schema that
// describes no members, as of SOAP. One that names an element says what text is
// wrapped in.
func (d *document) isRawXML(schema value, v argument) bool {
	schema = d.follow(schema)
	if schema.get("xml").ok() {
		return strings.HasPrefix(strings.TrimSpace(string(v.scalar())), "<")
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

// xmlNameOf is what a schema's xml object says.
func (d *document) xmlNameOf(schema value) xmlName {
	x := schema.get("xml")
	return xmlName{prefix: x.strAt("prefix"), local: x.strAt("name"), space: x.strAt("namespace")}
}

// named is the name of a member, unless its schema gives it another.
func (d *document) named(schema value, key string) xmlName {
	n := d.xmlNameOf(schema)
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
func (w *xmlWriter) element(name xmlName, schema value, v argument) {
	if w.depth++; w.depth > maxXMLDepth || len(w.dst) > maxText {
		w.fail(invalid("it is too deep or too long"))
	}
	defer func() { w.depth-- }()
	if w.err != nil {
		return
	}
	w.dst = append(w.dst, '<')
	w.name(name)
	w.declare(name)
	if v.kind() == rawjson.Object {
		w.attributes(schema, v)
	}
	w.dst = append(w.dst, '>')
	switch v.kind() {
	case rawjson.Object:
		w.members(schema, v)
	case rawjson.Array:
		w.items(name, schema, v)
	default:
		w.text(v.scalar(), false)
	}
	w.dst = append(w.dst, "</"...)
	w.name(name)
	w.dst = append(w.dst, '>')
}

// declare writes the namespace of a name.
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
func (w *xmlWriter) attributes(schema value, v argument) {
	w.each(schema, v, func(key string, property value, item argument) {
		if !isAttribute(property) {
			return
		}
		name := w.doc.named(property, key)
		if name.prefix != "" {
			w.declare(name)
		}
		w.dst = append(w.dst, ' ')
		w.name(name)
		w.dst = append(w.dst, `="`...)
		w.text(item.scalar(), true)
		w.dst = append(w.dst, '"')
	})
}

func isAttribute(schema value) bool {
	x := schema.get("xml")
	return x.isTrue("attribute") || x.strAt("nodeType") == "attribute"
}

// members writes the members that are not attributes.
func (w *xmlWriter) members(schema value, v argument) {
	w.each(schema, v, func(key string, property value, item argument) {
		x := property.get("xml")
		switch {
		case isAttribute(property):
		case x.strAt("nodeType") == "text":
			w.text(item.scalar(), false)
		case item.kind() == rawjson.Array && !x.isTrue("wrapped") && x.strAt("nodeType") != "element":
			// Each element stands for itself; the list has no element of its own.
			w.items(xmlName{local: key}, property, item)
		default:
			w.element(w.doc.named(property, key), property, item)
		}
	})
}

// items writes the elements of a list under the name of their schema, else
// that of the list.
func (w *xmlWriter) items(list xmlName, schema value, v argument) {
	inner := w.doc.follow(schema.get("items"))
	name := w.doc.named(inner, list.local)
	for n := v.doc.First(v.node); n != rawjson.None && w.err == nil; n = v.doc.Next(n) {
		if item := (argument{v.doc, n}); item.given() {
			w.element(name, inner, item)
		}
	}
}

// each goes over the members that are given, with their schemas.
func (w *xmlWriter) each(schema value, v argument, visit func(key string, property value, item argument)) {
	properties := map[string]value{}
	w.doc.properties(schema, 0, func(name string, p value) { properties[name] = p })
	for n := v.doc.First(v.node); n != rawjson.None && w.err == nil; n = v.doc.Next(n) {
		if item := (argument{v.doc, n}); item.given() {
			key := v.doc.Key(n)
			visit(key, properties[key], item)
		}
	}
}

// name writes a name, which comes from the document or from the arguments.
func (w *xmlWriter) name(n xmlName) {
	for i, part := range []string{n.prefix, n.local} {
		if !isXMLName(part) && (i == 1 || part != "") {
			w.fail(invalid("%.40q is no name", part))
			return
		}
	}
	w.dst = append(w.dst, n.String()...)
}

// isXMLName takes the names of XML 1.0 without a colon; beyond ASCII any letter
// does.
func isXMLName(s string) bool {
	for i, r := range s {
		start := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0xC0 && r != 0xD7 && r != 0xF7 && r != utf8.RuneError
		if !start && (i == 0 || r != '-' && r != '.' && (r < '0' || r > '9')) {
			return false
		}
	}
	return s != ""
}

// text writes character data. Characters that XML cannot hold are refused.
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
			w.fail(invalid("a control character stands in a text"))
			return
		default:
			w.dst = utf8.AppendRune(w.dst, r)
		}
	}
}
