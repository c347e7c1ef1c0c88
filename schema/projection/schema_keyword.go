package projection

import (
	"bytes"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/schemadoc"
)

// write writes the projection of a keyword. Keywords that constrain only
// scalars or the number of items are copied: a projection does not change
// those.
func (o *objectProjector) write(m rawjson.Node, k schemadoc.Keyword) {
	switch k {
	case schemadoc.KwDefs, schemadoc.KwDefinitions, schemadoc.KwID, schemadoc.KwAnchor, schemadoc.KwDynamicAnchor, schemadoc.KwContentSchema, schemadoc.KwAllOf:
		// Definitions are written as needed, allOf at the end.
	case schemadoc.KwRef:
		o.key("$ref")
		o.dst = rawjson.AppendString(o.dst, o.reference(o.RefAt(m), o.selection))
	case schemadoc.KwType, schemadoc.KwNumber, schemadoc.KwMultipleOf, schemadoc.KwPattern, schemadoc.KwText, schemadoc.KwNote, schemadoc.KwFlag, schemadoc.KwMaxItems, schemadoc.KwMinContains:
		o.copy(m)
	case schemadoc.KwAnyOf:
		o.within("anyOf", m, o.selection)
	case schemadoc.KwItems, schemadoc.KwPrefixItems, schemadoc.KwContains:
		o.within(o.Doc.Key(m), m, o.selection.item())
	case schemadoc.KwPropertyNames:
		o.within("propertyNames", m, &selection{all: true})
	default:
		switch {
		case o.selection.all && k.Form() == schemadoc.HoldsNone:
			o.copy(m)
		case o.selection.all:
			o.within(o.Doc.Key(m), m, o.selection)
		default:
			o.dependent(m, k)
		}
	}
}

// dependent writes the projection of keywords that depend on unselected parts.
func (o *objectProjector) dependent(m rawjson.Node, k schemadoc.Keyword) {
	switch k {
	case schemadoc.KwProperties, schemadoc.KwPatternProperties, schemadoc.KwAdditionalProperties:
		if !o.propertiesWritten {
			o.propertiesWritten = true
			o.members()
		}
	case schemadoc.KwRequired:
		o.key("required")
		o.names(m)
	case schemadoc.KwDependentRequired:
		o.dependents("dependentRequired", m, func(c rawjson.Node) { o.names(c) })
	case schemadoc.KwDependentSchemas:
		o.dependents("dependentSchemas", m, func(c rawjson.Node) { o.dst = o.schema(o.dst, c, o.selection) })
	case schemadoc.KwEnum, schemadoc.KwConst:
		o.values(m, k)
	case schemadoc.KwCount:
		if o.selection.each != nil || o.Doc.Key(m) != "minProperties" {
			o.copy(m)
		}
	case schemadoc.KwUniqueItems:
		if o.selection.item().all {
			o.copy(m)
		}
	case schemadoc.KwMaxContains:
		if c := o.Doc.Get(o.at, "contains"); c != rawjson.None && o.same(c, o.selection.item()) {
			o.copy(m)
		}
	default:
		o.logic(m, k)
	}
}

// logic writes the projection of keywords that depend on a schema not matching.
// They are kept where the schema matches a value if and only if it matches the
// projection.
func (o *objectProjector) logic(m rawjson.Node, k schemadoc.Keyword) {
	whole := &selection{all: true}
	switch k {
	case schemadoc.KwNot:
		if o.same(m, o.selection) {
			o.within("not", m, whole)
		}
	case schemadoc.KwIf:
		if o.same(m, o.selection) {
			o.within("if", m, whole)
		}
	case schemadoc.KwThen, schemadoc.KwElse:
		if cond := o.Doc.Get(o.at, "if"); cond != rawjson.None && o.same(cond, o.selection) {
			o.within(o.Doc.Key(m), m, o.selection)
		}
	case schemadoc.KwOneOf:
		for c := o.Doc.First(m); c != rawjson.None; c = o.Doc.Next(c) {
			if !o.same(c, o.selection) {
				o.any = m
				return
			}
		}
		o.within("oneOf", m, whole)
	}
}

