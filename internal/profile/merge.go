package profile

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// mergeForms makes one object of an object and the forms that it may have, because
// each of them would have to forbid what the others declare. What is nothing but a
// choice of objects stays one.
// What was merged may hold what has to be merged again, and so on where definitions are
// recursive: at some depth forms are left out.
func (w *rewriter) mergeForms(s *schema) (merged bool) {
	if s.always != nil || !s.has("allOf", "anyOf", "oneOf") || s.has("$ref") || !s.isObject() {
		return false
	}
	choice := s.get("anyOf")
	if choice == nil {
		choice = s.get("oneOf")
	}
	others := slices.ContainsFunc(s.members, func(m member) bool {
		return m.key != "type" && m.key != "anyOf" && m.key != "oneOf" && !slices.Contains(annotations, m.key)
	})
	if !others && len(s.types()) == 1 && (s.get("anyOf") == nil || s.get("oneOf") == nil) && choice.form == listForm && !slices.ContainsFunc(choice.list, w.isOpenForm) {
		s.drop("type")
		return false
	}
	if len(s.types()) > 1 {
		return false
	}
	if w.merging == maxMerging {
		w.note("has forms within forms at %s: the inner ones are left out", w.at())
		s.drop("allOf", "anyOf", "oneOf")
		return false
	}
	w.merge(s)
	return true
}

// isOpenForm reports whether a form is not an object on its own.
func (w *rewriter) isOpenForm(s *schema) bool {
	if s.always == nil && s.types() == nil && s.has("properties") && !s.has("$ref") {
		s.set(typeMember("object")) // as the schema around it says
	}
	s = w.resolved(&schema{members: slices.Clone(s.members), always: s.always})
	return !slices.Equal(s.types(), []string{"object"})
}

// merge makes one object of the forms that a schema of objects has.
func (w *rewriter) merge(s *schema) {
	for range maxRounds {
		if w.merges++; w.merges > maxMerges {
			break
		}
		if !s.has("allOf", "anyOf", "oneOf") {
			return
		}
		if all := s.get("allOf"); all != nil {
			list := all.list
			s.drop("allOf")
			for _, part := range list {
				w.join(s, w.resolved(part))
			}
			continue
		}
		key := "anyOf"
		if !s.has(key) {
			key = "oneOf"
		}
		list := s.get(key).list
		s.drop(key)
		w.joinForms(s, list)
	}
	s.drop("allOf", "anyOf", "oneOf")
	w.note("has forms within forms at %s: they are checked when it is called", w.at())
}

// Bounds of what is merged.
const (
	maxRounds  = 16  // of forms of forms
	maxMerges  = 500 // in a document
	maxMerging = 3   // merged objects within each other
)

// resolved is s, or what it refers to and says beside it as allOf.
func (w *rewriter) resolved(s *schema) *schema {
	for range maxRounds {
		ref := s.raw("$ref")
		if ref == nil {
			return s
		}
		_, n := w.target(ref)
		if n == rawjson.None || !isSchema(w.doc.Kind(n)) {
			s.drop("$ref")
			return s
		}
		target := read(w.doc, n)
		if len(s.members) == 1 {
			s = target
			continue
		}
		s.drop("$ref")
		return &schema{members: []member{{key: "allOf", form: listForm, list: []*schema{s, target}}}}
	}
	return &schema{}
}

// join adds to an object what another schema says of it.
func (w *rewriter) join(s, part *schema) {
	if part.always != nil {
		return
	}
	if kinds := part.types(); kinds != nil && !slices.Contains(kinds, "object") {
		w.note("has a form at %s that is no object, so that nothing fits it", w.at())
	}
	if len(s.members) > 0 && (s.limitsOthers() || part.limitsOthers()) {
		w.note("limits members at %s that one of its forms does not declare: that is checked when it is called", w.at())
	}
	required := s.required()
	for name := range part.required() {
		required[name] = true
	}
	for _, m := range part.members {
		switch old := s.get(m.key); {
		case m.key == "type", m.key == "required", slices.Contains(annotations, m.key):
		case m.key == "properties" && m.form == namedForm:
			w.joinProperties(s, m.named, "allOf")
		case old == nil:
			s.members = append(s.members, m)
		case m.form == listForm && old.form == listForm && m.key != "prefixItems":
			if m.key == "allOf" {
				old.list = append(old.list, m.list...)
				break
			}
			s.set(member{key: "allOf", form: listForm, list: []*schema{{members: []member{*old}}, {members: []member{m}}}})
			s.drop(m.key)
		case m.key == "additionalProperties" && m.one != nil && m.one.always != nil && *m.one.always:
		default:
			w.note("says %s twice at %s: one of them is checked when it is called", m.key, w.at())
		}
	}
	if len(required) > 0 {
		s.set(listMember("required", sortedNames(required), rawjson.AppendString[string]))
	}
}

// limitsOthers reports whether a schema says something of members that it does not
// declare.
func (s *schema) limitsOthers() bool {
	more := s.get("additionalProperties")
	return s.has("patternProperties", "unevaluatedProperties") || more != nil && (more.one == nil || more.one.always == nil || !*more.one.always)
}

// joinProperties adds properties to those of s. One that is there has to fit, or may
// fit, both schemas.
func (w *rewriter) joinProperties(s *schema, more []named, how string) {
	members := s.get("properties")
	if members == nil || members.form != namedForm {
		s.set(member{key: "properties", form: namedForm})
		members = s.get("properties")
	}
	for _, p := range more {
		i := slices.IndexFunc(members.named, func(q named) bool { return q.name == p.name })
		switch {
		case i < 0:
			members.named = append(members.named, p)
		case !bytes.Equal(members.named[i].append(nil), p.append(nil)):
			members.named[i].schema = &schema{members: []member{{key: how, form: listForm, list: []*schema{members.named[i].schema, p.schema}}}}
		}
	}
}

// joinForms adds to an object the properties of the forms of which it may have one.
func (w *rewriter) joinForms(s *schema, forms []*schema) {
	var sets []string
	var common map[string]bool
	var properties []named
	for _, form := range forms {
		one := &schema{members: []member{{key: "allOf", form: listForm, list: []*schema{form}}}}
		w.merge(one)
		if m := one.get("properties"); m != nil {
			for _, p := range m.named {
				collect := &schema{members: []member{{key: "properties", form: namedForm, named: properties}}}
				w.joinProperties(collect, []named{p}, "anyOf")
				properties = collect.get("properties").named
			}
		}
		required := one.required()
		sets = append(sets, strings.Join(sortedNames(required), " and "))
		if common == nil {
			common = required
			continue
		}
		for name := range common {
			if !required[name] {
				delete(common, name)
			}
		}
	}
	if len(properties) > 0 {
		w.joinProperties(s, properties, "allOf")
	}
	required := s.required()
	for name := range common {
		required[name] = true
	}
	if len(required) > 0 {
		s.set(listMember("required", sortedNames(required), rawjson.AppendString[string]))
	}
	w.note("has several forms at %s: which members go together is checked when it is called", w.at())
	if sets = slices.DeleteFunc(slices.Compact(sets), func(set string) bool { return set == "" }); len(sets) > 1 {
		s.set(member{key: "description", raw: joined(s.raw("description"), rawjson.AppendString(nil, "Needs "+strings.Join(sets, ", or ")+"."))})
	}
}
