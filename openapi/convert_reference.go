package openapi

import (
	"slices"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// legacyReference writes a reference of the dialects in which nothing may
// stand beside it. A description is kept all the same: it does no harm in
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
	if c.apart == 0 && c.self != rawjson.None && c.isCircular(target.node) {
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

// isCircular reports whether validating a value against self would, by way of
// the target, validate the same value against self again.
func (c *converter) isCircular(target rawjson.Node) bool {
	s := search{converter: c, goal: c.self, seen: make(map[rawjson.Node]struct{})}
	return s.reaches(target)
}

// maxSteps bounds a search: so many schemas for one value are not found in the
// wild.
const maxSteps = 1000

// search goes over schemas that apply to the same value.
type search struct {
	*converter
	goal  rawjson.Node
	seen  map[rawjson.Node]struct{}
	steps int
}

func (s *search) reaches(n rawjson.Node) bool {
	if n == s.goal {
		return true
	}
	if _, again := s.seen[n]; again || s.steps > maxSteps || s.doc.Kind(n) != rawjson.Object {
		return false
	}
	s.seen[n] = struct{}{}
	if ref := s.doc.Get(n, "$ref"); s.doc.Kind(ref) == rawjson.String {
		if t, err := s.targetOf(value{s.file, ref}); err == nil && s.reaches(t.node) {
			return true
		}
		if s.legacy() {
			return false
		}
	}
	for m := s.doc.First(n); m != rawjson.None; m = s.doc.Next(m) {
		if s.reachesThrough(m) {
			return true
		}
	}
	return false
}

// reachesThrough is reaches for one keyword.
func (s *search) reachesThrough(m rawjson.Node) bool {
	switch string(s.key(m)) {
	case "not", "if", "then", "else":
		return s.reaches(m)
	case "allOf", "anyOf", "oneOf", "dependentSchemas":
		for e := s.doc.First(m); e != rawjson.None && s.steps <= maxSteps; e = s.doc.Next(e) {
			if s.steps++; s.reaches(e) {
				return true
			}
		}
	}
	return false
}

// dynamicReference writes $dynamicRef as a plain reference where only one
// schema of the document answers to it, which is then what it means. Else its
// meaning depends on the way to it, and it is left out.
func (c *converter) dynamicReference(m rawjson.Node) {
	ref := c.doc.Str(m)
	target, err := c.resolveIn(c.file, ref)
	if err != nil {
		c.loosen(m, err.Error()+"; anything is accepted there")
		return
	}
	if len(ref) > 1 && ref[1] != '/' && c.anchors()[ref[1:]].dynamic > 1 {
		c.loosen(m, "a $dynamicRef with several targets is not supported; anything is accepted there")
		return
	}
	c.referTo(m, target)
}

// recursiveReference writes the $recursiveRef of draft 2019-09, which some
// documents use all the same, as a reference to the schema around it that
// declares $recursiveAnchor.
func (c *converter) recursiveReference(m rawjson.Node) {
	anchor := rawjson.None
	for n := range ancestors(c.doc, m) {
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
