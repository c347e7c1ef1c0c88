package profile

import (
	"bytes"
	"slices"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/schemadoc"
)

// Reader reads arguments that were written for a rewritten schema.
type Reader struct{ doc *rawjson.Doc }

// NewReader returns a reader for the schema as it was before it was rewritten; nil: it
// is no JSON.
func NewReader(input []byte) *Reader {
	doc, err := rawjson.Parse(input)
	if err != nil {
		return nil
	}
	return &Reader{doc}
}

// maxCandidates bounds the schemas that are looked at for one value.
const maxCandidates = 200

// Absent leaves out each member that is null where the schema neither requires it nor
// ever allows null: a client that has to send every member says so that it has none.
func (r *Reader) Absent(args []byte) []byte {
	if r == nil || !bytes.Contains(args, []byte("null")) {
		return args
	}
	doc, err := rawjson.Parse(args)
	if err != nil {
		return args // it is refused later
	}
	e := schemadoc.Edits{Doc: doc}
	r.value(&e, doc.Root(), r.candidates(nil, r.doc.Root()))
	if len(e.List) == 0 {
		return args
	}
	return e.Apply(doc.Root())
}

func (r *Reader) value(e *schemadoc.Edits, v rawjson.Node, schemas []rawjson.Node) {
	if len(schemas) == 0 {
		return
	}
	switch e.Doc.Kind(v) {
	case rawjson.Object:
		for m := e.Doc.First(v); m != rawjson.None; m = e.Doc.Next(m) {
			r.member(e, m, schemas)
		}
	case rawjson.Array:
		i := 0
		for c := e.Doc.First(v); c != rawjson.None; c = e.Doc.Next(c) {
			var below []rawjson.Node
			for _, s := range schemas {
				item := r.doc.Get(s, "items")
				if prefix := r.doc.Get(s, "prefixItems"); i < r.doc.Len(prefix) {
					item = r.doc.First(prefix)
					for range i {
						item = r.doc.Next(item)
					}
				}
				below = r.candidates(below, item)
			}
			r.value(e, c, below)
			i++
		}
	default:
	}
}

func (r *Reader) member(e *schemadoc.Edits, m rawjson.Node, schemas []rawjson.Node) {
	var below []rawjson.Node
	found, nullable := false, false
	for _, s := range schemas {
		nullable = nullable || e.Doc.Kind(m) == rawjson.Null && r.requires(s, e.Doc.Key(m))
		p := r.doc.Get(r.doc.Get(s, "properties"), e.Doc.Key(m))
		if p == rawjson.None {
			if p = r.doc.Get(s, "additionalProperties"); r.doc.Kind(p) == rawjson.Object {
				below = r.candidates(below, p)
			}
			continue
		}
		found = true
		nullable = nullable || r.mayBeNull(p, map[rawjson.Node]bool{})
		below = r.candidates(below, p)
	}
	switch {
	case e.Doc.Kind(m) != rawjson.Null:
		r.value(e, m, below)
	case found && !nullable:
		e.Drop(m)
	}
}

// requires reports whether a schema has a name among those that are required.
func (r *Reader) requires(s rawjson.Node, name string) bool {
	list := r.doc.Get(s, "required")
	for c := r.doc.First(list); c != rawjson.None; c = r.doc.Next(c) {
		if r.doc.IsStr(c, name) {
			return true
		}
	}
	return false
}

// candidates adds the schemas that may say something of a value that n is about.
func (r *Reader) candidates(to []rawjson.Node, n rawjson.Node) []rawjson.Node {
	if r.doc.Kind(n) != rawjson.Object || len(to) >= maxCandidates {
		return to
	}
	if slices.Contains(to, n) {
		return to
	}
	to = append(to, n)
	to = r.candidates(to, r.target(n))
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		list := r.doc.Get(n, key)
		for c := r.doc.First(list); c != rawjson.None; c = r.doc.Next(c) {
			to = r.candidates(to, c)
		}
	}
	for _, key := range []string{"then", "else"} {
		to = r.candidates(to, r.doc.Get(n, key))
	}
	return to
}

func (r *Reader) target(n rawjson.Node) rawjson.Node {
	ref := r.doc.Get(n, "$ref")
	if r.doc.Kind(ref) != rawjson.String {
		return rawjson.None
	}
	w := rewriter{doc: r.doc}
	_, at := w.target(r.doc.Raw(ref))
	return at
}

// mayBeNull reports whether a schema may allow null. What was seen already may.
func (r *Reader) mayBeNull(n rawjson.Node, seen map[rawjson.Node]bool) bool {
	if r.doc.Kind(n) == rawjson.Bool {
		return r.doc.IsTrue(n)
	}
	if r.doc.Kind(n) != rawjson.Object || seen[n] {
		return true
	}
	seen[n] = true
	s := read(r.doc, n)
	if kinds := s.types(); kinds != nil && !slices.Contains(kinds, "null") {
		return false
	}
	if values, ok := s.enum(); ok && !slices.ContainsFunc(values, func(v []byte) bool { return v[0] == 'n' }) {
		return false
	}
	if c := s.raw("const"); c != nil && c[0] != 'n' {
		return false
	}
	if at := r.target(n); at != rawjson.None && !r.mayBeNull(at, seen) {
		return false
	}
	all := r.doc.Get(n, "allOf")
	for c := r.doc.First(all); c != rawjson.None; c = r.doc.Next(c) {
		if !r.mayBeNull(c, seen) {
			return false
		}
	}
	return r.oneMayBeNull(r.doc.Get(n, "anyOf"), seen) && r.oneMayBeNull(r.doc.Get(n, "oneOf"), seen)
}

// oneMayBeNull reports whether one of a list of schemas may allow null, if there is a
// list.
func (r *Reader) oneMayBeNull(list rawjson.Node, seen map[rawjson.Node]bool) bool {
	if r.doc.Kind(list) != rawjson.Array {
		return true
	}
	for c := r.doc.First(list); c != rawjson.None; c = r.doc.Next(c) {
		if r.mayBeNull(c, seen) {
			return true
		}
	}
	return false
}
