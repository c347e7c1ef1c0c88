package docgen

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Bounds of one table.
const (
	maxDepth   = 4
	maxRows    = 150
	maxChoices = 12 // values of an enum
)

// Row is one line of a table about a schema.
type Row struct {
	Name     string // "owner.login", "labels[].name"; empty: the whole value
	Type     string // "string, date-time, or null"
	Required bool
	About    string
	Allowed  []string // the values of an enum, as JSON
	More     []Fact
}

// Fact is one property of a value: "default" 10.
type Fact struct{ Words, Value string }

// rows describes a schema: the value itself and the members of objects in it.
func rows(schema []byte) []Row {
	doc, err := rawjson.Parse(schema)
	if err != nil {
		return nil
	}
	t := table{doc: doc}
	t.add("", doc.Root(), false, 0, nil)
	return t.rows
}

// members describes the members of an object's schema.
func members(schema []byte) []Row {
	doc, err := rawjson.Parse(schema)
	if err != nil {
		return nil
	}
	t := table{doc: doc}
	t.properties("", doc.Root(), 1, nil)
	return t.rows
}

type table struct {
	doc  *rawjson.Doc
	rows []Row
}

// add writes the row of the schema at n and those of its parts. above are the
// enclosing schemas: a recursive one ends there.
func (t *table) add(name string, n rawjson.Node, required bool, depth int, above []rawjson.Node) {
	if t.doc.Kind(n) == rawjson.Bool && !t.doc.IsTrue(n) { // no value is allowed
		return
	}
	about := t.doc.Str(t.doc.Get(n, "description"))
	n = t.deref(n)
	if about == "" {
		about = t.doc.Str(t.doc.Get(n, "description"))
	}
	if len(t.rows) == maxRows {
		t.rows = append(t.rows, Row{Name: "…", About: "there is more: see the schema"})
	}
	if len(t.rows) > maxRows {
		return
	}
	row := Row{Name: name, Required: required, About: sentence(about)}
	row.Type, row.Allowed, row.More = t.typeOf(n), t.allowed(n), t.facts(n)
	if slices.Contains(above, n) {
		row.About = strings.TrimSpace(row.About + " (as above)")
		t.rows = append(t.rows, row)
		return
	}
	t.rows = append(t.rows, row)
	t.properties(name, n, depth, append(slices.Clip(above), n))
}

// properties writes the rows of an object's members, and of those of a list's
// elements.
func (t *table) properties(name string, n rawjson.Node, depth int, above []rawjson.Node) {
	if depth >= maxDepth {
		return
	}
	d := t.doc
	required := map[string]bool{}
	list := d.Get(n, "required")
	for r := d.First(list); r != rawjson.None; r = d.Next(r) {
		required[d.Str(r)] = true
	}
	props := d.Get(n, "properties")
	for p := d.First(props); p != rawjson.None; p = d.Next(p) {
		t.add(join(name, d.Key(p)), p, required[d.Key(p)], depth+1, above)
	}
	if items := d.Get(n, "items"); d.Kind(items) == rawjson.Object {
		t.elements(name+"[]", items, depth, above)
	}
	if other := d.Get(n, "additionalProperties"); d.Kind(other) == rawjson.Object && d.Len(other) > 0 {
		t.elements(join(name, "*"), other, depth, above)
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		all := d.Get(n, key)
		for one := d.First(all); one != rawjson.None; one = d.Next(one) {
			if target := t.deref(one); !slices.Contains(above, target) {
				t.properties(name, target, depth, append(slices.Clip(above), target))
			}
		}
	}
}

// elements writes the elements of a list or the values of a map; as a row of
// their own only where there is something to write about them.
func (t *table) elements(name string, n rawjson.Node, depth int, above []rawjson.Node) {
	target := t.deref(n)
	if slices.Contains(above, target) {
		return
	}
	if t.allowed(target) != nil || t.doc.Str(t.doc.Get(target, "description")) != "" || strings.HasSuffix(name, "*") {
		t.add(name, n, false, depth, above)
		return
	}
	t.properties(name, target, depth, append(slices.Clip(above), target))
}

