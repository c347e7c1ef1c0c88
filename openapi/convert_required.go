package openapi

import "github.com/tenon-mcp/tenon/internal/rawjson"

// maxLooks bounds how many schemas are looked into to learn whether a property
// is hidden.
const maxLooks = 64

// requiredKeyword writes required without duplicates and without properties
// that do not go in this direction. One of version 3.0 that is a boolean stood
// meant for a parameter and is left out.
func (c *converter) requiredKeyword(m rawjson.Node, s *survey) {
	if c.doc.Kind(m) != rawjson.Array {
		c.loosen(m, "required is left out: it is no list of names")
		return
	}
	start := c.mark()
	c.name("required")
	if c.names(m, func(name string) bool { return c.isHidden(s, name) }) == 0 {
		c.rewind(start)
	}
}

// names writes a list of names, each once, without those that are hidden. It
// answers how many there are.
func (c *converter) names(m rawjson.Node, hidden func(string) bool) (count int) {
	c.dst = append(c.dst, '[')
	seen := distinct{converter: c}
	marked := c.marked()
	for e := c.doc.First(m); e != rawjson.None; e = c.doc.Next(e) {
		if c.doc.Kind(e) != rawjson.String {
			c.loosen(e, "a required name that is no string is left out")
			continue
		}
		if !seen.add(e) || marked && hidden(c.doc.Str(e)) {
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
			c.names(p, func(name string) bool { return c.hiddenIn(c.scope, name, new(int)) })
		}
	}
	c.dst = append(c.dst, '}')
}

// isHidden reports whether the property of that name does not go in this
// direction. It may be declared here or in any schema that applies to the same
// value: required and properties often stand in different branches of allOf.
func (c *converter) isHidden(s *survey, name string) bool {
	if p := c.doc.Get(s.properties, name); p != rawjson.None && c.hidden(p) {
		return true
	}
	return c.hiddenIn(c.scope, name, new(int))
}

// hiddenIn looks for the property in schema n and what it is composed of.
func (c *converter) hiddenIn(n rawjson.Node, name string, looks *int) bool {
	if *looks++; *looks > maxLooks || c.doc.Kind(n) != rawjson.Object {
		return false
	}
	if p := c.doc.Get(c.doc.Get(n, "properties"), name); p != rawjson.None && c.hidden(p) {
		return true
	}
	if target, err := c.target(n); err == nil && target != rawjson.None && c.hiddenIn(target, name, looks) {
		return true
	}
	all := c.doc.Get(n, "allOf")
	for e := c.doc.First(all); e != rawjson.None; e = c.doc.Next(e) {
		if c.hiddenIn(e, name, looks) {
			return true
		}
	}
	return false
}

// target is what the $ref of schema n leads to; None if it has none.
func (c *converter) target(n rawjson.Node) (rawjson.Node, error) {
	ref := c.doc.Get(n, "$ref")
	if c.doc.Kind(ref) != rawjson.String {
		return rawjson.None, nil
	}
	t, err := c.targetOf(value{c.file, ref})
	return t.node, err
}

// hidden reports whether schema p is marked as not going in this direction,
// here or where its reference leads.
func (c *converter) hidden(p rawjson.Node) bool {
	if !c.marked() {
		return false
	}
	mark := "readOnly"
	if c.dir == output {
		mark = "writeOnly"
	}
	for range maxHops {
		if c.doc.Kind(p) != rawjson.Object {
			return false
		}
		ref, flag := rawjson.None, false
		for m := c.doc.First(p); m != rawjson.None; m = c.doc.Next(m) {
			switch string(c.doc.RawKey(m)) {
			case mark:
				flag = c.doc.IsTrue(m)
			case "$ref":
				ref = m
			}
		}
		if ref == rawjson.None || flag && !c.legacy() {
			return flag
		}
		t, err := c.targetOf(value{c.file, ref})
		if err != nil {
			return flag
		}
		p = t.node
	}
	return false
}
