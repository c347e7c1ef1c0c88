package schema

import (
	"fmt"
	"sync"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Change is one thing that is different between a schema and what of it is
// published.
type Change struct {
	Path    string // JSON Pointer to the schema that the keyword stands in; empty: the root
	Keyword string // empty: the schema itself
	Message string // what was done, and why
}

// safeRounds bounds how often a document is gone over. Each round only looks
// for what the one before has brought about.
const safeRounds = 16

// maxChanges bounds how many changes are told.
const maxChanges = 1000

// Compatible answers doc in a form that every client can read. Clients drop a
// whole list of tools because of one schema in it that their validator does
// not compile, and they run validators of draft-07 as well as of 2020-12, in
// JavaScript more often than not. The document is read as 2020-12 whatever
// its $schema says. The result
//
//   - has the type "object", literally, at its root, and no boolean schema
//     directly under the root's properties;
//   - gives every keyword a value of the type that the specification demands,
//     without duplicates in required, enum and type;
//   - has no reference but JSON Pointers to schemas of its own, in no circle
//     that would apply a schema to the same value again and again;
//   - has only patterns that are legal in ECMA-262 with the u flag and in RE2;
//   - has no $schema, $id or $anchor, and no keyword that clients refuse or
//     read as something stricter (nullable, id, $async, $recursiveRef,
//     formatMinimum, items behind prefixItems, minContains of zero).
//
// Where that takes more than another way to write the same, the offending
// keyword goes: every object that fits doc fits the result. A root that admits
// more than objects is narrowed to them, because MCP carries nothing else
// there. A document that needs no change is returned itself, and the result
// of Compatible needs none. Safe is nil where the root cannot be an object
// schema; then the last change says why.
func Compatible(doc []byte) (safe []byte, changes []Change) { return new(Compatibility).Of(doc) }

// Compatibility makes one document after the other [Compatible], and looks once
// only at patterns that come again: most do. The zero value is ready. It is safe
// for concurrent use.
type Compatibility struct {
	nodes sync.Pool // of *rawjson.Nodes

	mu       sync.Mutex
	portable map[string]bool // patterns that stay as they are
	bytes    int             // that portable holds
}

// maxPortable bounds, in bytes, what is kept of patterns.
const maxPortable = 256 << 10

// Of is [Compatible] of doc.
func (c *Compatibility) Of(doc []byte) (safe []byte, changes []Change) {
	nodes, ok := c.nodes.Get().(*rawjson.Nodes)
	if !ok {
		nodes = new(rawjson.Nodes)
	}
	defer c.nodes.Put(nodes)
	parsed, err := nodes.ParseStrict(doc)
	if err != nil {
		doc, changes = withoutDuplicates(doc)
		var still error
		if parsed, still = rawjson.ParseStrict(doc); still != nil {
			return nil, []Change{{Message: "no strict JSON: " + err.Error()}}
		}
	}
	for range safeRounds {
		s := safety{changes: changes, known: c}
		if !s.root(parsed) {
			return nil, s.changes
		}
		next := s.round(parsed)
		if changes = s.changes; next == nil {
			return doc, changes
		}
		doc = next
		if parsed, err = rawjson.Parse(doc); err != nil {
			return nil, append(changes, Change{Message: "no strict JSON: " + err.Error()})
		}
	}
	return nil, append(changes, Change{Message: "cannot be made legal"})
}

// isPortable reports whether a pattern can stay as it is.
func (c *Compatibility) isPortable(p []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.portable[string(p)]
}

// keep notes that a pattern can stay as it is.
func (c *Compatibility) keep(p string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bytes+len(p) > maxPortable {
		return
	}
	if c.portable == nil {
		c.portable = map[string]bool{}
	}
	c.portable[p] = true
	c.bytes += len(p)
}

// withoutDuplicates keeps the last of several members with one name, as
// JSON.parse does.
func withoutDuplicates(doc []byte) ([]byte, []Change) {
	parsed, err := rawjson.Parse(doc)
	if err != nil {
		return doc, nil
	}
	p := patches{doc: parsed}
	var visit func(n rawjson.Node)
	visit = func(n rawjson.Node) {
		for m := parsed.First(n); m != rawjson.None; m = parsed.Next(m) {
			if parsed.Kind(n) == rawjson.Object && parsed.Get(n, parsed.Key(m)) != m {
				p.drop(m)
				continue
			}
			visit(m)
		}
	}
	visit(parsed.Root())
	if len(p.list) == 0 {
		return doc, nil
	}
	what := fmt.Sprintf("%d members left out: others of the same name follow them", len(p.list))
	return p.apply(parsed.Root()), []Change{{Message: what}}
}

// safety is one round over a document.
type safety struct {
	*loosener
	changes []Change
	known   *Compatibility
}

// round answers the document after the round, nil if it stays as it is.
func (s *safety) round(doc *rawjson.Doc) []byte {
	if doc.Kind(doc.Root()) == rawjson.Bool {
		return []byte(`{"type":"object"}`)
	}
	x := findSites(doc)
	s.loosener = newLoosener(x, s.record)
	if x.needFlattening() {
		f := flatten{sites: x, patches: patches{doc: doc}, note: s.record}
		f.run()
		if len(f.patches.list) > 0 {
			return f.patches.apply(doc.Root())
		}
	}
	s.rootType()
	for i := range x.list {
		s.site(int32(i))
	}
	s.circles()
	if len(s.patches.list) == 0 {
		return nil
	}
	s.settle()
	return s.patches.apply(doc.Root())
}

// record notes a change in place i, at the keyword whose value is m.
func (s *safety) record(i int32, m rawjson.Node, what string) {
	if len(s.changes) >= maxChanges {
		return
	}
	c := Change{Path: s.pointer(i), Message: what}
	if m != s.list[i].node {
		c.Keyword = s.doc.Key(m)
	}
	s.changes = append(s.changes, c)
}

// root reports whether the root can be a schema of objects.
func (s *safety) root(doc *rawjson.Doc) bool {
	root := doc.Root()
	switch {
	case doc.IsTrue(root):
		return true
	case doc.Kind(root) != rawjson.Object:
		s.changes = append(s.changes, Change{Message: "the root is no schema of objects"})
		return false
	}
	t := doc.Get(root, "type")
	ok := t == rawjson.None || doc.IsStr(t, "object")
	for e := doc.First(t); e != rawjson.None; e = doc.Next(e) {
		ok = ok || doc.IsStr(e, "object")
	}
	if !ok && doc.Kind(t) != rawjson.String && doc.Kind(t) != rawjson.Array {
		return true // no type at all: it will be replaced
	}
	if !ok {
		s.changes = append(s.changes, Change{Keyword: "type", Message: "the root is of another type than object"})
	}
	return ok
}

// rootType makes the root's type "object". References to the root do not mean
// objects alone, so they go.
func (s *safety) rootType() {
	const text = `"object"`
	t := s.doc.Get(s.doc.Root(), "type")
	switch {
	case s.doc.IsStr(t, "object"):
		return
	case t == rawjson.None:
		s.patches.prepend(s.doc.Root(), []byte(`"type":`+text))
		s.changes = append(s.changes, Change{Keyword: "type", Message: "added: clients want objects at the root"})
	default:
		s.patches.replace(t, []byte(text))
		s.record(0, t, "became object: clients want nothing else at the root")
	}
	for _, r := range s.refs {
		if r.target == 0 {
			s.drop(r.site, r.node, "left out: it refers to the root, which is about objects only")
		}
	}
}
