package openapi

import (
	"slices"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// maxLooks bounds how many schemas are looked into to learn which properties
// are hidden.
const maxLooks = 64

// requiredKeyword writes required without duplicates and without properties
// that do not, or need not, go in this direction. A boolean is what older drafts had, or
// meant for a parameter, and is left out.
func (c *converter) requiredKeyword(m rawjson.Node) {
	if c.doc.Kind(m) != rawjson.Array {
		c.loosen(m, "required is left out: it is no list of names")
		return
	}
	start := c.mark()
	c.name("required")
	if c.names(m) == 0 {
		c.rewind(start)
	}
}

// names writes a list of names, each once, without those that are hidden. It
// answers how many there are.
func (c *converter) names(m rawjson.Node) (count int) {
	c.dst = append(c.dst, '[')
	hidden := c.hiddenNames()
	seen := distinct{converter: c}
	for e := c.doc.First(m); e != rawjson.None; e = c.doc.Next(e) {
		if c.doc.Kind(e) != rawjson.String {
			c.loosen(e, "a required name that is no string is left out")
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

func (c *converter) dependentRequired(m rawjson.Node) {
	if c.doc.Kind(m) != rawjson.Object {
		c.loosen(m, "dependentRequired is left out: it is no object")
		return
	}
	c.name("dependentRequired")
	c.dst = append(c.dst, '{')
	again := c.repeated(m)
	for p := c.doc.First(m); p != rawjson.None; p = c.doc.Next(p) {
		if c.doc.Kind(p) != rawjson.Array {
			c.loosen(p, "an entry of dependentRequired is left out: it is no list of names")
		} else if again.isLast(p) {
			c.propertyName(p)
			c.names(p)
		}
	}
	c.dst = append(c.dst, '}')
}

// hiddenNames lists the properties of the value being described that do not go
// in this direction. They may be declared in any schema that applies to the
// value: required and properties often stand in different branches of allOf.
func (c *converter) hiddenNames() []string {
	if !c.marked() || c.negated > 0 {
		return nil
	}
	if c.hiddenOf != c.scope {
		looks := 0
		c.hiddenOf, c.hiddenSet = c.scope, c.collectHidden(nil, value{c.file, c.scope}, &looks)
	}
	return c.hiddenSet
}

// collectHidden adds those of schema v and of what it is composed of.
func (c *converter) collectHidden(names []string, v value, looks *int) []string {
	if *looks++; *looks > maxLooks || v.kind() != rawjson.Object {
		return names
	}
	doc := v.file.doc
	for p := doc.First(doc.Get(v.node, "properties")); p != rawjson.None; p = doc.Next(p) {
		if c.hidden(value{v.file, p}) {
			names = append(names, doc.Key(p))
		}
	}
	if ref := v.get("$ref"); ref.kind() == rawjson.String {
		if t, err := c.targetOf(ref); err == nil {
			names = c.collectHidden(names, t, looks)
		}
	}
	for _, e := range v.get("allOf").each() {
		names = c.collectHidden(names, e, looks)
	}
	return names
}

// hidden reports whether the schema p is marked as not going in this
// direction, here or where its reference leads.
func (c *converter) hidden(p value) bool {
	if !c.marked() || c.negated > 0 {
		return false
	}
	mark := "readOnly"
	if c.dir.goesOut() {
		mark = "writeOnly"
	}
	for range maxHops {
		ref, flag := p.marks(mark)
		if !ref.ok() || flag && !c.legacy() {
			return flag
		}
		t, err := c.targetOf(ref)
		if err != nil {
			return flag
		}
		p = t
	}
	return false
}

// marks returns, in one pass, the reference that a schema is and whether the
// mark is set beside it.
func (v value) marks(mark string) (ref value, flag bool) {
	if v.kind() != rawjson.Object {
		return value{}, false
	}
	doc := v.file.doc
	for m := doc.First(v.node); m != rawjson.None; m = doc.Next(m) {
		switch string(doc.RawKey(m)) {
		case mark:
			flag = doc.IsTrue(m)
		case "$ref":
			ref = value{v.file, m}
		}
	}
	return ref, flag
}