func join(name, member string) string {
	if name == "" {
		return member
	}
	return name + "." + member
}

func (t *table) deref(n rawjson.Node) rawjson.Node {
	for range 16 {
		ref := t.doc.Str(t.doc.Get(n, "$ref"))
		if !strings.HasPrefix(ref, "#") {
			return n
		}
		target := t.doc.Root()
		if len(ref) > 1 {
			target = t.doc.Pointer(ref[1:])
		}
		if target == rawjson.None {
			return n
		}
		n = target
	}
	return n
}

// typeOf describes the type of a value.
func (t *table) typeOf(n rawjson.Node) string { return t.typeWithin(n, 0) }

func (t *table) typeWithin(n rawjson.Node, depth int) string {
	if depth > maxDepth {
		return "any"
	}
	d := t.doc
	n = t.deref(n)
	var names []string
	switch kind := d.Get(n, "type"); d.Kind(kind) {
	case rawjson.String:
		names = []string{t.namedType(n, d.Str(kind), depth)}
	case rawjson.Array:
		for k := d.First(kind); k != rawjson.None; k = d.Next(k) {
			names = append(names, t.namedType(n, d.Str(k), depth))
		}
	default:
		for _, key := range []string{"oneOf", "anyOf", "allOf"} {
			all := d.Get(n, key)
			for o := d.First(all); o != rawjson.None; o = d.Next(o) {
				if name := t.typeWithin(o, depth+1); !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	switch {
	case len(names) > 0:
		return strings.Join(names, " or ")
	case d.Get(n, "properties") != rawjson.None:
		return "object"
	}
	return "any"
}

// namedType describes one type of the schema at n.
func (t *table) namedType(n rawjson.Node, kind string, depth int) string {
	if kind == "array" {
		if items := t.doc.Get(n, "items"); t.doc.Kind(items) == rawjson.Object {
			return "list of " + t.typeWithin(items, depth+1)
		}
		return "list"
	}
	if format := t.doc.Str(t.doc.Get(n, "format")); format != "" && kind != "null" {
		return kind + " (" + format + ")"
	}
	return kind
}

// allowed lists the values of an enum.
func (t *table) allowed(n rawjson.Node) (all []string) {
	if c := t.doc.Get(n, "const"); c != rawjson.None {
		return []string{string(t.doc.Raw(c))}
	}
	enum := t.doc.Get(n, "enum")
	for e := t.doc.First(enum); e != rawjson.None; e = t.doc.Next(e) {
		if len(all) == maxChoices {
			return append(all, "… "+strconv.Itoa(t.doc.Len(enum))+" in all")
		}
		all = append(all, string(t.doc.Raw(e)))
	}
	return all
}

// facts lists the other properties of a value.
func (t *table) facts(n rawjson.Node) (all []Fact) {
	for _, k := range []struct{ key, words string }{
		{"default", "Default"},
		{"example", "Example"},
		{"minimum", "At least"},
		{"maximum", "At most"},
		{"exclusiveMinimum", "Above"},
		{"exclusiveMaximum", "Below"},
		{"minLength", "At least in characters:"},
		{"maxLength", "At most in characters:"},
		{"minItems", "At least in elements:"},
		{"maxItems", "At most in elements:"},
		{"pattern", "Matches"},
	} {
		if v := t.doc.Get(n, k.key); v != rawjson.None {
			all = append(all, Fact{k.words, shortened(t.doc.Raw(v))})
		}
	}
	if list := t.doc.Get(n, "examples"); t.doc.Kind(list) == rawjson.Array && t.doc.Len(list) > 0 {
		all = append(all, Fact{"Example", shortened(t.doc.Raw(t.doc.First(list)))})
	}
	return all
}

func shortened(raw []byte) string {
	const most = 80
	if len(raw) > most {
		return strings.ToValidUTF8(string(raw[:most]), "") + "…"
	}
	return string(raw)
}

// sentence returns s with a final period, so that another sentence can follow.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || strings.ContainsRune(".!?:;)", rune(s[len(s)-1])) {
		return s
	}
	return s + "."
}
