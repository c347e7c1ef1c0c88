package publish

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/schemadoc"
)

// Change is one difference between a schema and its published form.
type Change struct {
	Path    string // JSON Pointer to the schema that contains the keyword; empty: the root
	Keyword string // empty: the schema itself
	Message string // what was done, and why
}

// maxPasses bounds the passes over a document. Each pass only handles what the
// one before has caused.
const maxPasses = 16

// maxChanges bounds the reported changes.
const maxChanges = 1000

// Compatible returns doc in a form that every client can read. Clients drop a
// whole list of tools because of one schema that their validator does not
// compile, and their validators implement draft-07 as well as 2020-12, mostly
// in JavaScript. The document is read as 2020-12 whatever its $schema is. The
// result
//
//   - has the type "object", literally, at its root, and no boolean schema
//     directly under the root's properties;
//   - gives every keyword a value of the type that the specification requires,
//     without duplicates in required, enum and type;
//   - has only references that are JSON Pointers to its subschemas, without a cycle
//     that would apply a schema to the same value endlessly;
//   - has only patterns that are valid in ECMA-262 with the u flag and in RE2;
//   - has no $schema, $id or $anchor, and no keyword that clients reject or
//     read as something stricter (nullable, id, $async, $recursiveRef,
//     formatMinimum, items behind prefixItems, minContains of zero).
//
// Where rewriting is not enough, the offending keyword is removed, so that
// every object valid against doc is valid against the result. A root that
// admits more than objects is narrowed to them, because MCP allows nothing else
// there. A document that needs no change is returned itself, and so is the
// result of Compatible. Safe is nil where the root cannot be an object schema;
// the last change then has the reason.
func Compatible(doc []byte) (safe []byte, changes []Change) { return new(Compatibility).Of(doc) }

// Compatibility makes documents [Compatible] and caches the patterns that need
// no change, because most patterns recur. The zero value is ready. It is safe
// for concurrent use.
type Compatibility struct {
	nodes sync.Pool // of *rawjson.Nodes

	mu       sync.Mutex
	portable map[string]bool // patterns that need no change
	bytes    int             // size of portable
}

// maxPortable bounds the cached patterns, in bytes.
const maxPortable = 256 << 10

// Of is [Compatible] of doc.
func (c *Compatibility) Of(doc []byte) (safe []byte, changes []Change) {
	return c.of(doc, compatPass{})
}

// WithItems is Of, and gives every array items, {} where it has none, and with tuples
// those that have prefixItems as well: some clients refuse a whole request over an
// array without. That means the same and is no change.
func (c *Compatibility) WithItems(doc []byte, tuples bool) (safe []byte, changes []Change) {
	return c.of(doc, compatPass{items: true, tuples: tuples})
}

func (c *Compatibility) of(doc []byte, with compatPass) (safe []byte, changes []Change) {
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
			return nil, []Change{{Message: "not strict JSON: " + err.Error()}}
		}
	}
	for range maxPasses {
		s := with
		s.changes, s.cache = changes, c
		if !s.checkRoot(parsed) {
			return nil, s.changes
		}
		next := s.apply(parsed)
		if changes = s.changes; next == nil {
			return doc, changes
		}
		doc = next
		if parsed, err = rawjson.Parse(doc); err != nil {
			return nil, append(changes, Change{Message: "not strict JSON: " + err.Error()})
		}
	}
	return nil, append(changes, Change{Message: "cannot be made compatible"})
}

// isPortable reports whether a pattern is known to need no change.
func (c *Compatibility) isPortable(p []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.portable[string(p)]
}

