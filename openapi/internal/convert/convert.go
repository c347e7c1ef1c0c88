// Package convert turns the schema objects of OpenAPI 2.0 to 3.2 into JSON
// Schema 2020-12. Errors in a schema are reported and can only make the result
// accept more.
//
// It does not know operations, what a schema is for, or how much of it clients
// can read: it takes a value of a document and a [Direction].
//
// On the path of a description it is between the document and the tool's
// contract. A schema is converted when a client lists the tool or calls it, and
// what others refer to is converted once.
package convert

import (
	"slices"
	"sync"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
)

// Direction is the way of a value: into a call or out of it. Read-only
// properties are not part of an input: they are not published, and rejected in
// arguments. Write-only properties may be absent from an output.
type Direction uint8

// The directions.
const (
	Input      Direction = iota // Input as it is published
	InputCheck                  // input as it is validated
	Output
	OutputCheck // output as it is validated: with discriminators
	directions
)

func (d Direction) isOutput() bool { return d == Output || d == OutputCheck }

// Fragment is a converted schema: a JSON object and the definitions that its
// references name. See assemble.
type Fragment struct {
	Body []byte
	Deps []*Definition
}

// Converter converts the schemas of one document. It is safe for concurrent use.
type Converter struct {
	*document.Document

	defs    definitions
	cycles  cycles
	scratch sync.Pool // of *[]byte
}

// New returns the converter of a document.
func New(d *document.Document) *Converter { return &Converter{Document: d} }

// Schema converts a schema of the document to JSON Schema 2020-12. Errors in
// it can only make the result accept more, and are reported. An absent schema
// accepts anything.
func (d *Converter) Schema(v document.Value, dir Direction) Fragment {
	if !v.OK() {
		return Fragment{Body: []byte("{}")}
	}
	c := schemaWriter{Converter: d, file: v.File, doc: v.File.Doc, dir: dir, self: rawjson.None, hiddenOf: rawjson.None}
	return c.convert(v.Node)
}

// Parameter is convert for a parameter or header of version 2.0, which
// is schema and parameter in one.
func (d *Converter) Parameter(v document.Value, dir Direction) Fragment {
	if !v.OK() {
		return Fragment{Body: []byte("{}")}
	}
	c := schemaWriter{Converter: d, file: v.File, doc: v.File.Doc, dir: dir, self: rawjson.None, hiddenOf: rawjson.None, parameter: true}
	return c.convert(v.Node)
}

// schemaWriter writes one schema and is used once.
//
// Only keywords of JSON Schema are written (see keyword). Other members (xml,
// externalDocs, example, x-…, $id) do not restrict values, and some would
// change what references mean.
type schemaWriter struct {
	*Converter
	file *document.File
	doc  *rawjson.Doc
	dir  Direction

	self      rawjson.Node // the schema of this definition; None: not a definition
	parameter bool         // the outermost schema is a 2.0 parameter
	nested    int          // > 0: inside a keyword that applies to another value than self does
	scope     rawjson.Node // outermost schema that applies to the same value as the one being written
	negated   int          // > 0: inside a schema that restricts by what it does not accept
	loosened  int          // how many restrictions were dropped
	looseHere int          // of these, those that apply to the current value

	hiddenOf  rawjson.Node // the scope that hiddenSet is of
	hiddenSet []string

	dst  []byte
	deps []*Definition
}

func (c *schemaWriter) convert(n rawjson.Node) Fragment {
	scratch, ok := c.scratch.Get().(*[]byte)
	if !ok {
		scratch = new([]byte)
	}
	c.scope = n
	c.dst = (*scratch)[:0]
	c.schema(n)
	f := Fragment{Body: slices.Clone(c.dst), Deps: c.deps}
	*scratch = c.dst
	c.scratch.Put(scratch)
	return f
}

// addDiagnosticAt reports a diagnostic at n.
func (c *schemaWriter) addDiagnosticAt(n rawjson.Node, what string) {
	c.AddDiagnostic(document.Value{File: c.file, Node: n}, what)
}

// loosen is note for a restriction that is dropped.
func (c *schemaWriter) loosen(n rawjson.Node, what string) {
	c.loosened++
	c.looseHere++
	c.addDiagnosticAt(n, what)
}

// schema writes the schema n, always as an object: not every client understands
// the boolean schemas of 2020-12.
func (c *schemaWriter) schema(n rawjson.Node) {
	switch c.doc.Kind(n) {
	case rawjson.Object:
		c.object(n)
	case rawjson.Bool:
		if c.doc.IsTrue(n) {
			c.dst = append(c.dst, "{}"...)
		} else {
			c.dst = append(c.dst, `{"not":{}}`...)
		}
	default:
		c.loosen(n, "a schema that is neither object nor boolean accepts anything")
		c.dst = append(c.dst, "{}"...)
	}
}

