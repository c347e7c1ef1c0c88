package openapi

import (
	"slices"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// direction is the way that a value goes: into a call or out of it. What is
// read-only does not go in: it is not published, and refused where it comes all
// the same. What is write-only need not come out.
type direction uint8

const (
	input   direction = iota // as it is published
	checked                  // input as it is checked
	output
	judged // output as it is checked: with discriminators
	directions
)

func (d direction) goesOut() bool { return d == output || d == judged }

// fragment is a converted schema: a JSON object and the definitions that its
// references name. See assemble.
type fragment struct {
	body []byte
	deps []*definition
}

// convert turns a schema of the document into JSON Schema 2020-12. What is
// wrong in it only makes the result accept more and is noted as a fault. An
// absent schema accepts anything.
func (d *document) convert(v value, dir direction) fragment {
	if !v.ok() {
		return fragment{body: []byte("{}")}
	}
	c := converter{document: d, file: v.file, doc: v.file.doc, dir: dir, self: rawjson.None, hiddenOf: rawjson.None}
	return c.convert(v.node)
}

// convertParameter is convert for a parameter or header of version 2.0, which
// is schema and parameter in one.
func (d *document) convertParameter(v value, dir direction) fragment {
	if !v.ok() {
		return fragment{body: []byte("{}")}
	}
	c := converter{document: d, file: v.file, doc: v.file.doc, dir: dir, self: rawjson.None, hiddenOf: rawjson.None, parameter: true}
	return c.convert(v.node)
}

// converter writes one schema. It is made for each and thrown away.
//
// Only keywords of JSON Schema are written (see keyword); everything else that
// may stand in a schema (xml, externalDocs, example, x-…, $id) says nothing
// about values, and some of it would change what references mean.
type converter struct {
	*document
	file *file
	doc  *rawjson.Doc
	dir  direction

	self      rawjson.Node // the schema that this definition is of; None: no definition
	parameter bool         // the outermost schema is a 2.0 parameter
	apart     int          // > 0: inside of a keyword that applies to another value than self does
	scope     rawjson.Node // outermost schema that applies to the same value as the one being written
	negated   int          // > 0: inside of a schema that restricts by what it does not accept
	loosened  int          // how often something was left out that would have restricted values
	looseHere int          // of these, what applies to the value that is being described

	hiddenOf  rawjson.Node // the scope that hiddenSet is of
	hiddenSet []string

	dst  []byte
	deps []*definition
}

func (c *converter) convert(n rawjson.Node) fragment {
	scratch, ok := c.scratch.Get().(*[]byte)
	if !ok {
		scratch = new([]byte)
	}
	c.scope = n
	c.dst = (*scratch)[:0]
	c.schema(n)
	f := fragment{body: slices.Clone(c.dst), deps: c.deps}
	*scratch = c.dst
	c.scratch.Put(scratch)
	return f
}

// note collects a fault at n.
func (c *converter) note(n rawjson.Node, what string) {
	c.document.note(value{c.file, n}, what)
}

// loosen is note for what would have restricted values.
func (c *converter) loosen(n rawjson.Node, what string) {
	c.loosened++
	c.looseHere++
	c.note(n, what)
}

// schema writes the schema n, always as an object: the booleans of 2020-12 are
// not understood by every client.
func (c *converter) schema(n rawjson.Node) {
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

func (c *converter) object(n rawjson.Node) {
	s, before := c.survey(n), c.looseHere
	if s.ref != rawjson.None && c.legacy() {
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
	if c.dir == checked || c.dir == judged {
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

// open lets a schema accept what its own keywords do not mention: some of them
// were left out.
func (c *converter) open(s *survey) {
	for i, at := range s.closed {
		at -= i // each replacement is a byte shorter
		c.dst = slices.Replace(c.dst, at, at+len("false"), []byte("true")...)
	}
}

// name writes the name of a member with its colon, and a comma before it where
// one is due.
func (c *converter) name(name string) {
	c.comma()
	c.dst = append(append(append(c.dst, '"'), name...), '"', ':')
}

func (c *converter) comma() {
	if last := c.dst[len(c.dst)-1]; last != '{' && last != '[' {
		c.dst = append(c.dst, ',')
	}
}

// mark and rewind take back what was written since.
type mark struct{ dst, deps int }

func (c *converter) mark() mark { return mark{len(c.dst), len(c.deps)} }

func (c *converter) rewind(m mark) { c.dst, c.deps = c.dst[:m.dst], c.deps[:m.deps] }

// survey is what must be known of a schema before its members are written.
type survey struct {
	ref          rawjson.Node // $ref, if it is a reference
	format       rawjson.Node // to be told in the description; None: nothing to tell
	nullable     bool         // null joins type and enum
	wrapNull     bool         // null joins from outside
	described    bool         // there is a description to join
	exclusiveMin bool         // minimum is exclusive (the boolean of the old dialects)
	exclusiveMax bool
	ofItems      rawjson.Node // an enum that belongs to the items; None: there is none
	items        rawjson.Node
	itemless     bool  // an array of which nothing says what its items are
	tuple        bool  // items is an array: prefixItems
	anyOf        bool  // there is an anyOf
	encoded      bool  // contentEncoding is given
	mediaTyped   bool  // contentMediaType is given
	duplicates   bool  // some key may stand there twice
	closed       []int // where in dst a false refuses whatever else is there
}

func (c *converter) survey(n rawjson.Node) survey {
	s := survey{ref: rawjson.None, format: rawjson.None, ofItems: rawjson.None, items: rawjson.None}
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
			nullable = nullable || c.legacy() && c.doc.IsTrue(m)
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
			if c.dir.goesOut() && c.doc.Kind(m) == rawjson.String {
				s.format = m
			}
		}
	}
	if enum != rawjson.None && c.doc.IsStr(kind, "array") && c.meansItems(enum, s.items) {
		s.ofItems = enum
	}
	s.itemless = c.doc.IsStr(kind, "array") && s.items == rawjson.None && s.ofItems == rawjson.None && s.ref == rawjson.None &&
		c.doc.Get(n, "prefixItems") == rawjson.None && !c.file.leftItems()
	s.wrapNull = nullable && combined
	s.nullable = nullable && typed && !combined
	return s
}

// keyBit maps a key to one of 64 bits. Two keys with different bits differ, so
// most objects are known to have no duplicates without comparing their keys.
func keyBit(key []byte) uint64 { return 1 << (keyHash(key) >> 58) }

func keyHash(key []byte) uint64 {
	h := uint64(len(key))
	for _, b := range key {
		h = h*31 + uint64(b)
	}
	return h * 0x9E3779B97F4A7C15
}