// addPortable caches a pattern that needs no change.
func (c *Compatibility) addPortable(p string) {
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

// withoutDuplicates keeps the last of several members with the same name, as
// JSON.parse does.
func withoutDuplicates(doc []byte) ([]byte, []Change) {
	parsed, err := rawjson.Parse(doc)
	if err != nil {
		return doc, nil
	}
	p := schemadoc.Edits{Doc: parsed}
	var visit func(n rawjson.Node)
	visit = func(n rawjson.Node) {
		for m := parsed.First(n); m != rawjson.None; m = parsed.Next(m) {
			if parsed.Kind(n) == rawjson.Object && parsed.Get(n, parsed.Key(m)) != m {
				p.Drop(m)
				continue
			}
			visit(m)
		}
	}
	visit(parsed.Root())
	if len(p.List) == 0 {
		return doc, nil
	}
	what := fmt.Sprintf("%d duplicate members left out", len(p.List))
	return p.Apply(parsed.Root()), []Change{{Message: what}}
}

// compatPass is one pass over a document.
type compatPass struct {
	*schemadoc.Widener
	changes []Change
	cache   *Compatibility
	items   bool // arrays get items
	tuples  bool // those with prefixItems, too
}

// apply returns the document after one pass, nil if it is unchanged.
func (s *compatPass) apply(doc *rawjson.Doc) []byte {
	if doc.Kind(doc.Root()) == rawjson.Bool {
		return []byte(`{"type":"object"}`)
	}
	x := schemadoc.FindLocations(doc)
	s.Widener = schemadoc.NewWidener(x, s.record)
	if x.NeedFlattening() {
		f := schemadoc.Flatten{Locations: x, Edits: schemadoc.Edits{Doc: doc}, Note: s.record}
		f.Run()
		if len(f.Edits.List) > 0 {
			return f.Edits.Apply(doc.Root())
		}
	}
	s.rootType()
	for i := range x.List {
		s.checkSchema(int32(i))
	}
	s.dropCircularRefs()
	if s.items && len(s.Edits.List) == 0 { // then nothing else is left to do
		s.addItems()
	}
	if len(s.Edits.List) == 0 {
		return nil
	}
	s.DropDanglingRefs()
	return s.Edits.Apply(doc.Root())
}

// record adds a change in place i, at the keyword whose value is m.
func (s *compatPass) record(i int32, m rawjson.Node, what string) {
	if len(s.changes) >= maxChanges {
		return
	}
	c := Change{Path: s.Pointer(i), Message: what}
	if m != s.List[i].Node {
		c.Keyword = s.Doc.Key(m)
	}
	s.changes = append(s.changes, c)
}

// checkRoot reports whether the root can be a schema of objects.
func (s *compatPass) checkRoot(doc *rawjson.Doc) bool {
	root := doc.Root()
	switch {
	case doc.IsTrue(root):
		return true
	case doc.Kind(root) != rawjson.Object:
		s.changes = append(s.changes, Change{Message: "the root is not a schema of objects"})
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

// rootType makes the root's type "object". References to the root are not
// limited to objects, so they are removed.
func (s *compatPass) rootType() {
	const text = `"object"`
	t := s.Doc.Get(s.Doc.Root(), "type")
	switch {
	case s.Doc.IsStr(t, "object"):
		return
	case t == rawjson.None:
		s.Edits.Prepend(s.Doc.Root(), []byte(`"type":`+text))
		s.changes = append(s.changes, Change{Keyword: "type", Message: "added: clients require an object at the root"})
	default:
		s.Edits.Replace(t, []byte(text))
		s.record(0, t, "became object: clients require it at the root")
	}
	for _, r := range s.Refs {
		if r.Target == 0 {
			s.Drop(r.Location, r.Node, "left out: it refers to the root, which is limited to objects")
		}
	}
}

// dropCircularRefs removes the references that would apply a schema to the same value
// endlessly: those that lead back to where they started without descending into
// a member or an item.
func (s *compatPass) dropCircularRefs() {
	if len(s.Refs) == 0 {
		return
	}
	c := circularRefs{compatPass: s, from: map[int32][]int{}, state: map[int32]visitState{}}
	for k := range s.Refs {
		head := s.List[s.Refs[k].Location].Head
		c.from[head] = append(c.from[head], k)
	}
	for k := range s.Refs {
		c.visit(s.Refs[k].Target)
	}
}

type circularRefs struct {
	*compatPass
	from  map[int32][]int // references by the topmost location that applies to the same value
	state map[int32]visitState
}

type visitState uint8

const (
	inProgress visitState = iota + 1
	finished
)

// visit follows all references that apply to the value that location i is for.
func (c *circularRefs) visit(i int32) {
	if i < 0 || c.state[i] != 0 {
		return
	}
	edges := c.from[c.List[i].Head]
	if len(edges) == 0 {
		return
	}
	c.state[i] = inProgress
	from, _ := slices.BinarySearchFunc(edges, c.List[i].Node, func(k int, n rawjson.Node) int { return cmp.Compare(c.Refs[k].Node, n) })
	end := c.Doc.Offset(c.List[i].Node) + len(c.Doc.Raw(c.List[i].Node))
	for _, k := range edges[from:] {
		r := &c.Refs[k]
		if c.Doc.Offset(r.Node) >= end {
			break
		}
		if r.Target < 0 || c.Removed[r.Node] {
			continue
		}
		if c.state[r.Target] == inProgress {
			c.Drop(r.Location, r.Node, "left out: it is circular")
			continue
		}
		c.visit(r.Target)
	}
	c.state[i] = finished
}