func (c *schemaWriter) object(n rawjson.Node) {
	s, before := c.survey(n), c.looseHere
	if s.ref != rawjson.None && c.Legacy() {
		c.legacyReference(n, s.ref)
		return
	}
	if s.wrapNull {
		c.dst = append(c.dst, `{"anyOf":[`...)
	}
	parameter := c.parameter
	c.parameter = false
	c.dst = append(c.dst, '{')
	for m := c.doc.First(n); m != rawjson.None; m = c.doc.Next(m) {
		key := c.doc.KeyText(m)
		if parameter && (string(key) == "description" || string(key) == "required") {
			continue
		}
		if !s.duplicates || c.doc.Get(n, string(key)) == m {
			c.keyword(string(key), m, &s)
		}
	}
	if c.dir == InputCheck || c.dir == OutputCheck {
		c.discriminator(n)
	}
	if c.looseHere != before {
		c.open(&s)
	}
	if s.format != rawjson.None && !s.described {
		c.name("description")
		c.dst = rawjson.AppendString(c.dst, c.formatNote(s.format))
	}
	c.dst = append(c.dst, '}')
	if s.wrapNull {
		c.dst = append(c.dst, `,{"type":"null"}]}`...)
	}
}

// open makes a closed schema open, because some of its keywords were dropped.
func (c *schemaWriter) open(s *survey) {
	for i, at := range s.closed {
		at -= i // each replacement is a byte shorter
		c.dst = slices.Replace(c.dst, at, at+len("false"), []byte("true")...)
	}
}

// name writes the name of a member with its colon, and a comma before it if one
// is needed.
func (c *schemaWriter) name(name string) {
	c.comma()
	c.dst = append(append(append(c.dst, '"'), name...), '"', ':')
}

func (c *schemaWriter) comma() {
	if last := c.dst[len(c.dst)-1]; last != '{' && last != '[' {
		c.dst = append(c.dst, ',')
	}
}

// mark is a position of the output to which rewind returns.
type mark struct{ dst, deps int }

func (c *schemaWriter) mark() mark { return mark{len(c.dst), len(c.deps)} }

func (c *schemaWriter) rewind(m mark) { c.dst, c.deps = c.dst[:m.dst], c.deps[:m.deps] }

// survey is what must be known about a schema before its members are written.
type survey struct {
	ref          rawjson.Node // $ref, if it is a reference
	format       rawjson.Node // to be added to the description; None: nothing to add
	nullable     bool         // null is added to type and enum
	wrapNull     bool         // null is added by an anyOf around the schema
	described    bool         // the schema has a description
	exclusiveMin bool         // minimum is exclusive (the boolean of the old dialects)
	exclusiveMax bool
	itemsEnum    rawjson.Node // an enum that belongs to the items; None: there is none
	items        rawjson.Node
	tuple        bool  // items is an array: prefixItems
	anyOf        bool  // there is an anyOf
	encoded      bool  // contentEncoding is given
	mediaTyped   bool  // contentMediaType is given
	duplicates   bool  // some key may occur twice
	closed       []int // offsets in dst of each false that forbids undeclared members
}

func (c *schemaWriter) survey(n rawjson.Node) survey {
	s := survey{ref: rawjson.None, format: rawjson.None, itemsEnum: rawjson.None, items: rawjson.None}
	kind, enum := rawjson.None, rawjson.None
	var nullable, typed, combined bool
	var seen uint64
	for m := c.doc.First(n); m != rawjson.None; m = c.doc.Next(m) {
		key := c.doc.KeyText(m)
		bit := keyBit(key)
		s.duplicates = s.duplicates || seen&bit != 0
		seen |= bit
		switch string(key) {
		case "$ref":
			if c.doc.Kind(m) == rawjson.String {
				s.ref = m
			}
		case "nullable", "x-nullable":
			nullable = nullable || c.Legacy() && c.doc.IsTrue(m)
		case "type":
			typed, kind = true, m
		case "enum":
			typed, enum = true, m
		case "allOf", "oneOf", "anyOf", "not", "const":
			combined = true
			s.anyOf = s.anyOf || string(key) == "anyOf"
		case "exclusiveMinimum":
			s.exclusiveMin = c.doc.IsTrue(m)
		case "exclusiveMaximum":
			s.exclusiveMax = c.doc.IsTrue(m)
		case "contentEncoding":
			s.encoded = true
		case "contentMediaType":
			s.mediaTyped = true
		case "items":
			s.tuple = c.doc.Kind(m) == rawjson.Array
			s.items = m
		case "description":
			s.described = c.doc.Kind(m) == rawjson.String && !c.parameter
		case "format":
			if c.dir.isOutput() && c.doc.Kind(m) == rawjson.String {
				s.format = m
			}
		}
	}
	if enum != rawjson.None && c.doc.IsStr(kind, "array") && c.meansItems(enum, s.items) {
		s.itemsEnum = enum
	}
	s.wrapNull = nullable && combined
	s.nullable = nullable && typed && !combined
	return s
}

// keyBit maps a key to one of 64 bits. Keys with different bits differ, so most
// objects are known to have no duplicates without comparing keys.
func keyBit(key []byte) uint64 { return 1 << (keyHash(key) >> 58) }

func keyHash(key []byte) uint64 {
	h := uint64(len(key))
	for _, b := range key {
		h = h*31 + uint64(b)
	}
	return h * 0x9E3779B97F4A7C15
}
