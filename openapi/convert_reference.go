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
	if c.apart == 0 && c.self != rawjson.None && c.isCircular(target) {
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
func (c *converter) isCircular(target value) bool {
	s := search{document: c.document, goal: value{c.file, c.self}, seen: make(map[value]struct{})}
	return s.reaches(target)
}

// maxSteps bounds a search: so many schemas for one value are not found in the
// wild.
const maxSteps = 1000

// search goes over schemas that apply to the same value.
type search struct {
	*document
	goal  value
	seen  map[value]struct{}
	steps int
}

func (s *search) reaches(v value) bool {
	if v == s.goal {
		return true
	}
	if _, again := s.seen[v]; again || s.steps > maxSteps || v.kind() != rawjson.Object {
		return false
	}
	s.seen[v] = struct{}{}
	if ref := v.get("$ref"); ref.kind() == rawjson.String {
		if t, err := s.targetOf(ref); err == nil && s.reaches(t) {
			return true
		}
		if s.legacy() {
			return false
		}
	}
	doc := v.file.doc
	for m := doc.First(v.node); m != rawjson.None; m = doc.Next(m) {
		if s.reachesThrough(string(doc.RawKey(m)), value{v.file, m}) {
			return true
		}
	}
	return false
}

// reachesThrough is reaches for one keyword.
func (s *search) reachesThrough(key string, v value) bool {
	switch key {
	case "not", "if", "then", "else":
		return s.reaches(v)
	case "allOf", "anyOf", "oneOf", "dependentSchemas":
		for _, e := range v.each() {
			if s.steps++; s.steps > maxSteps {
				return false
			}
			if s.reaches(e) {
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
