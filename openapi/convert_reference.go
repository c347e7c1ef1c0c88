package openapi

import (
	"slices"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// legacyReference writes a reference of the dialects in which nothing may
// stand beside it. A description is kept anyway: it does no harm in
// 2020-12 and says what the reference is for.
func (c *converter) legacyReference(n, ref rawjson.Node) {
	c.dst = append(c.dst, '{')
	c.reference(ref)
	if m := c.doc.Get(n, "description"); c.doc.Kind(m) == rawjson.String && !c.parameter {
		c.text("description", m)
	}
	c.dst = append(c.dst, '}')
}

// reference writes $ref. One that leads nowhere is left out.
func (c *converter) reference(ref rawjson.Node) {
	if c.doc.Kind(ref) != rawjson.String {
		c.loosen(ref, "$ref is left out: it is no string")
		return
	}
	target, err := c.targetOf(value{c.file, ref})
	if err != nil {
		c.loosen(ref, err.Error()+"; anything is accepted there")
		return
	}
	c.referTo(ref, target)
}

// referTo writes a $ref to a target, noting it as a dependency.
func (c *converter) referTo(ref rawjson.Node, target value) {
	switch target.kind() {
	case rawjson.Object, rawjson.Bool:
	default:
		c.loosen(ref, "the reference leads to something that is no schema; anything is accepted there")
		return
	}
	if c.apart == 0 && c.self != rawjson.None && c.isCircular(value{c.file, c.self}, target) {
		c.loosen(ref, "the schema contains itself without end; the reference is left out")
		return
	}
	def := c.definition(target, c.dir)
	if recent := c.deps[max(0, len(c.deps)-16):]; !slices.Contains(recent, def) { // only to keep the list short
		c.deps = append(c.deps, def)
	}
	c.name("$ref")
	c.dst = append(append(append(c.dst, `"#/$defs/`...), def.name...), '"')
}

// dynamicReference writes $dynamicRef as a plain reference where only one
// schema of the document answers to it, which is then what it means. Else its
// meaning depends on the way to it, and it is left out.
func (c *converter) dynamicReference(m rawjson.Node) {
	target, err := c.resolveIn(value{c.file, m}, c.doc.Str(m))
	if err != nil {
		c.loosen(m, err.Error()+"; anything is accepted there")
		return
	}
	if target.file.sharesAnchor(c.doc.Str(m)) {
		c.loosen(m, "a $dynamicRef with several targets is not supported; anything is accepted there")
		return
	}
	c.referTo(m, target)
}

// recursiveReference writes the $recursiveRef of draft 2019-09, which some
// documents use anyway, as a reference to the schema around it that
// declares $recursiveAnchor.
func (c *converter) recursiveReference(m rawjson.Node) {
	anchor := rawjson.None
	for n := range c.file.ancestors(m) {
		if c.doc.IsTrue(c.doc.Get(n, "$recursiveAnchor")) {
			anchor = n // the innermost comes last
		}
	}
	if anchor == rawjson.None {
		c.loosen(m, "$recursiveRef without a $recursiveAnchor around it; anything is accepted there")
		return
	}
	c.referTo(m, value{c.file, anchor})
}
