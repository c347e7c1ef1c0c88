package convert

import (
	"slices"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
)

// keyword writes member m of a schema, if it is a known keyword with a valid
// value.
func (c *schemaWriter) keyword(key string, m rawjson.Node, s *survey) {
	switch key {
	case "type":
		c.typeKeyword(m, s)
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
func (c *schemaWriter) applicator(key string, m rawjson.Node, s *survey) {
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

// isSchema reports whether m can be a schema; otherwise the keyword is dropped.
func (c *schemaWriter) isSchema(key string, m rawjson.Node) bool {
	switch c.doc.Kind(m) {
	case rawjson.Object, rawjson.Bool:
		return true
	}
	c.loosen(m, key+" ignored: not a schema")
	return false
}

// inPlace writes a keyword whose schema applies to the same value.
func (c *schemaWriter) inPlace(key string, m rawjson.Node) {
	if c.isSchema(key, m) {
		c.name(key)
		c.schema(m)
	}
}

// child writes a keyword whose schema applies to a part of the value.
func (c *schemaWriter) child(key string, m rawjson.Node) {
	if c.isSchema(key, m) {
		c.name(key)
		c.part(m)
	}
}

// part writes a schema for a part of the value.
func (c *schemaWriter) part(m rawjson.Node) {
	scope, here := c.scope, c.looseHere
	c.scope = m
	c.nested++
	c.schema(m)
	c.nested--
	c.scope, c.looseHere = scope, here
}

// closing writes a keyword for which clients understand a boolean.
func (c *schemaWriter) closing(key string, m rawjson.Node, s *survey) {
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

// items writes a schema for all elements, or the tuple form of older drafts.
func (c *schemaWriter) items(m rawjson.Node, s *survey) {
	if c.doc.Kind(m) == rawjson.Array {
		c.list("prefixItems", m)
		return
	}
	c.closing("items", m, s)
}

// list writes a keyword with a list of schemas. All but prefixItems apply to
// the same value.
func (c *schemaWriter) list(key string, m rawjson.Node) {
	if c.doc.Kind(m) != rawjson.Array || c.doc.Len(m) == 0 {
		c.loosen(m, key+" ignored: not a non-empty list of schemas")
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

// oneOf becomes anyOf where a branch was loosened: it may now accept values of
// another branch, and oneOf rejects what two branches accept. If the schema
// also has an anyOf, oneOf is dropped.
func (c *schemaWriter) oneOf(m rawjson.Node, s *survey) {
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

// negative writes a schema that restricts by what it does not accept. It is
// dropped if it was loosened, because it would then restrict more.
func (c *schemaWriter) negative(key string, m rawjson.Node) {
	start, before := c.mark(), c.loosened
	c.negated++
	if c.inPlace(key, m); c.loosened != before {
		c.rewind(start)
	}
	c.negated--
}

// properties writes the properties except those that are not part of an input.
// The schema for validation rejects them.
func (c *schemaWriter) properties(m rawjson.Node) {
	if c.dir.isOutput() || !c.MayHaveReadOnly() {
		c.members("properties", m)
		return
	}
	c.membersBy("properties", m, func(p rawjson.Node) bool {
		switch {
		case !c.hidden(document.Value{File: c.file, Node: p}):
			return true
		case c.dir == InputCheck:
			c.propertyName(p)
			c.dst = append(c.dst, "false"...)
		}
		return false
	})
}

// members writes a keyword with schemas by name.
func (c *schemaWriter) members(key string, m rawjson.Node) {
	c.membersBy(key, m, func(rawjson.Node) bool { return true })
}

// membersBy is members for those that wanted selects. The keys are property
// names, even if they look like keywords.
func (c *schemaWriter) membersBy(key string, m rawjson.Node, wanted func(rawjson.Node) bool) {
	if c.doc.Kind(m) != rawjson.Object {
		c.loosen(m, key+" ignored: not an object")
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
func (c *schemaWriter) inPlaceMembers(key string, m rawjson.Node) {
	if c.doc.Kind(m) != rawjson.Object {
		c.loosen(m, key+" ignored: not an object")
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

// repeats finds members of an object that may share a key.
type repeats struct {
	*schemaWriter
	object      rawjson.Node
	once, twice [8]uint64 // bits of hashed keys
}

// repeated looks for duplicate keys in an object. A YAML file has none.
func (c *schemaWriter) repeated(object rawjson.Node) repeats {
	r := repeats{schemaWriter: c, object: object}
	if c.file.YAML != nil {
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

// isLast reports whether p is the effective member of its key.
func (r *repeats) isLast(p rawjson.Node) bool {
	word, bit := r.place(p)
	return r.twice[word]&bit == 0 || r.doc.Get(r.object, string(r.doc.KeyText(p))) == p
}

func (c *schemaWriter) propertyName(p rawjson.Node) {
	c.comma()
	raw := c.doc.RawKey(p)
	if key := c.doc.KeyText(p); len(key) != len(raw) {
		c.dst = rawjson.AppendString(c.dst, key)
	} else {
		c.dst = append(append(append(c.dst, '"'), raw...), '"')
	}
	c.dst = append(c.dst, ':')
}

// legacyReference writes a reference of the dialects in which $ref has no
// siblings. A description is kept: in 2020-12 it is allowed and says what the
// reference is for.
func (c *schemaWriter) legacyReference(n, ref rawjson.Node) {
	c.dst = append(c.dst, '{')
	c.reference(ref)
	if m := c.doc.Get(n, "description"); c.doc.Kind(m) == rawjson.String && !c.parameter {
		c.text("description", m)
	}
	c.dst = append(c.dst, '}')
}

// reference writes $ref. A broken one is dropped.
func (c *schemaWriter) reference(ref rawjson.Node) {
	if c.doc.Kind(ref) != rawjson.String {
		c.loosen(ref, "$ref ignored: not a string")
		return
	}
	target, err := c.Target(document.Value{File: c.file, Node: ref})
	if err != nil {
		c.loosen(ref, err.Error()+"; any value is accepted there")
		return
	}
	c.referTo(ref, target)
}

// referTo writes a $ref to a target and records it as a dependency.
func (c *schemaWriter) referTo(ref rawjson.Node, target document.Value) {
	switch target.Kind() {
	case rawjson.Object, rawjson.Bool:
	default:
		c.loosen(ref, "the target of the reference is not a schema; any value is accepted there")
		return
	}
	if c.nested == 0 && c.self != rawjson.None && c.isCircular(document.Value{File: c.file, Node: c.self}, target) {
		c.loosen(ref, "the schema refers to itself for the same value; the reference is ignored")
		return
	}
	def := c.definition(target, c.dir)
	if recent := c.deps[max(0, len(c.deps)-16):]; !slices.Contains(recent, def) { // only to keep the list short
		c.deps = append(c.deps, def)
	}
	c.name("$ref")
	c.dst = append(append(append(c.dst, `"#/$defs/`...), def.Name...), '"')
}

// dynamicReference writes $dynamicRef as a plain reference where only one
// schema of the document declares the anchor. Otherwise its target depends on
// the evaluation path, and it is dropped.
func (c *schemaWriter) dynamicReference(m rawjson.Node) {
	target, err := c.ResolveIn(document.Value{File: c.file, Node: m}, c.doc.Str(m))
	if err != nil {
		c.loosen(m, err.Error()+"; any value is accepted there")
		return
	}
	if target.File.SharesAnchor(c.doc.Str(m)) {
		c.loosen(m, "a $dynamicRef with several targets is not supported; any value is accepted there")
		return
	}
	c.referTo(m, target)
}

// recursiveReference writes the $recursiveRef of draft 2019-09, which some
// documents use, as a reference to the innermost enclosing schema with
// $recursiveAnchor.
func (c *schemaWriter) recursiveReference(m rawjson.Node) {
	anchor := rawjson.None
	for n := range c.file.Ancestors(m) {
		if c.doc.IsTrue(c.doc.Get(n, "$recursiveAnchor")) {
			anchor = n // the innermost is last
		}
	}
	if anchor == rawjson.None {
		c.loosen(m, "$recursiveRef without an enclosing $recursiveAnchor; any value is accepted there")
		return
	}
	c.referTo(m, document.Value{File: c.file, Node: anchor})
}
