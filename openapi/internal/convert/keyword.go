package openapi

import "github.com/tenon-mcp/tenon/internal/rawjson"

// keyword writes member m of a schema, if it is a keyword that we know and of
// the form that it must have.
func (c *converter) keyword(key string, m rawjson.Node, s *survey) {
	switch key {
	case "type":
		c.typeKeyword(m, s)
		if s.itemless { // some clients refuse arrays without items
			c.name("items")
			c.dst = append(c.dst, "{}"...)
		}
	case "enum":
		c.enumKeyword(m, s)
	case "format":
		c.formatKeyword(m, s)
	case "description":
		c.descriptionKeyword(m, s)
	case "title", "pattern", "contentMediaType", "contentEncoding":
		c.text(key, m)
	case "const", "default":
		c.plainValue(key, m)
	case "required":
		c.requiredKeyword(m)
	case "dependentRequired":
		c.dependentRequired(m)
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		c.limit(key, m, s)
	case "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains":
		c.count(key, m)
	case "uniqueItems", "deprecated":
		c.flag(key, m)
	default:
		c.applicator(key, m, s)
	}
}

// applicator writes the keywords that hold schemas.
func (c *converter) applicator(key string, m rawjson.Node, s *survey) {
	switch key {
	case "$ref":
		c.reference(m)
	case "$dynamicRef":
		c.dynamicReference(m)
	case "$recursiveRef":
		c.recursiveReference(m)
	case "properties":
		c.properties(m)
	case "patternProperties":
		c.members(key, m)
	case "dependentSchemas":
		c.inPlaceMembers(key, m)
	case "additionalProperties", "unevaluatedProperties", "unevaluatedItems":
		c.closing(key, m, s)
	case "items":
		c.items(m, s)
		c.enumOfItems(s)
	case "additionalItems":
		if s.tuple {
			c.closing("items", m, s)
		}
	case "prefixItems":
		if !s.tuple {
			c.list(key, m)
		}
	case "allOf", "anyOf":
		c.list(key, m)
	case "oneOf":
		c.oneOf(m, s)
	case "not", "if":
		c.negative(key, m)
	case "then", "else":
		c.inPlace(key, m)
	case "contains", "propertyNames", "contentSchema":
		c.child(key, m)
	}
}

// isSchema reports whether m can be a schema; if not, the keyword is left out.
func (c *converter) isSchema(key string, m rawjson.Node) bool {
	switch c.doc.Kind(m) {
	case rawjson.Object, rawjson.Bool:
		return true
	}
	c.loosen(m, key+" is left out: it is no schema")
	return false
}

// inPlace writes a keyword whose schema applies to the same value.
func (c *converter) inPlace(key string, m rawjson.Node) {
	if c.isSchema(key, m) {
		c.name(key)
		c.schema(m)
	}
}

// child writes a keyword whose schema applies to a part of the value.
func (c *converter) child(key string, m rawjson.Node) {
	if c.isSchema(key, m) {
		c.name(key)
		c.part(m)
	}
}

// part writes a schema for a part of the value.
func (c *converter) part(m rawjson.Node) {
	scope, here := c.scope, c.looseHere
	c.scope = m
	c.apart++
	c.schema(m)
	c.apart--
	c.scope, c.looseHere = scope, here
}

// closing writes a keyword in which a boolean is usual and understood.
func (c *converter) closing(key string, m rawjson.Node, s *survey) {
	if c.doc.Kind(m) == rawjson.Bool {
		c.name(key)
		if !c.doc.IsTrue(m) {
			s.closed = append(s.closed, len(c.dst))
		}
		c.dst = append(c.dst, c.doc.Raw(m)...)
		return
	}
	c.child(key, m)
}

// items writes a schema for all elements, or the tuple of the old drafts.
func (c *converter) items(m rawjson.Node, s *survey) {
	if c.doc.Kind(m) == rawjson.Array {
		c.list("prefixItems", m)
		return
	}
	c.closing("items", m, s)
}

// list writes a keyword with a list of schemas. Lists in place keep the scope.
func (c *converter) list(key string, m rawjson.Node) {
	if c.doc.Kind(m) != rawjson.Array || c.doc.Len(m) == 0 {
		c.loosen(m, key+" is left out: it is no list with at least one schema")
		return
	}
	c.name(key)
	c.dst = append(c.dst, '[')
	for e := c.doc.First(m); e != rawjson.None; e = c.doc.Next(e) {
		c.comma()
		if key == "prefixItems" {
			c.part(e)
		} else {
			c.schema(e)
		}
	}
	c.dst = append(c.dst, ']')
}