// values writes the values of const or enum as projections.
func (o *objectProjector) values(m rawjson.Node, k schemadoc.Keyword) {
	o.key(o.Doc.Key(m))
	if k == schemadoc.KwConst {
		o.dst = o.selection.append(o.dst, o.Doc.Raw(m))
		return
	}
	o.dst = append(o.dst, '[')
	var seen [][]byte
	for c := o.Doc.First(m); c != rawjson.None; c = o.Doc.Next(c) {
		text := o.selection.append(nil, o.Doc.Raw(c))
		if same := rawjson.AppendEqualityKey(nil, text); !containsText(seen, same) {
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

// names writes the selected names of a list.
func (o *objectProjector) names(m rawjson.Node) {
	o.dst = append(o.dst, '[')
	empty := len(o.dst)
	for c := o.Doc.First(m); c != rawjson.None; c = o.Doc.Next(c) {
		if o.selection.member(o.Doc.Str(c)) == nil {
			continue
		}
		if len(o.dst) > empty {
			o.dst = append(o.dst, ',')
		}
		o.dst = append(o.dst, o.Doc.Raw(c)...)
	}
	o.dst = append(o.dst, ']')
}

// dependents writes the entries for the selected members.
func (o *objectProjector) dependents(name string, m rawjson.Node, write func(rawjson.Node)) {
	o.key(name)
	o.dst = append(o.dst, '{')
	empty := len(o.dst)
	for c := o.Doc.First(m); c != rawjson.None; c = o.Doc.Next(c) {
		if o.selection.member(o.Doc.Key(c)) == nil {
			continue
		}
		if len(o.dst) > empty {
			o.dst = append(o.dst, ',')
		}
		o.dst = append(rawjson.AppendString(o.dst, o.Doc.Key(c)), ':')
		write(c)
	}
	o.dst = append(o.dst, '}')
}

// same reports whether the schema at a location matches a value if and only if
// it matches what t selects of it. It returns false where that is expensive to
// find out.
func (w *schemaProjector) same(at rawjson.Node, t *selection) bool {
	if t.all || w.Doc.Kind(at) != rawjson.Object {
		return true
	}
	for m := w.Doc.First(at); m != rawjson.None; m = w.Doc.Next(m) {
		if !w.sameKeyword(m, w.Keyword(m), t) {
			return false
		}
	}
	return true
}

func (w *schemaProjector) sameKeyword(m rawjson.Node, k schemadoc.Keyword, t *selection) bool {
	switch k {
	case schemadoc.KwType, schemadoc.KwNumber, schemadoc.KwMultipleOf, schemadoc.KwPattern, schemadoc.KwText, schemadoc.KwNote, schemadoc.KwFlag, schemadoc.KwExamples, schemadoc.KwMaxItems, schemadoc.NoKeyword:
		return true
	case schemadoc.KwCount:
		return t.each != nil || w.Doc.Key(m) != "minProperties" && w.Doc.Key(m) != "maxProperties"
	case schemadoc.KwConst:
		return w.scalar(m)
	case schemadoc.KwEnum:
		return w.every(m, w.scalar)
	case schemadoc.KwRequired:
		return w.every(m, func(c rawjson.Node) bool { return t.member(w.Doc.Str(c)) != nil })
	case schemadoc.KwProperties:
		return w.every(m, func(c rawjson.Node) bool {
			below := t.member(w.Doc.Key(c))
			return below != nil && w.same(c, below)
		})
	case schemadoc.KwItems:
		return w.same(m, t.item())
	case schemadoc.KwPrefixItems:
		return w.every(m, func(c rawjson.Node) bool { return w.same(c, t.item()) })
	case schemadoc.KwNot, schemadoc.KwIf, schemadoc.KwThen, schemadoc.KwElse:
		return w.same(m, t)
	case schemadoc.KwAllOf, schemadoc.KwAnyOf, schemadoc.KwOneOf:
		return w.every(m, func(c rawjson.Node) bool { return w.same(c, t) })
	}
	return false
}

func (w *schemaProjector) every(m rawjson.Node, holds func(rawjson.Node) bool) bool {
	for c := w.Doc.First(m); c != rawjson.None; c = w.Doc.Next(c) {
		if !holds(c) {
			return false
		}
	}
	return true
}

func (w *schemaProjector) scalar(n rawjson.Node) bool {
	kind := w.Doc.Kind(n)
	return kind != rawjson.Object && kind != rawjson.Array
}
