package profile

import (
	"bytes"
	"slices"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// object rewrites what a schema says of objects.
func (w *rewriter) object(s *schema, root bool) *schema {
	if w.NullOptional && root && !w.AllRequired {
		w.nullOptional(s)
	}
	if !w.Closed && !w.AllRequired || s.always != nil || s.has("$ref") && !s.has("properties") {
		return s
	}
	kinds := s.types()
	if !s.isObject() {
		return s
	}
	members := s.get("properties")
	declared := members != nil && len(members.named) > 0
	closed := s.get("additionalProperties")
	others := w.others(s)
	shut := closed != nil && closed.one != nil && closed.one.always != nil && !*closed.one.always
	switch {
	case !w.Closed:
	case !declared && !shut && !root && len(kinds) == 1:
		return w.asText(s)
	case !declared && !shut && len(kinds) > 1:
		w.note("has an object of any form at %s, which the client does not take", w.at())
		return s
	case !declared && root && !shut && s.has("additionalProperties", "patternProperties"):
		w.note("takes arguments of any name, which the client cannot send")
	case closed != nil && !shut && closed.one != nil && closed.one.always == nil, s.has("patternProperties"):
		w.note("at %s members of other names than the declared ones cannot be sent", w.at())
	}
	if w.Closed {
		never := false
		s.set(member{key: "additionalProperties", form: oneForm, one: &schema{always: &never}})
		s.drop("patternProperties", "unevaluatedProperties")
	}
	if w.AllRequired {
		w.requireAll(s, others)
	}
	return s
}

// isObject reports whether a schema is one of objects, perhaps of others as well.
func (s *schema) isObject() bool {
	kinds := s.types()
	return slices.Contains(kinds, "object") || kinds == nil && s.has("properties")
}

// others is what a schema says of members that are required and not declared; nil:
// there are none.
func (w *rewriter) others(s *schema) *schema {
	members := s.get("properties")
	for name := range s.required() {
		if members != nil && slices.ContainsFunc(members.named, func(p named) bool { return p.name == name }) {
			continue
		}
		more := s.get("additionalProperties")
		switch {
		case s.has("patternProperties", "allOf", "anyOf", "oneOf", "if"), more != nil && more.one != nil && more.one.always != nil && !*more.one.always:
			w.note("requires %s at %s and does not declare it", name, w.at())
		case more != nil && more.one != nil:
			return more.one
		}
		return &schema{}
	}
	return nil
}

// asText stands for an object of any form: its JSON as a text, which is read back
// where an object alone is allowed.
func (w *rewriter) asText(s *schema) *schema {
	if s.has("allOf", "anyOf", "oneOf", "$ref", "enum", "const", "not", "if") {
		w.note("has an object of any form at %s, which the client does not take", w.at())
		return s
	}
	w.note("has an object of any form at %s, which is sent as JSON text", w.at())
	text := plain("string")
	for _, m := range s.members {
		if slices.Contains(annotations, m.key) && m.key != "default" && m.key != "examples" && m.key != "example" {
			text.set(m)
		}
	}
	told := "A JSON object as text"
	if values := s.get("additionalProperties"); values != nil && values.one != nil && values.one.always == nil && len(values.one.members) > 0 {
		if of := values.one.append(nil); len(of) <= maxValueSchema {
			told += "; each of its values fits " + string(of)
		}
	}
	text.set(member{key: "description", raw: joined(s.raw("description"), rawjson.AppendString(nil, told+"."))})
	return text
}

// maxValueSchema bounds the schema that a description names, in bytes.
const maxValueSchema = 300

// conditional notes conditions on which members come together: null stands for a member
// that is not there, and is there.
func (w *rewriter) conditional(s *schema) {
	if s.has("oneOf", "not", "if", "minProperties", "maxProperties", "dependentRequired", "dependentSchemas") {
		w.note("has conditions at %s on which members come together: they are checked when it is called", w.at())
	}
}

// requireAll requires every property, and lets those be null that were optional.
// others is the schema of members that are required and not declared.
func (w *rewriter) requireAll(s, others *schema) {
	w.conditional(s)
	required := s.required()
	members := s.get("properties")
	if members == nil || members.form != namedForm {
		if len(required) == 0 {
			return
		}
		s.set(member{key: "properties", form: namedForm})
		members = s.get("properties")
	}
	members.named = slices.DeleteFunc(members.named, func(p named) bool { return p.always != nil && !*p.always }) // it cannot be sent
	all := make([]string, 0, len(members.named))
	has := map[string]bool{}
	for i := range members.named {
		p := &members.named[i]
		if !required[p.name] {
			p.schema = w.nullable(p.schema)
		}
		all, has[p.name] = append(all, p.name), true
	}
	for _, name := range sortedNames(required) {
		if !has[name] {
			members.named = append(members.named, named{name, others})
			all = append(all, name)
		}
	}
	s.set(listMember("required", all, rawjson.AppendString[string]))
	s.drop("minProperties", "dependentRequired", "dependentSchemas")
}

// nullOptional lets arguments be null that are optional.
func (w *rewriter) nullOptional(s *schema) {
	w.conditional(s)
	members := s.get("properties")
	if members == nil || members.form != namedForm {
		return
	}
	required := s.required()
	for i := range members.named {
		if p := &members.named[i]; !required[p.name] {
			p.schema = w.nullable(p.schema)
		}
	}
}

// required are the names that an object must have.
func (s *schema) required() map[string]bool {
	all := map[string]bool{}
	for name := range rawjson.Elements(s.raw("required")) {
		if len(name) > 1 && name[0] == '"' {
			all[string(rawjson.AppendUnescaped(nil, name[1:len(name)-1]))] = true
		}
	}
	return all
}

func sortedNames(set map[string]bool) []string {
	all := make([]string, 0, len(set))
	for name := range set {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// nullable is s or null.
func (w *rewriter) nullable(s *schema) *schema {
	if s.always != nil || len(s.members) == 0 {
		return s
	}
	kinds := s.types()
	simple := !s.has("const", "allOf", "anyOf", "oneOf", "not", "if", "$ref")
	switch {
	case slices.Contains(kinds, "null") && simple && !s.has("enum"):
		return s
	case len(kinds) > 0 && simple && !w.SplitTypes && (!w.TextEnums || !s.has("enum")):
		if values, ok := s.enum(); ok && !slices.ContainsFunc(values, func(v []byte) bool { return v[0] == 'n' }) {
			s.set(enumMember(append(values, []byte("null"))))
		}
		if !slices.Contains(kinds, "null") {
			s.set(typeMember(append(kinds, "null")...))
		}
		return s
	}
	if branches := s.get("anyOf"); branches != nil && branches.form == listForm && s.only("anyOf") {
		if !slices.ContainsFunc(branches.list, func(b *schema) bool { return slices.Equal(b.types(), []string{"null"}) }) {
			branches.list = append(branches.list, plain("null"))
		}
		return s
	}
	either := &schema{}
	for _, m := range s.members {
		if slices.Contains(annotations, m.key) {
			either.members = append(either.members, m)
		}
	}
	s.drop(annotations...)
	either.members = append(either.members, member{key: "anyOf", form: listForm, list: []*schema{s, plain("null")}})
	return either
}

// only reports whether a schema has a keyword and beside it annotations alone.
func (s *schema) only(key string) bool {
	return !slices.ContainsFunc(s.members, func(m member) bool { return m.key != key && !slices.Contains(annotations, m.key) })
}

// anyOfForOneOf writes anyOf for oneOf.
func (w *rewriter) anyOfForOneOf(s *schema) {
	one := s.get("oneOf")
	if one == nil || one.form != listForm {
		return
	}
	branches := one.list
	for i, a := range branches {
		if slices.ContainsFunc(branches[i+1:], func(b *schema) bool { return !disjoint(a, b) }) {
			w.note("at %s may fit several of the forms of which it has to fit one: that is checked when it is called", w.at())
			break
		}
	}
	s.drop("oneOf")
	s.addAnyOf(branches)
}

// disjoint reports whether no value fits both: their types differ, or a property that
// both require has other values.
func disjoint(a, b *schema) bool {
	if a.always != nil || b.always != nil {
		return false
	}
	if differ(a, b) {
		return true
	}
	x, y := a.types(), b.types()
	number := func(kinds []string) bool {
		return slices.Contains(kinds, "number") || slices.Contains(kinds, "integer")
	}
	if len(x) > 0 && len(y) > 0 && !slices.ContainsFunc(x, func(k string) bool { return slices.Contains(y, k) }) && (!number(x) || !number(y)) {
		return true
	}
	p, q := a.get("properties"), b.get("properties")
	if p == nil || q == nil || !slices.Equal(x, []string{"object"}) || !slices.Equal(y, []string{"object"}) {
		return false
	}
	first, second := a.required(), b.required()
	for _, v := range p.named {
		for _, u := range q.named {
			if u.name == v.name && first[u.name] && second[u.name] && differ(v.schema, u.schema) {
				return true
			}
		}
	}
	return false
}

// differ reports whether two schemas list texts, and none in common.
func differ(a, b *schema) bool {
	x, y := texts(a), texts(b)
	return x != nil && y != nil && !slices.ContainsFunc(x, func(v string) bool { return slices.Contains(y, v) })
}

// texts are the values of a schema that lists texts alone; nil: it does not.
func texts(s *schema) (all []string) {
	values, ok := s.enum()
	if c := s.raw("const"); c != nil {
		values, ok = [][]byte{c}, true
	}
	if !ok {
		return nil
	}
	for _, v := range values {
		if v = bytes.TrimSpace(v); v[0] != '"' {
			return nil
		}
		all = append(all, string(rawjson.AppendUnescaped(nil, v[1:len(v)-1])))
	}
	return all
}
