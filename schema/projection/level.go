package projection

import (
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/internal/ecmaregexp"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/schemadoc"
	"github.com/tenon-mcp/tenon/internal/suggest"
)

// PathError is the error of a projection's path that a schema does not declare.
type PathError struct {
	Path string   // as given
	At   string   // the unknown step
	Near []string // similar known paths, or all known ones there
	// Sure reports that a name there is similar, or that the schema admits no
	// other names.
	Sure bool
}

// Error names the known paths.
func (e *PathError) Error() string {
	text := "path " + rawjson.Excerpt([]byte(e.Path)) + ": " + e.At + " is not known"
	if len(e.Near) > 0 {
		text += "; there is " + strings.Join(e.Near, ", ")
	}
	return text
}

// checkPaths returns an error for the first path that the schema does not declare.
func checkPaths(x *schemadoc.Locations, paths []path) error {
	for _, p := range paths {
		at := []rawjson.Node{x.Doc.Root()}
		for i, k := range p.tokens {
			l := levelOf(x, at)
			if !k.each {
				l.addItems()
			}
			if l.free {
				break
			}
			if at = l.step(k); len(at) == 0 {
				near, alike := similar(p, i, l)
				return &PathError{Path: p.text, At: rawjson.Excerpt([]byte(k.text())), Near: near, Sure: alike || l.closed()}
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

// level is the schemas that apply to one value.
type level struct {
	*schemadoc.Locations
	all  []rawjson.Node // including subschemas that apply to the same value
	free bool           // one of them allows any members or items
}

// maxLevel bounds the schemas that are considered for one value.
const maxLevel = 2000

func levelOf(x *schemadoc.Locations, at []rawjson.Node) level {
	l := level{Locations: x}
	for _, n := range at {
		l.add(n)
	}
	return l
}

// add adds a schema and its subschemas that apply to the same value.
func (l *level) add(n rawjson.Node) {
	if len(l.all) >= maxLevel || slices.Contains(l.all, n) {
		l.free = l.free || len(l.all) >= maxLevel
		return
	}
	l.all = append(l.all, n)
	open := l.Doc.Kind(n) != rawjson.Bool || l.Doc.IsTrue(n)
	for m := l.Doc.First(n); m != rawjson.None; m = l.Doc.Next(m) {
		k := l.Keyword(m)
		switch {
		case k == schemadoc.KwRef:
			if r := l.RefAt(m); r != nil && r.Target >= 0 {
				l.add(l.List[r.Target].Node)
			}
		case k == schemadoc.KwType:
			open = open && l.allowsContainer(m)
			continue
		case k == schemadoc.KwAllOf, k == schemadoc.KwAnyOf, k == schemadoc.KwOneOf, k == schemadoc.KwDependentSchemas:
			for c := l.Doc.First(m); c != rawjson.None; c = l.Doc.Next(c) {
				l.add(c)
			}
		case k == schemadoc.KwThen, k == schemadoc.KwElse, k == schemadoc.KwIf:
			l.add(m)
		case k == schemadoc.KwConst, k == schemadoc.KwEnum:
		case k.Form() == schemadoc.HoldsNone, k == schemadoc.KwNot, k == schemadoc.KwDefs, k == schemadoc.KwDefinitions:
			continue
		}
		open = false
	}
	l.free = l.free || open
}

// allowsContainer reports whether a value of the keyword type includes object or
// array.
func (l *level) allowsContainer(m rawjson.Node) bool {
	raw := string(l.Doc.Raw(m))
	return strings.Contains(raw, `"object"`) || strings.Contains(raw, `"array"`)
}

// step returns the schemas that a token leads to.
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

// addItems adds the schemas of array items, and of their items: names apply to
// every item.
func (l *level) addItems() {
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
			if m := l.Doc.Get(n, name); m != rawjson.None {
				list = append(list, m)
			}
		}
		prefix := l.Doc.Get(n, "prefixItems")
		for c := l.Doc.First(prefix); c != rawjson.None; c = l.Doc.Next(c) {
			list = append(list, c)
		}
	}
	return list
}

// member returns the schemas of n for the members that a token selects.
func (l *level) member(n rawjson.Node, k token) []rawjson.Node {
	var to []rawjson.Node
	properties, patterns := l.Doc.Get(n, "properties"), l.Doc.Get(n, "patternProperties")
	for c := l.Doc.First(properties); c != rawjson.None; c = l.Doc.Next(c) {
		if k.each || l.Doc.Key(c) == k.name {
			to = append(to, c)
		}
	}
	for c := l.Doc.First(patterns); c != rawjson.None; c = l.Doc.Next(c) {
		if matched, sure := matchesName(ecmaregexp.CompileAny(l.Doc.Key(c)), k.name); k.each || matched || !sure {
			to = append(to, c)
		}
	}
	for _, name := range []string{"additionalProperties", "unevaluatedProperties"} {
		if m := l.Doc.Get(n, name); m != rawjson.None && string(l.Doc.Raw(m)) != "false" {
			to = append(to, m)
		}
	}
	return to
}

const maxNear = 5

// similar returns the paths most similar to the one whose step i is unknown, or
// all declared ones in document order.
func similar(p path, i int, l level) (names []string, found bool) {
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

// closed reports whether a schema of the value forbids undeclared members.
func (l *level) closed() bool {
	for _, n := range l.all {
		for _, name := range []string{"additionalProperties", "unevaluatedProperties"} {
			if m := l.Doc.Get(n, name); m != rawjson.None && string(l.Doc.Raw(m)) == "false" {
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

// names returns the names that are declared on a level.
func (l *level) names() []string {
	var list []string
	for _, n := range l.all {
		properties := l.Doc.Get(n, "properties")
		for c := l.Doc.First(properties); c != rawjson.None && len(list) < maxLevel; c = l.Doc.Next(c) {
			if name := l.Doc.Key(c); !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}

// matchesName reports whether a pattern, nil if it cannot be run, matches the
// name of a member. It is not known where the pattern cannot be run, or only at
// too high a cost.
func matchesName(p *ecmaregexp.Pattern, name string) (matched, known bool) {
	if p == nil {
		return false, false
	}
	left := 1 << 20
	return p.Match([]byte(name), &left)
}
