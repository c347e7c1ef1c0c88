package schema

import (
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// maxCandidates bounds the schema objects that are considered for one violation.
const maxCandidates = 1000

// Locate returns, for each violation, the JSON Pointer of the schema object whose
// keyword is violated, in the document of s and behind all references: a definition
// that several schemas share has one pointer. A missing member is located at its own
// schema, below properties, whether it has one or not. Pointers have names from the
// document alone, none from the value. Where several branches of a union have the
// keyword it is the first that the value cannot satisfy; where none has, it is the
// schema object of the value, and empty for what concerns no schema, such as the
// syntax.
//
// It reads the document again and is for values that violate it.
func (s *Schema) Locate(found []Violation) []string {
	doc, err := rawjson.Parse(s.doc)
	if err != nil {
		return make([]string, len(found)) // unreachable: it was compiled
	}
	all := make([]string, len(found))
	for i := range found {
		all[i] = locate(doc, found[i])
	}
	return all
}

func locate(doc *rawjson.Doc, v Violation) string {
	switch v.Keyword {
	case "syntax", "range", "limit":
		return ""
	}
	f := finder{doc: doc}
	path := v.Path
	var name string // of a member that is not allowed
	if v.Keyword == "additionalProperties" || v.Keyword == "unevaluatedProperties" {
		if i := strings.LastIndexByte(path, '/'); i >= 0 {
			path, name = path[:i], unescapeToken(path[i+1:])
		}
	}
	f.open(doc.Root())
	if path != "" {
		for token := range strings.SplitSeq(path[1:], "/") {
			above := f.at[0]
			if f.step(unescapeToken(token)); len(f.at) == 0 {
				return pointerOf(doc, above) // below it nothing is described
			}
		}
	}
	at := f.choose(v, name)
	pointer := pointerOf(doc, at)
	switch v.Keyword {
	case "required", "dependentRequired", "dependencies":
		if missing, ok := f.missing(at, v); ok {
			pointer += "/properties/" + rawjson.EscapeToken(missing)
		}
	}
	return pointer
}

func unescapeToken(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}

// finder walks a schema document along the path of a value.
type finder struct {
	doc  *rawjson.Doc
	at   []rawjson.Node // the schemas that may apply to the value
	seen map[rawjson.Node]bool
}

// open adds a schema, and those that apply to the same value.
func (f *finder) open(n rawjson.Node) {
	if f.seen == nil {
		f.seen = map[rawjson.Node]bool{}
	}
	if n == rawjson.None || f.seen[n] || len(f.at) >= maxCandidates {
		return
	}
	f.seen[n] = true
	f.at = append(f.at, n)
	if f.doc.Kind(n) != rawjson.Object {
		return
	}
	for m := f.doc.First(n); m != rawjson.None; m = f.doc.Next(m) {
		switch f.doc.Key(m) {
		case "$ref":
			f.open(f.target(m))
		case "allOf", "anyOf", "oneOf":
			f.each(m)
		case "then", "else":
			f.open(m)
		case "dependentSchemas":
			f.each(m)
		}
	}
}

// each opens the schemas in an array or an object.
func (f *finder) each(list rawjson.Node) {
	for c := f.doc.First(list); c != rawjson.None; c = f.doc.Next(c) {
		f.open(c)
	}
}

func (f *finder) target(ref rawjson.Node) rawjson.Node {
	if f.doc.Kind(ref) != rawjson.String {
		return rawjson.None
	}
	c := compiler{doc: f.doc}
	to, ok := c.target(ref)
	if !ok {
		return rawjson.None
	}
	return to
}

// step goes to the schemas of a member or an item.
func (f *finder) step(token string) {
	from := f.at
	f.at, f.seen = nil, nil
	index, err := strconv.Atoi(token)
	for _, n := range from {
		if f.doc.Kind(n) != rawjson.Object {
			continue
		}
		f.member(n, token)
		if err == nil {
			f.item(n, index)
		}
	}
}

func (f *finder) member(n rawjson.Node, name string) {
	known := f.doc.Get(f.doc.Get(n, "properties"), name)
	f.open(known)
	if patterns := f.doc.Get(n, "patternProperties"); patterns != rawjson.None {
		for p := f.doc.First(patterns); p != rawjson.None; p = f.doc.Next(p) {
			left := patternSteps
			if m := newMatcher(f.doc.Key(p)); m.run != nil {
				if matched, _ := m.run.Match([]byte(name), &left); matched {
					known = p
					f.open(p)
				}
			}
		}
	}
	if known == rawjson.None {
		f.open(f.doc.Get(n, "additionalProperties"))
		f.open(f.doc.Get(n, "unevaluatedProperties"))
	}
}

// patternSteps bounds the match of one name.
const patternSteps = 1 << 16

func (f *finder) item(n rawjson.Node, index int) {
	prefix := f.doc.Get(n, "prefixItems")
	if prefix != rawjson.None && f.doc.Kind(prefix) == rawjson.Array && index < f.doc.Len(prefix) {
		c := f.doc.First(prefix)
		for range index {
			c = f.doc.Next(c)
		}
		f.open(c)
		return
	}
	f.open(f.doc.Get(n, "items"))
	f.open(f.doc.Get(n, "unevaluatedItems"))
}

// choose returns the schema object that v is about.
func (f *finder) choose(v Violation, name string) rawjson.Node {
	for _, n := range f.at {
		if f.violates(n, v, name) {
			return n
		}
	}
	keyword, _, _ := strings.Cut(v.Keyword, "/")
	for _, n := range f.at {
		if f.doc.Get(n, keyword) != rawjson.None {
			return n
		}
	}
	return f.at[0]
}

// violates reports whether v can be about the schema n.
func (f *finder) violates(n rawjson.Node, v Violation, name string) bool {
	if f.doc.Kind(n) != rawjson.Object {
		return v.Keyword == "false" && f.doc.Kind(n) == rawjson.Bool && !f.doc.IsTrue(n)
	}
	keyword, _, _ := strings.Cut(v.Keyword, "/")
	k := f.doc.Get(n, keyword)
	if k == rawjson.None {
		return false
	}
	switch keyword {
	case "type":
		return !f.admits(k, v.Kind())
	case "required", "dependentRequired", "dependencies":
		_, ok := f.missing(n, v)
		return ok
	case "additionalProperties":
		return f.doc.Get(f.doc.Get(n, "properties"), name) == rawjson.None
	}
	return true
}

// admits reports whether the keyword type has a kind.
func (f *finder) admits(types rawjson.Node, kind string) bool {
	is := func(n rawjson.Node) bool {
		return f.doc.IsStr(n, kind) || kind == "integer" && f.doc.IsStr(n, "number")
	}
	if f.doc.Kind(types) == rawjson.String {
		return is(types)
	}
	for c := f.doc.First(types); c != rawjson.None; c = f.doc.Next(c) {
		if is(c) {
			return true
		}
	}
	return false
}

// missing returns the name of the member that v says is missing.
func (f *finder) missing(n rawjson.Node, v Violation) (name string, ok bool) {
	list := f.doc.Get(n, v.Keyword)
	if list == rawjson.None {
		return "", false
	}
	if v.Keyword == "required" {
		return f.named(list, v.Expected)
	}
	for c := f.doc.First(list); c != rawjson.None; c = f.doc.Next(c) {
		if name, ok = f.named(c, v.Expected); ok {
			return name, true
		}
	}
	return "", false
}

// named finds the name in a list that the words of a violation have.
func (f *finder) named(list rawjson.Node, expected string) (name string, ok bool) {
	if f.doc.Kind(list) != rawjson.Array {
		return "", false
	}
	for c := f.doc.First(list); c != rawjson.None; c = f.doc.Next(c) {
		if f.doc.Kind(c) == rawjson.String && member(f.doc.Str(c)) == expected {
			return f.doc.Str(c), true
		}
	}
	return "", false
}

// Kind returns the kind of the value at v.Path: a type of JSON Schema, with integer
// for a number without a fraction, or "nothing" if the value is missing.
func (v Violation) Kind() string {
	got := strings.Trim(v.Got, " \t\r\n") // Check allows space around a value
	if got == nothing || got == "" {
		return nothing
	}
	switch rawjson.KindOf(got[0]) {
	case rawjson.IsString:
		return "string"
	case rawjson.IsArray:
		return "array"
	case rawjson.IsObject:
		return "object"
	case rawjson.IsNull:
		return "null"
	case rawjson.IsNumber:
		if len(v.Got) >= rawjson.MaxGot || rawjson.Check([]byte(got)) != nil { // cut off, or what came is no number of JSON
			return "number"
		}
		if d := rawjson.ParseDecimal([]byte(got)); d.IsInteger() {
			return "integer"
		}
		return "number"
	case rawjson.IsBool:
		return "boolean"
	}
	return nothing
}
