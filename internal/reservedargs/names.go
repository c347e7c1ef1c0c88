package reservedargs

import (
	"bytes"
	"strconv"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Set is a set of reserved arguments.
type Set uint8

// The reserved arguments.
const (
	Confirmed Set = 1 << iota // the caller states that the user agreed
	Token                     // requests the next part of a result
	Fields                    // selects parts of the value
)

// count is the number of reserved arguments.
const count = 3

// argument is a reserved argument.
type argument struct {
	set    Set
	name   string
	page   string // the name on the output-structure page; empty: none
	schema string
}

// arguments are in the order in which they are published. No name begins with an
// underscore: clients that generate classes from input schemas refuse the whole
// list because of one.
func arguments() [count]argument {
	return [...]argument{
		{Confirmed, "confirmed", "__confirmed", `{"type":"boolean","description":"true: the user agreed to this call"}`},
		{Token, "resume_token", "", `{"type":"string","description":"of a partial answer: returns its next part, needs no other argument"}`},
		{Fields, "fields", "_fields", `{"type":"array","items":{"type":"string"},"description":"return only these parts of the answer, for example [\"items[].id\"]"}`},
	}
}

// All returns the default names of the reserved arguments.
func All() (names []string) {
	for _, a := range arguments() {
		names = append(names, a.name)
	}
	return names
}

// Names holds the names of one tool's reserved arguments, which differ from its
// own arguments. The zero value has none.
type Names struct {
	set   Set
	names [count]string
	pages [count]string // empty: the tool has an argument of that name, or there is none
}

// NamesFor names the arguments of set for a tool with this input schema. If the
// tool declares an argument of the same name, the reserved one is
// tenon_confirmed, or has a number.
func NamesFor(set Set, input []byte) Names {
	n := Names{set: set}
	taken := func(string) bool { return false }
	if mayHold(input, set) {
		if doc, err := rawjson.Parse(input); err == nil {
			own := declared(doc)
			taken = func(name string) bool { return own[name] }
		}
	}
	for i, a := range arguments() {
		if set&a.set == 0 {
			continue
		}
		n.names[i] = free(a.name, taken)
		if a.page != "" && !taken(a.page) {
			n.pages[i] = a.page
		}
	}
	return n
}

func free(name string, taken func(string) bool) string {
	if !taken(name) {
		return name
	}
	own := "tenon_" + name
	for k, first := 2, own; taken(own); k++ {
		own = first + "_" + strconv.Itoa(k)
	}
	return own
}

// Of returns the name of an argument; empty: it is not reserved.
func (n *Names) Of(s Set) string {
	for i, a := range arguments() {
		if a.set == s {
			return n.names[i]
		}
	}
	return ""
}

// Told returns the name of an argument in messages: onPage is for callers that
// follow the output-structure page.
func (n *Names) Told(s Set, onPage bool) string {
	for i, a := range arguments() {
		if onPage && a.set == s && n.pages[i] != "" {
			return n.pages[i]
		}
	}
	return n.Of(s)
}

// find returns the index of the argument with the name key, or -1.
func (n *Names) find(key string) int {
	for i := range count {
		if key != "" && (n.names[i] == key || n.pages[i] == key) {
			return i
		}
	}
	return -1
}

// mayHold is fast and can return true wrongly: a name can be written with
// escapes.
func mayHold(text []byte, set Set) bool {
	if set != 0 && bytes.Contains(text, []byte(`\u`)) {
		return true
	}
	for _, a := range arguments() {
		if set&a.set != 0 && bytes.Contains(text, []byte(a.name)) {
			return true // the other names contain it
		}
	}
	return false
}

// maxDepth and maxSchemas bound the search for the arguments of a tool.
const (
	maxDepth   = 16
	maxSchemas = 1000
)

// declared returns the names of all arguments in an input schema, also those in
// branches, which clients see as well.
func declared(doc *rawjson.Doc) map[string]bool {
	d := declarations{doc: doc, names: map[string]bool{}, seen: map[rawjson.Node]bool{}}
	d.visit(doc.Root(), 0)
	return d.names
}

type declarations struct {
	doc   *rawjson.Doc
	names map[string]bool
	seen  map[rawjson.Node]bool
}

func (d *declarations) visit(n rawjson.Node, depth int) {
	if depth > maxDepth || len(d.seen) == maxSchemas || d.seen[n] || d.doc.Kind(n) != rawjson.Object {
		return
	}
	d.seen[n] = true
	for m := d.doc.First(n); m != rawjson.None; m = d.doc.Next(m) {
		switch d.doc.Key(m) {
		case "properties":
			for p := d.doc.First(m); p != rawjson.None; p = d.doc.Next(p) {
				d.names[d.doc.Key(p)] = true
			}
		case "required":
			for p := d.doc.First(m); p != rawjson.None; p = d.doc.Next(p) {
				d.names[d.doc.Str(p)] = true
			}
		case "allOf", "anyOf", "oneOf", "dependentSchemas":
			for p := d.doc.First(m); p != rawjson.None; p = d.doc.Next(p) {
				d.visit(p, depth+1)
			}
		case "if", "then", "else":
			d.visit(m, depth+1)
		case "$ref":
			if ref := d.doc.Str(m); len(ref) > 0 && ref[0] == '#' {
				d.visit(d.doc.Pointer(ref[1:]), depth+1)
			}
		}
	}
}
