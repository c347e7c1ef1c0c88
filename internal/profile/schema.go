package profile

import (
	"slices"
	"strconv"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// schema is a schema that can be changed: its members in their order, or true or false.
type schema struct {
	always  *bool // true accepts everything, false nothing; nil: the members say
	members []member
}

// member is a keyword with its value in one of four forms.
type member struct {
	key   string
	raw   []byte    // JSON that holds no schemas
	one   *schema   // a schema
	list  []*schema // a list of schemas
	named []named   // schemas by names
	form  form
}

type named struct {
	name string
	*schema
}

type form uint8

const (
	rawForm form = iota
	oneForm
	listForm
	namedForm
)

// formOf is the form that the value of a keyword has where it is what it should be.
func formOf(key string) form {
	switch key {
	case "items", "additionalProperties", "unevaluatedProperties", "unevaluatedItems", "contains", "propertyNames", "not", "if", "then", "else", "contentSchema":
		return oneForm
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return listForm
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
		return namedForm
	}
	return rawForm
}

// read reads the schema at n. What is not a schema where one belongs is kept as it is.
func read(doc *rawjson.Doc, n rawjson.Node) *schema {
	if doc.Kind(n) == rawjson.Bool {
		always := doc.IsTrue(n)
		return &schema{always: &always}
	}
	s := &schema{}
	for m := doc.First(n); m != rawjson.None; m = doc.Next(m) {
		s.members = append(s.members, readMember(doc, m))
	}
	return s
}

func readMember(doc *rawjson.Doc, m rawjson.Node) member {
	made := member{key: doc.Key(m), form: formOf(doc.Key(m))}
	kind := doc.Kind(m)
	switch {
	case made.form == oneForm && isSchema(kind):
		made.one = read(doc, m)
	case made.form == listForm && kind == rawjson.Array, made.form == namedForm && kind == rawjson.Object:
		for c := doc.First(m); c != rawjson.None; c = doc.Next(c) {
			if !isSchema(doc.Kind(c)) {
				return member{key: made.key, raw: doc.Raw(m)}
			}
			if made.form == listForm {
				made.list = append(made.list, read(doc, c))
			} else {
				made.named = append(made.named, named{doc.Key(c), read(doc, c)})
			}
		}
	default:
		return member{key: made.key, raw: doc.Raw(m)}
	}
	return made
}

func isSchema(k rawjson.Kind) bool { return k == rawjson.Object || k == rawjson.Bool }

func (s *schema) append(dst []byte) []byte {
	if s.always != nil {
		return strconv.AppendBool(dst, *s.always)
	}
	dst = append(dst, '{')
	for i := range s.members {
		m := &s.members[i]
		dst = m.appendValue(append(rawjson.AppendString(separated(dst, i), m.key), ':'))
	}
	return append(dst, '}')
}

func (m *member) appendValue(dst []byte) []byte {
	switch m.form {
	case oneForm:
		return m.one.append(dst)
	case listForm:
		dst = append(dst, '[')
		for i, c := range m.list {
			dst = c.append(separated(dst, i))
		}
		return append(dst, ']')
	case namedForm:
		dst = append(dst, '{')
		for i, c := range m.named {
			dst = c.append(append(rawjson.AppendString(separated(dst, i), c.name), ':'))
		}
		return append(dst, '}')
	case rawForm:
	}
	return append(dst, m.raw...)
}

// separated adds a comma before what is not the first.
func separated(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return dst
}

func (s *schema) get(key string) *member {
	if i := slices.IndexFunc(s.members, func(m member) bool { return m.key == key }); i >= 0 {
		return &s.members[i]
	}
	return nil
}

func (s *schema) has(keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return s.get(key) != nil })
}

// raw is the value of a keyword that holds no schemas; nil: there is none.
func (s *schema) raw(key string) []byte {
	if m := s.get(key); m != nil && m.form == rawForm {
		return m.raw
	}
	return nil
}

// set replaces a keyword in its place, or adds it.
func (s *schema) set(m member) {
	if old := s.get(m.key); old != nil {
		*old = m
		return
	}
	s.members = append(s.members, m)
}

func (s *schema) drop(keys ...string) {
	s.members = slices.DeleteFunc(s.members, func(m member) bool { return slices.Contains(keys, m.key) })
}

// eachBelow calls f for the schemas directly below s, which f may replace.
func (s *schema) eachBelow(f func(*schema) *schema) {
	for i := range s.members {
		m := &s.members[i]
		if m.one != nil {
			m.one = f(m.one)
		}
		for j := range m.list {
			m.list[j] = f(m.list[j])
		}
		for j := range m.named {
			m.named[j].schema = f(m.named[j].schema)
		}
	}
}

// types are the types that a schema names; nil: it names none.
func (s *schema) types() (all []string) {
	doc, err := rawjson.Parse(s.raw("type"))
	if err != nil {
		return nil
	}
	if root := doc.Root(); doc.Kind(root) == rawjson.String {
		return []string{doc.Str(root)}
	}
	for c := doc.First(doc.Root()); c != rawjson.None; c = doc.Next(c) {
		all = append(all, doc.Str(c))
	}
	return all
}

// enum are the values of an enum as JSON; ok is false if there is none.
func (s *schema) enum() (all [][]byte, ok bool) {
	raw := s.raw("enum")
	if len(raw) == 0 || raw[0] != '[' {
		return nil, false
	}
	return slices.Collect(rawjson.Elements(raw)), true
}

func typeMember(types ...string) member {
	if len(types) == 1 {
		return member{key: "type", raw: rawjson.AppendString(nil, types[0])}
	}
	return listMember("type", types, rawjson.AppendString[string])
}

// listMember is a keyword with a list.
func listMember[T any](key string, values []T, write func(dst []byte, v T) []byte) member {
	raw := []byte{'['}
	for i, v := range values {
		raw = write(separated(raw, i), v)
	}
	return member{key: key, raw: append(raw, ']')}
}

// plain is a schema of one type.
func plain(kind string) *schema { return &schema{members: []member{typeMember(kind)}} }
