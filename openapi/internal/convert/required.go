package convert

import (
	"slices"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
)

// maxVisitedSchemas bounds how many schemas are searched for hidden properties.
const maxVisitedSchemas = 64

// requiredKeyword writes required without duplicates and without properties
// that are hidden in this direction. A boolean, from older drafts or intended for
// a parameter, is dropped.
func (c *schemaWriter) requiredKeyword(m rawjson.Node) {
	if c.doc.Kind(m) != rawjson.Array {
		c.loosen(m, "required ignored: not a list of names")
		return
	}
	start := c.mark()
	c.name("required")
	if c.names(m) == 0 {
		c.rewind(start)
	}
}

// names writes a list of names without duplicates and hidden ones, and returns
// their number.
func (c *schemaWriter) names(m rawjson.Node) (count int) {
	c.dst = append(c.dst, '[')
	hidden := c.hiddenNames()
	seen := distinct{schemaWriter: c}
	for e := c.doc.First(m); e != rawjson.None; e = c.doc.Next(e) {
		if c.doc.Kind(e) != rawjson.String {
			c.loosen(e, "a required name that is not a string is ignored")
			continue
		}
		if !seen.add(e) || len(hidden) > 0 && slices.Contains(hidden, c.doc.Str(e)) {
			continue
		}
		count++
		c.comma()
		c.appendText(e)
	}
	c.dst = append(c.dst, ']')
	return count
}

func (c *schemaWriter) dependentRequired(m rawjson.Node) {
	if c.doc.Kind(m) != rawjson.Object {
		c.loosen(m, "dependentRequired ignored: not an object")
		return
	}
	c.name("dependentRequired")
	c.dst = append(c.dst, '{')
	again := c.repeated(m)
	for p := c.doc.First(m); p != rawjson.None; p = c.doc.Next(p) {
		if c.doc.Kind(p) != rawjson.Array {
			c.loosen(p, "an entry of dependentRequired is ignored: not a list of names")
		} else if again.isLast(p) {
			c.propertyName(p)
			c.names(p)
		}
	}
	c.dst = append(c.dst, '}')
}

// hiddenNames lists the properties of the current value that are hidden in this
// direction. They may be declared in any schema that applies to the value:
// required and properties are often in different branches of allOf.
func (c *schemaWriter) hiddenNames() []string {
	if !c.MayHaveReadOnly() || c.negated > 0 {
		return nil
	}
	if c.hiddenOf != c.scope {
		looks := 0
		c.hiddenOf, c.hiddenSet = c.scope, c.collectHidden(nil, document.Value{File: c.file, Node: c.scope}, &looks)
	}
	return c.hiddenSet
}

// collectHidden adds those of schema v and of the schemas that it is composed
// of.
func (c *schemaWriter) collectHidden(names []string, v document.Value, looks *int) []string {
	if *looks++; *looks > maxVisitedSchemas || v.Kind() != rawjson.Object {
		return names
	}
	doc := v.File.Doc
	for p := doc.First(doc.Get(v.Node, "properties")); p != rawjson.None; p = doc.Next(p) {
		if c.hidden(document.Value{File: v.File, Node: p}) {
			names = append(names, doc.Key(p))
		}
	}
	if ref := v.Get("$ref"); ref.Kind() == rawjson.String {
		if t, err := c.Target(ref); err == nil {
			names = c.collectHidden(names, t, looks)
		}
	}
	for _, e := range v.Get("allOf").Each() {
		names = c.collectHidden(names, e, looks)
	}
	return names
}

// hidden reports whether the schema p is marked readOnly or writeOnly against
// this direction, directly or behind its reference.
func (c *schemaWriter) hidden(p document.Value) bool {
	if !c.MayHaveReadOnly() || c.negated > 0 {
		return false
	}
	mark := "readOnly"
	if c.dir.isOutput() {
		mark = "writeOnly"
	}
	for range document.MaxHops {
		ref, flag := marksOf(p, mark)
		if !ref.OK() || flag && !c.Legacy() {
			return flag
		}
		t, err := c.Target(ref)
		if err != nil {
			return flag
		}
		p = t
	}
	return false
}

// marksOf returns, in one pass, the $ref of a schema and whether the mark is set
// beside it.
func marksOf(v document.Value, mark string) (ref document.Value, flag bool) {
	if v.Kind() != rawjson.Object {
		return document.Value{}, false
	}
	doc := v.File.Doc
	for m := doc.First(v.Node); m != rawjson.None; m = doc.Next(m) {
		switch string(doc.RawKey(m)) {
		case mark:
			flag = doc.IsTrue(m)
		case "$ref":
			ref = document.Value{File: v.File, Node: m}
		}
	}
	return ref, flag
}
