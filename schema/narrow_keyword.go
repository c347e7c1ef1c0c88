package schema

import (
	"bytes"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// write writes what remains of a keyword. What only looks at values that are
// neither object nor array, and at how many items there are, remains: those a
// projection does not change.
func (o *narrowed) write(m rawjson.Node, k keyword) {
	switch k {
	case kwDefs, kwDefinitions, kwID, kwAnchor, kwDynamicAnchor, kwContentSchema, kwAllOf:
		// Definitions are written anew, allOf is written at the end.
	case kwRef:
		o.key("$ref")
		o.dst = rawjson.AppendString(o.dst, o.reference(o.refAt(m), o.pick))
	case kwType, kwNumber, kwMultipleOf, kwPattern, kwText, kwNote, kwFlag, kwMaxItems, kwMinContains:
		o.copy(m)
	case kwAnyOf:
		o.within("anyOf", m, o.pick)
	case kwItems, kwPrefixItems, kwContains:
		o.within(o.doc.Key(m), m, o.pick.item())
	case kwPropertyNames:
		o.within("propertyNames", m, &pick{all: true})
	default:
		switch {
		case o.pick.all && k.form() == holdsNone:
			o.copy(m)
		case o.pick.all:
			o.within(o.doc.Key(m), m, o.pick)
		default:
			o.dependent(m, k)
		}
	}
}

// dependent writes what remains of the keywords that see what is not selected.
func (o *narrowed) dependent(m rawjson.Node, k keyword) {
	switch k {
	case kwProperties, kwPatternProperties, kwAdditionalProperties:
		if !o.told {
			o.told = true
			o.members()
		}
	case kwRequired:
		o.key("required")
		o.names(m)
	case kwDependentRequired:
		o.dependents("dependentRequired", m, func(c rawjson.Node) { o.names(c) })
	case kwDependentSchemas:
		o.dependents("dependentSchemas", m, func(c rawjson.Node) { o.dst = o.schema(o.dst, c, o.pick) })
	case kwEnum, kwConst:
		o.values(m, k)
	case kwCount:
		if o.pick.each != nil || o.doc.Key(m) != "minProperties" {
			o.copy(m)
		}
	case kwUniqueItems:
		if o.pick.item().all {
			o.copy(m)
		}
	case kwMaxContains:
		if c := o.doc.Get(o.at, "contains"); c != rawjson.None && o.same(c, o.pick.item()) {
			o.copy(m)
		}
	default:
		o.logic(m, k)
	}
}

// logic writes what remains of the keywords that ask whether a schema does not
// fit. They remain where it fits a value if and only if it fits the projection.
func (o *narrowed) logic(m rawjson.Node, k keyword) {
	whole := &pick{all: true}
	switch k {
	case kwNot:
		if o.same(m, o.pick) {
			o.within("not", m, whole)
		}
	case kwIf:
		if o.same(m, o.pick) {
			o.within("if", m, whole)
		}
	case kwThen, kwElse:
		if cond := o.doc.Get(o.at, "if"); cond != rawjson.None && o.same(cond, o.pick) {
			o.within(o.doc.Key(m), m, o.pick)
		}
	case kwOneOf:
		for c := o.doc.First(m); c != rawjson.None; c = o.doc.Next(c) {
			if !o.same(c, o.pick) {
				o.any = m
				return
			}
		}
		o.within("oneOf", m, whole)
	}
}

// values writes const or enum, as projections.
func (o *narrowed) values(m rawjson.Node, k keyword) {
	o.key(o.doc.Key(m))
	if k == kwConst {
		o.dst = o.pick.append(o.dst, o.doc.Raw(m))
		return
	}
	o.dst = append(o.dst, '[')
	var seen [][]byte
	for c := o.doc.First(m); c != rawjson.None; c = o.doc.Next(c) {
		text := o.pick.append(nil, o.doc.Raw(c))
		if same := appendCanonical(nil, text); !containsText(seen, same) {
			if seen = append(seen, same); len(seen) > 1 {
				o.dst = append(o.dst, ',')
			}
			o.dst = append(o.dst, text...)
		}
	}
	o.dst = append(o.dst, ']')
}

func containsText(list [][]byte, text []byte) bool {
	for _, one := range list {
		if bytes.Equal(one, text) {
			return true
		}
	}
	return false
}

// names writes the names of a list that are selected.
func (o *narrowed) names(m rawjson.Node) {
	o.dst = append(o.dst, '[')
	empty := len(o.dst)
	for c := o.doc.First(m); c != rawjson.None; c = o.doc.Next(c) {
		if o.pick.member(o.doc.Str(c)) == nil {
			continue
		}
		if len(o.dst) > empty {
			o.dst = append(o.dst, ',')
		}
		o.dst = append(o.dst, o.doc.Raw(c)...)
	}
	o.dst = append(o.dst, ']')
}

// dependents writes what depends on the members that are selected.
func (o *narrowed) dependents(name string, m rawjson.Node, write func(rawjson.Node)) {
	o.key(name)
	o.dst = append(o.dst, '{')
	empty := len(o.dst)
	for c := o.doc.First(m); c != rawjson.None; c = o.doc.Next(c) {
		if o.pick.member(o.doc.Key(c)) == nil {
			continue
		}
		if len(o.dst) > empty {
			o.dst = append(o.dst, ',')
		}
		o.dst = append(rawjson.AppendString(o.dst, o.doc.Key(c)), ':')
		write(c)
	}
	o.dst = append(o.dst, '}')
}

// same reports whether the schema at a place fits a value if and only if it
// fits what t selects of it. It says no where that takes long to find out.
func (w *narrower) same(at rawjson.Node, t *pick) bool {
	if t.all || w.doc.Kind(at) != rawjson.Object {
		return true
	}
	for m := w.doc.First(at); m != rawjson.None; m = w.doc.Next(m) {
		if !w.sameKeyword(m, w.keyword(m), t) {
			return false
		}
	}
	return true
}

func (w *narrower) sameKeyword(m rawjson.Node, k keyword, t *pick) bool {
	switch k {
	case kwType, kwNumber, kwMultipleOf, kwPattern, kwText, kwNote, kwFlag, kwExamples, kwMaxItems, noKeyword:
		return true
	case kwCount:
		return t.each != nil || w.doc.Key(m) != "minProperties" && w.doc.Key(m) != "maxProperties"
	case kwConst:
		return w.scalar(m)
	case kwEnum:
		return w.every(m, w.scalar)
	case kwRequired:
		return w.every(m, func(c rawjson.Node) bool { return t.member(w.doc.Str(c)) != nil })
	case kwProperties:
		return w.every(m, func(c rawjson.Node) bool {
			below := t.member(w.doc.Key(c))
			return below != nil && w.same(c, below)
		})
	case kwItems:
		return w.same(m, t.item())
	case kwPrefixItems:
		return w.every(m, func(c rawjson.Node) bool { return w.same(c, t.item()) })
	case kwNot, kwIf, kwThen, kwElse:
		return w.same(m, t)
	case kwAllOf, kwAnyOf, kwOneOf:
		return w.every(m, func(c rawjson.Node) bool { return w.same(c, t) })
	}
	return false
}

func (w *narrower) every(m rawjson.Node, holds func(rawjson.Node) bool) bool {
	for c := w.doc.First(m); c != rawjson.None; c = w.doc.Next(c) {
		if !holds(c) {
			return false
		}
	}
	return true
}

func (w *narrower) scalar(n rawjson.Node) bool {
	kind := w.doc.Kind(n)
	return kind != rawjson.Object && kind != rawjson.Array
}
