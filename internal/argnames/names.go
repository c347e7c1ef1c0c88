// Package argnames gives arguments names that clients accept. Some clients make
// a class of every input schema and lose the whole list of tools where a
// property begins with an underscore or has the name of a method of that class.
// Such a property is published under another name, at any depth, and renamed
// back in the arguments of a call; the original name is accepted as well.
//
// It does not know where a schema comes from, and validates only through the
// schema it is given. The gateway calls it when it publishes a tool and before
// input validation.
package argnames

import (
	"bytes"
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Names are the properties of one input schema that are published under other
// names. A nil Names has none.
type Names struct {
	schema    *rawjson.Doc      // with the original names
	published map[string]string // by the original name
	original  map[string]string // by the published name
}

// May reports whether an input schema may have such properties. It is fast and
// may be wrong in favor of true.
func May(input []byte) bool {
	return bytes.Contains(input, []byte(`"_`)) || bytes.Contains(input, []byte(`"model_`)) || bytes.Contains(input, []byte(`\u`))
}

// Of renames the properties of an input schema, a JSON object. Reserved names
// are not used. An original name has one published name in the whole schema,
// which is the name of no other property in it.
func Of(input []byte, reserved ...string) *Names {
	if !May(input) {
		return nil
	}
	return Matching(nil, input, reserved...)
}

// Matching is Of, and renames the properties as well that do not match a pattern; nil:
// none. The pattern has to allow letters, digits and _, up to 64 of them.
func Matching(pattern *regexp.Regexp, input []byte, reserved ...string) *Names {
	doc, err := rawjson.Parse(input)
	if err != nil {
		return nil
	}
	f := finder{doc: doc, names: map[string]bool{}}
	f.schema(doc.Root())
	taken := f.names
	for _, name := range reserved {
		taken[name] = true
	}
	n := &Names{schema: doc, published: map[string]string{}, original: map[string]string{}}
	for _, name := range f.order {
		as := name
		if pattern != nil && !pattern.MatchString(name) {
			as = matching(name, taken)
		}
		if rejected(as) {
			as = alternative(as, taken)
		}
		if as != name {
			taken[as], n.published[name], n.original[as] = true, as, name
		}
	}
	if len(n.original) == 0 {
		return nil
	}
	return n
}

// matching returns a name of letters, digits and _ that is not taken. What is longer
// keeps its beginning.
func matching(name string, taken map[string]bool) string {
	const longest = 64
	as := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, name)
	as = strings.Trim(as, "_")
	if as == "" {
		as = "argument"
	}
	as = as[:min(len(as), longest)]
	first := as
	for k := 2; taken[as]; k++ {
		suffix := "_" + strconv.Itoa(k)
		as = first[:min(len(first), longest-len(suffix))] + suffix
	}
	return as
}

// rejected reports whether clients that make a class of a schema reject a field
// of that name.
func rejected(name string) bool {
	if strings.HasPrefix(name, "_") {
		return true
	}
	switch name { // of the classes of pydantic
	case "model_config", "model_dump", "model_dump_json", "model_validate", "model_validate_json", "model_validate_strings":
		return true
	}
	return false
}

// alternative returns the name without its leading underscores; if that is taken they
// are moved to its end, followed by a number if necessary.
func alternative(name string, taken map[string]bool) string {
	rest := strings.TrimLeft(name, "_")
	marks := name[:len(name)-len(rest)]
	if rest == "" {
		rest = "underscore"
	}
	as := rest
	if taken[as] || rejected(as) {
		as += cmp.Or(marks, "_")
	}
	for k, first := 2, as; taken[as]; k++ {
		as = first + strconv.Itoa(k)
	}
	return as
}

// finder collects the names of properties in the order of the schema.
type finder struct {
	doc   *rawjson.Doc
	names map[string]bool
	order []string
}

func (f *finder) name(name string) {
	if !f.names[name] {
		f.names[name] = true
		f.order = append(f.order, name)
	}
}

func (f *finder) schema(n rawjson.Node) {
	for m := f.doc.First(n); m != rawjson.None; m = f.doc.Next(m) {
		switch holds := contentOf(f.doc, n, m); holds {
		case byName, several:
			for p := f.doc.First(m); p != rawjson.None; p = f.doc.Next(p) {
				if holds == byName {
					f.name(f.doc.Key(p))
				}
				f.schema(p)
			}
		case single:
			f.schema(m)
		default:
		}
	}
}

// content is what a keyword contains.
type content uint8

const (
	anything content = iota
	single           // a schema
	several          // a list of schemas, or schemas by names that are not properties
	byName           // schemas by the names of properties
	nameList         // names of properties, in a list or by the names of others
)

// contentOf returns the content of member m of schema n.
func contentOf(doc *rawjson.Doc, n, m rawjson.Node) content {
	if doc.Kind(n) != rawjson.Object {
		return anything
	}
	switch doc.Key(m) {
	case "properties", "dependentSchemas":
		return byName
	case "patternProperties", "$defs", "definitions", "allOf", "anyOf", "oneOf", "prefixItems":
		return several
	case "items":
		if doc.Kind(m) == rawjson.Array {
			return several
		}
		return single
	case "additionalProperties", "unevaluatedProperties", "unevaluatedItems", "additionalItems", "contains", "not", "if", "then", "else":
		return single
	case "required", "dependentRequired":
		return nameList
	}
	return anything
}