// oneOf becomes anyOf where a branch was loosened: it may now accept what was
// meant for another branch, and oneOf would refuse what two accept. Where the
// schema has an anyOf as well, it is left out.
func (c *converter) oneOf(m rawjson.Node, s *survey) {
	start, before := len(c.dst), c.loosened
	if c.list("oneOf", m); c.loosened == before || len(c.dst) == start {
		return
	}
	if s.anyOf {
		c.dst = c.dst[:start]
		return
	}
	if c.dst[start] == ',' {
		start++
	}
	copy(c.dst[start:], `"anyOf"`)
}

// negative writes a schema that restricts by what it does not accept. Loosened
// it would restrict more, so then it is left out.
func (c *converter) negative(key string, m rawjson.Node) {
	start, before := c.mark(), c.loosened
	c.negated++
	if c.inPlace(key, m); c.loosened != before {
		c.rewind(start)
	}
	c.negated--
}

// properties writes the properties without those that do not go in. They are no
// value where arguments are checked.
func (c *converter) properties(m rawjson.Node) {
	if c.dir.goesOut() || !c.marked() {
		c.members("properties", m)
		return
	}
	c.membersBy("properties", m, func(p rawjson.Node) bool {
		switch {
		case !c.hidden(value{c.file, p}):
			return true
		case c.dir == checked:
			c.propertyName(p)
			c.dst = append(c.dst, "false"...)
		}
		return false
	})
}

// members writes a keyword with schemas by name.
func (c *converter) members(key string, m rawjson.Node) {
	c.membersBy(key, m, func(rawjson.Node) bool { return true })
}

// membersBy is members for those that wanted chooses. The keys are names,
// whatever they look like.
func (c *converter) membersBy(key string, m rawjson.Node, wanted func(rawjson.Node) bool) {
	if c.doc.Kind(m) != rawjson.Object {
		c.loosen(m, key+" is left out: it is no object")
		return
	}
	c.name(key)
	c.dst = append(c.dst, '{')
	again := c.repeated(m)
	for p := c.doc.First(m); p != rawjson.None; p = c.doc.Next(p) {
		if again.isLast(p) && wanted(p) {
			c.propertyName(p)
			c.part(p)
		}
	}
	c.dst = append(c.dst, '}')
}

// inPlaceMembers is members for schemas that apply to the same value.
func (c *converter) inPlaceMembers(key string, m rawjson.Node) {
	if c.doc.Kind(m) != rawjson.Object {
		c.loosen(m, key+" is left out: it is no object")
		return
	}
	c.name(key)
	c.dst = append(c.dst, '{')
	again := c.repeated(m)
	for p := c.doc.First(m); p != rawjson.None; p = c.doc.Next(p) {
		if again.isLast(p) {
			c.propertyName(p)
			c.schema(p)
		}
	}
	c.dst = append(c.dst, '}')
}

// repeats knows which members of an object may have the key of another one.
type repeats struct {
	*converter
	object      rawjson.Node
	once, twice [8]uint64 // bits of hashed keys
}

// repeated looks for keys that stand in an object more than once. A YAML file
// has none.
func (c *converter) repeated(object rawjson.Node) repeats {
	r := repeats{converter: c, object: object}
	if c.file.yaml != nil {
		return r
	}
	for p := c.doc.First(object); p != rawjson.None; p = c.doc.Next(p) {
		word, bit := r.place(p)
		r.twice[word] |= r.once[word] & bit
		r.once[word] |= bit
	}
	return r
}

func (r *repeats) place(p rawjson.Node) (word int, bit uint64) {
	h := keyHash(r.doc.KeyText(p))
	return int(h >> 61), 1 << (h >> 55 & 63)
}

// isLast reports whether p is the one of its key that counts.
func (r *repeats) isLast(p rawjson.Node) bool {
	word, bit := r.place(p)
	return r.twice[word]&bit == 0 || r.doc.Get(r.object, string(r.doc.KeyText(p))) == p
}

func (c *converter) propertyName(p rawjson.Node) {
	c.comma()
	raw := c.doc.RawKey(p)
	if key := c.doc.KeyText(p); len(key) != len(raw) {
		c.dst = rawjson.AppendString(c.dst, key)
	} else {
		c.dst = append(append(append(c.dst, '"'), raw...), '"')
	}
	c.dst = append(c.dst, ':')
}
