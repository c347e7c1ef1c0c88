package schema

import (
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/suggest"
)

// PathError says that a schema does not know a path of a projection.
type PathError struct {
	Path string   // as it was given
	At   string   // the step that is not known
	Near []string // paths that are known and look alike, or what is known there
	// Sure tells that a name there looks alike, or that the schema admits no
	// other names.
	Sure bool
}

// Error says what could be meant.
func (e *PathError) Error() string {
	text := "path " + excerpt([]byte(e.Path)) + ": " + e.At + " is not known"
	if len(e.Near) > 0 {
		text += "; there is " + strings.Join(e.Near, ", ")
	}
	return text
}

// know answers the first path that the schema does not know.
func (x *sites) know(paths []path) error {
	for _, p := range paths {
		at := []rawjson.Node{x.doc.Root()}
		for i, k := range p.tokens {
			l := x.level(at)
			if !k.each {
				l.through()
			}
			if l.free {
				break
			}
			if at = l.step(k); len(at) == 0 {
				near, alike := x.near(p, i, l)
				return &PathError{Path: p.text, At: excerpt([]byte(k.text())), Near: near, Sure: alike || l.closed()}
			}
		}
	}
	return nil
}

func (k token) text() string {
	if k.each {
		return "*"
	}
	return k.name
}

// level is all that the schemas at some places say about one value.
type level struct {
	*sites
	all  []rawjson.Node // with those that speak of the same value
	free bool           // one of them may have any members or items
}

// maxLevel is how many schemas of one value are looked at.
const maxLevel = 2000

func (x *sites) level(at []rawjson.Node) level {
	l := level{sites: x}
	for _, n := range at {
		l.add(n)
	}
	return l
}

// add adds a schema and those that speak of the same value.
func (l *level) add(n rawjson.Node) {
	if len(l.all) >= maxLevel || slices.Contains(l.all, n) {
		l.free = l.free || len(l.all) >= maxLevel
		return
	}
	l.all = append(l.all, n)
	open := l.doc.Kind(n) != rawjson.Bool || l.doc.IsTrue(n)
	for m := l.doc.First(n); m != rawjson.None; m = l.doc.Next(m) {
		k := l.keyword(m)
		switch {
		case k == kwRef:
			if r := l.refAt(m); r != nil && r.target >= 0 {
				l.add(l.list[r.target].node)
			}
		case k == kwType:
			open = open && l.container(m)
			continue
		case k == kwAllOf, k == kwAnyOf, k == kwOneOf, k == kwDependentSchemas:
			for c := l.doc.First(m); c != rawjson.None; c = l.doc.Next(c) {
				l.add(c)
			}
		case k == kwThen, k == kwElse, k == kwIf:
			l.add(m)
		case k == kwConst, k == kwEnum:
		case k.form() == holdsNone, k == kwNot, k == kwDefs, k == kwDefinitions:
			continue
		}
		open = false
	}
	l.free = l.free || open
}

// container reports whether a type names one of objects and arrays.
func (l *level) container(m rawjson.Node) bool {
	raw := string(l.doc.Raw(m))
	return strings.Contains(raw, `"object"`) || strings.Contains(raw, `"array"`)
}

// step answers the schemas of what a token leads to.
func (l *level) step(k token) []rawjson.Node {
	var to []rawjson.Node
	for _, n := range l.all {
		to = append(to, l.member(n, k)...)
	}
	if k.each {
		return append(to, l.items()...)
	}
	return to
}

// through adds what the items of arrays are like, and their items: names pass
// through.
func (l *level) through() {
	for known := 0; known < len(l.all) && !l.free; {
		known = len(l.all)
		for _, n := range l.items() {
			l.add(n)
		}
	}
}

func (l *level) items() []rawjson.Node {
	var list []rawjson.Node
	for _, n := range l.all {
		for _, name := range []string{"items", "contains", "unevaluatedItems"} {
			if m := l.doc.Get(n, name); m != rawjson.None {
				list = append(list, m)
			}
		}
		prefix := l.doc.Get(n, "prefixItems")
		for c := l.doc.First(prefix); c != rawjson.None; c = l.doc.Next(c) {
			list = append(list, c)
		}
	}
	return list
}

// member answers the schemas that n has for the members that a token means.
func (l *level) member(n rawjson.Node, k token) []rawjson.Node {
	var to []rawjson.Node
	properties, patterns := l.doc.Get(n, "properties"), l.doc.Get(n, "patternProperties")
	for c := l.doc.First(properties); c != rawjson.None; c = l.doc.Next(c) {
		if k.each || l.doc.Key(c) == k.name {
			to = append(to, c)
		}
	}
	for c := l.doc.First(patterns); c != rawjson.None; c = l.doc.Next(c) {
		if matched, sure := newMatcher(l.doc.Key(c)).names(k.name); k.each || matched || !sure {
			to = append(to, c)
		}
	}
	for _, name := range []string{"additionalProperties", "unevaluatedProperties"} {
		if m := l.doc.Get(n, name); m != rawjson.None && string(l.doc.Raw(m)) != "false" {
			to = append(to, m)
		}
	}
	return to
}

const maxNear = 5

// near answers the paths that look like the one whose step i is not known, the
// most alike first, or what there is in the order of the document.
func (x *sites) near(p path, i int, l level) (names []string, found bool) {
	prefix := ""
	for _, k := range p.tokens[:i] {
		prefix = join(prefix, k.text())
	}
	names = l.names()
	alike := suggest.Near(p.tokens[i].text(), names, maxNear)
	if alike != nil {
		names = alike
	}
	names = names[:min(len(names), maxNear)]
	for i, name := range names {
		names[i] = join(prefix, name)
	}
	return names, alike != nil
}

// closed reports whether a schema of the value admits no members but those that
// are declared.
func (l *level) closed() bool {
	for _, n := range l.all {
		for _, name := range []string{"additionalProperties", "unevaluatedProperties"} {
			if m := l.doc.Get(n, name); m != rawjson.None && string(l.doc.Raw(m)) == "false" {
				return true
			}
		}
	}
	return false
}

func join(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + "." + name
}

// names answers the names that are declared on a level.
func (l *level) names() []string {
	var list []string
	for _, n := range l.all {
		properties := l.doc.Get(n, "properties")
		for c := l.doc.First(properties); c != rawjson.None && len(list) < maxLevel; c = l.doc.Next(c) {
			if name := l.doc.Key(c); !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}
