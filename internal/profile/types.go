package profile

import (
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// constraints are the keywords that say something of values of one type alone.
var constraints = map[string][]string{ //nolint:gochecknoglobals // a table that never changes
	"object": {"properties", "patternProperties", "additionalProperties", "propertyNames", "required", "minProperties", "maxProperties", "dependentRequired", "dependentSchemas"},
	"array":  {"items", "prefixItems", "contains", "minContains", "maxContains", "minItems", "maxItems", "uniqueItems"},
	"string": {"minLength", "maxLength", "pattern", "format", "contentEncoding", "contentMediaType", "contentSchema"},
	"number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format"},
}

func constraintsOf(kind string) []string {
	if kind == "integer" {
		kind = "number"
	}
	return constraints[kind]
}

// split writes a list of types as a branch of anyOf for each, with the keywords that
// are about it.
func (w *rewriter) split(s *schema) *schema {
	kinds := s.types()
	if raw := s.raw("type"); len(raw) == 0 || raw[0] != '[' || len(kinds) == 0 {
		return s
	}
	if slices.Contains(kinds, "number") {
		kinds = slices.DeleteFunc(kinds, func(k string) bool { return k == "integer" })
	}
	var branches []*schema
	for _, kind := range kinds {
		if b := s.branch(kind); b != nil {
			branches = append(branches, b)
		}
	}
	if len(branches) == 0 {
		return w.impossible(s, kinds)
	}
	s.drop("type", "enum")
	for _, kind := range kinds {
		s.drop(constraintsOf(kind)...)
	}
	if len(branches) == 1 {
		s.members = append(branches[0].members, s.members...)
		return s
	}
	s.addAnyOf(branches)
	return s
}

// branch is what a schema says of values of one type; nil: its enum has none.
func (s *schema) branch(kind string) *schema {
	b := plain(kind)
	if values, listed := s.enum(); listed {
		values = slices.DeleteFunc(values, func(v []byte) bool { return !isOf(v, kind) })
		if len(values) == 0 {
			return nil
		}
		if kind != "null" {
			b.set(enumMember(values))
		}
	}
	s.constrain(b, kind)
	return b
}

// constrain adds to a branch what s says of values of its type.
func (s *schema) constrain(b *schema, kind string) {
	for _, m := range s.members {
		if slices.Contains(constraintsOf(kind), m.key) {
			b.members = append(b.members, m)
		}
	}
}

// impossible leaves out the enum of a schema whose types none of its values has.
func (w *rewriter) impossible(s *schema, kinds []string) *schema {
	w.note("has an enum at %s of which no value has the type beside it", w.at())
	s.drop("enum")
	s.set(typeMember(kinds[0]))
	return s
}

// addAnyOf adds branches beside those that may be there.
func (s *schema) addAnyOf(branches []*schema) {
	either := member{key: "anyOf", form: listForm, list: branches}
	if !s.has("anyOf") {
		s.members = append(s.members, either)
		return
	}
	one := &schema{members: []member{either}}
	if all := s.get("allOf"); all != nil && all.form == listForm {
		all.list = append(all.list, one)
		return
	}
	s.set(member{key: "allOf", form: listForm, list: []*schema{one}})
}

func enumMember(values [][]byte) member {
	return listMember("enum", values, func(dst, v []byte) []byte { return append(dst, v...) })
}

// kindOf is the type of a JSON value, number for every number.
func kindOf(v []byte) string {
	switch v[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

func isOf(v []byte, kind string) bool {
	is := kindOf(v)
	if kind == "integer" && is == "number" {
		d := rawjson.ParseDecimal(v)
		return d.IsInteger()
	}
	return is == kind
}

// maxTold bounds the values of an enum that a description names.
const maxTold = 30

// textEnum keeps an enum where all values are texts. Other values go to branches of
// their types, whose description names them.
func (w *rewriter) textEnum(s *schema) *schema {
	values, ok := s.enum()
	if !ok || !slices.ContainsFunc(values, func(v []byte) bool { return v[0] != '"' }) {
		return s
	}
	allowed := s.types()
	kinds, of := byKind(values, allowed)
	if len(kinds) == 0 {
		return w.impossible(s, allowed)
	}
	branches := make([]*schema, len(kinds))
	for i, kind := range kinds {
		b := plain(kind)
		switch {
		case kind == "string":
			b.set(enumMember(of[kind]))
		case kind == "null", kind == "boolean" && len(of[kind]) > 1: // all that there are
		default:
			w.told(b, of[kind])
		}
		s.constrain(b, kind)
		branches[i] = b
	}
	s.drop("enum", "type")
	for _, kind := range kinds {
		s.drop(constraintsOf(kind)...)
	}
	if len(branches) > 1 {
		s.addAnyOf(branches)
		return s
	}
	for _, m := range branches[0].members {
		if m.key == "description" {
			m.raw = joined(s.raw("description"), m.raw)
		}
		s.set(m)
	}
	return s
}

// byKind sorts the values of an enum by their types, without those that are not
// allowed; nil: all are.
func byKind(values [][]byte, allowed []string) (kinds []string, of map[string][][]byte) {
	of = map[string][][]byte{}
	for _, v := range values {
		if allowed != nil && !slices.ContainsFunc(allowed, func(k string) bool { return isOf(v, k) }) {
			continue
		}
		kind := kindOf(v)
		if kind == "number" && !slices.Contains(allowed, "number") && isOf(v, "integer") {
			kind = "integer"
		}
		if of[kind] == nil {
			kinds = append(kinds, kind)
		}
		of[kind] = append(of[kind], v)
	}
	return kinds, of
}

// told names the values of an enum in a description.
func (w *rewriter) told(b *schema, values [][]byte) {
	var texts []string
	for i, v := range values {
		if i == maxTold {
			texts = append(texts, "...")
			break
		}
		texts = append(texts, string(v))
	}
	w.note("has an enum at %s whose values are no texts: they stand in the description", w.at())
	b.set(member{key: "description", raw: rawjson.AppendString(nil, "One of "+strings.Join(texts, ", ")+".")})
}

// joined is a description with a sentence behind it, both as JSON.
func joined(text, more []byte) []byte {
	if len(text) == 0 || text[0] != '"' {
		return more
	}
	t := string(rawjson.AppendUnescaped(nil, text[1:len(text)-1]))
	m := string(rawjson.AppendUnescaped(nil, more[1:len(more)-1]))
	if t = strings.TrimSpace(t); t != "" && !strings.HasSuffix(t, ".") {
		t += "."
	}
	return rawjson.AppendString(nil, strings.TrimSpace(t+" "+m))
}
