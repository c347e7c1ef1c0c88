package publish

import (
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/schemadoc"
)

// Relaxation is what [Relax] removed from a schema.
type Relaxation uint8

// The relaxations, each including the previous ones.
const (
	None         Relaxation = iota // nothing
	Descriptions                   // titles, descriptions, examples, unknown keywords
	Structure                      // some constraints
)

// String returns the name of r.
func (r Relaxation) String() string {
	switch r {
	case None:
		return "none"
	case Descriptions:
		return "descriptions"
	case Structure:
	}
	return "structure"
}

// Relax reduces a schema document to limit bytes by removing parts of it, so
// that every value that is valid against doc is valid against the result.
// Descriptions are removed first, those below the root's properties before all
// others except the root's. Then references are cut, the farthest from the root
// first, then nested schemas, the deepest first; the type of what is cut
// remains. The names and types of the root's properties and its required are
// kept longest. Nothing is ever inlined. If nothing helps, the result is
// {"type":"object"} or {}, whatever the limit.
//
// A document within the limit is returned itself. The result is deterministic.
func Relax(doc []byte, limit int) (relaxed []byte, how Relaxation) {
	if len(doc) <= limit {
		return doc, None
	}
	parsed, err := rawjson.Parse(doc)
	if err != nil || parsed.Kind(parsed.Root()) != rawjson.Object {
		return []byte(`{}`), Structure
	}
	r := relaxer{Locations: schemadoc.FindLocations(parsed), limit: limit}
	p := schemadoc.Edits{Doc: parsed, Limit: limit, List: make([]schemadoc.Edit, 0, len(r.List))}
	for _, all := range []bool{false, true} {
		p.List = p.List[:0]
		r.dropDescriptions(&p, all)
		if text := p.Apply(parsed.Root()); len(text) <= limit {
			return text, Descriptions
		}
	}
	r.index()
	for _, s := range steps() {
		if text := r.relaxTo(s); len(text) <= limit {
			return text, Structure
		}
	}
	return r.outline(), Structure
}

// step is how much is cut.
type step struct {
	references int32 // how many references may be followed from the root
	levels     int32 // the deepest level that is kept; 0: all levels
	bare       bool  // only types are kept on the deepest level
}

func steps() []step {
	return []step{
		{references: 3},
		{references: 2},
		{references: 1},
		{1, 6, false},
		{1, 5, false},
		{1, 4, false},
		{1, 3, false},
		{1, 2, false},
		{1, 2, true},
		{0, 2, false},
		{0, 1, false},
	}
}

// relaxer relaxes one document.
type relaxer struct {
	*schemadoc.Locations
	limit    int
	refs     [][]int // references by definition, the root first
	start    []int32 // location by definition
	distance []int32 // number of references from the root, by definition
	level    []int32 // depth in the root or definition, whose level is 1, by location
}

// index indexes the parts of the document and their references.
func (r *relaxer) index() {
	n := r.Doc.Len(r.Defs)
	r.start = make([]int32, n)
	r.refs = make([][]int, n+1)
	for k := range r.Refs {
		def := r.List[r.Refs[k].Location].Def + 1
		r.refs[def] = append(r.refs[def], k)
	}
	for i := 1; i < len(r.List); i++ {
		if p := &r.List[i]; p.Holder == r.Defs {
			r.start[p.Def] = int32(i)
		}
	}
	r.distance = r.distances(func(int) bool { return true })
	r.computeLevels()
}

// computeLevels computes the level of each location. Locations that apply to the same
// value have the same level; definitions that apply to the root's value have
// the root's.
func (r *relaxer) computeLevels() {
	r.level = make([]int32, len(r.List))
	for i := 1; i < len(r.List); i++ {
		switch p := &r.List[i]; {
		case p.Holder == r.Defs && r.distance[p.Def] == 0:
		case p.Via.InPlace():
			r.level[i] = r.level[p.Parent]
		default:
			r.level[i] = r.level[p.Parent] + 1
		}
	}
}

// dropDescriptions removes the descriptions from all locations but the root and, unless
// all is set, the root's properties.
func (r *relaxer) dropDescriptions(p *schemadoc.Edits, all bool) {
	for i := 1; i < len(r.List); i++ {
		at := &r.List[i]
		if all || at.Parent != 0 || at.Via != schemadoc.KwProperties {
			r.dropDescriptionsAt(p, at.Node)
		}
	}
}

func (r *relaxer) dropDescriptionsAt(p *schemadoc.Edits, n rawjson.Node) {
	if r.Doc.Kind(n) != rawjson.Object {
		return
	}
	for m := r.Doc.First(n); m != rawjson.None; m = r.Doc.Next(m) {
		switch r.Keyword(m) {
		case schemadoc.KwNote, schemadoc.KwExamples:
			p.Drop(m)
		case schemadoc.NoKeyword:
			if string(r.Doc.RawKey(m)) != "default" {
				p.Drop(m)
			}
		}
	}
}

// far is the distance of an unreachable definition.
const far = 1 << 30

// distances returns how many references lead from the root to each definition.
// References that apply to the root's value do not count: their targets are a
// part of the root.
func (r *relaxer) distances(there func(k int) bool) []int32 {
	distance := make([]int32, len(r.start))
	for d := range distance {
		distance[d] = far
	}
	reach := func(front []int32, from, to int32) []int32 {
		for _, k := range r.refs[from+1] {
			ref := &r.Refs[k]
			if ref.Target < 0 || r.List[ref.Target].Def < 0 || !there(k) {
				continue
			}
			if def := r.List[ref.Target].Def; distance[def] == far && (to > 0 || r.inPlace(ref, from)) {
				distance[def] = to
				front = append(front, def)
			}
		}
		return front
	}
	front := []int32{-1}
	for i := 0; i < len(front); i++ {
		front = reach(front, front[i], 0)
	}
	for to := int32(1); len(front) > 0; to++ {
		var next []int32
		for _, from := range front {
			next = reach(next, from, to)
		}
		front = next
	}
	return distance
}

// inPlace reports whether a reference applies to the same value as the
// definition that contains it, or the root, and targets a definition as a
// whole.
func (r *relaxer) inPlace(ref *schemadoc.Reference, from int32) bool {
	head := int32(0)
	if from >= 0 {
		head = r.start[from]
	}
	return r.List[ref.Location].Head == head && r.List[ref.Target].Holder == r.Defs
}

// relaxTo returns the document after a step, or more than the limit's bytes of it.
func (r *relaxer) relaxTo(s step) []byte {
	l := schemadoc.NewWidener(r.Locations, func(int32, rawjson.Node, string) {})
	l.Edits.Limit = r.limit
	r.dropDefinitions(l, r.distance, s.references)
	for i := range r.List {
		at := int32(i)
		if def := r.List[i].Def; def >= 0 && r.distance[def] > s.references {
			continue
		}
		if s.levels > 0 && r.level[i] == s.levels {
			r.prune(l, at, s.bare)
		}
		if i > 0 {
			r.dropDescriptionsAt(&l.Edits, r.List[i].Node)
		}
	}
	for k := range r.Refs {
		if ref := &r.Refs[k]; ref.Target >= 0 && l.Unresolvable(ref.Target) && !l.Dropped(ref.Location) {
			r.cutReference(l, ref)
		}
	}
	l.DropDanglingRefs()
	r.dropUnused(l)
	return l.Edits.Apply(r.Doc.Root())
}

// dropDefinitions removes the definitions that are too far away. References to them are
// cut afterwards.
func (r *relaxer) dropDefinitions(l *schemadoc.Widener, distance []int32, most int32) {
	kept := 0
	for d, i := range r.start {
		if distance[d] <= most {
			kept++
			continue
		}
		l.MarkRemoved(r.List[i].Node)
		l.Edits.Drop(r.List[i].Node)
	}
	if kept == 0 && r.Defs != rawjson.None {
		l.Edits.Drop(r.Defs)
	}
}

// dropUnused removes the definitions without references to them.
func (r *relaxer) dropUnused(l *schemadoc.Widener) {
	distance := r.distances(func(k int) bool {
		ref := &r.Refs[k]
		return !l.Removed[ref.Node] && !l.Dropped(ref.Location)
	})
	r.dropDefinitions(l, distance, far-1)
}

// prune removes all keywords of location i that contain or reference schemas;
// bare, all but its type.
func (r *relaxer) prune(l *schemadoc.Widener, i int32, bare bool) {
	n := r.List[i].Node
	if r.Doc.Kind(n) != rawjson.Object {
		return
	}
	for m := r.Doc.First(n); m != rawjson.None; m = r.Doc.Next(m) {
		switch k := r.Keyword(m); {
		case k == schemadoc.KwRef:
			r.cutReference(l, r.RefAt(m))
		case k == schemadoc.KwAdditionalProperties && r.Doc.Kind(m) == rawjson.Bool && !bare:
			// Dropped together with properties.
		case k.Form() != schemadoc.HoldsNone, k == schemadoc.KwDynamicRef:
			l.Drop(i, m, "")
		case bare && k == schemadoc.NoKeyword:
			l.Edits.Drop(m)
		case bare && k != schemadoc.KwType && k != schemadoc.KwNote && k != schemadoc.KwExamples:
			l.Drop(i, m, "")
		}
	}
}

// cutReference removes a reference. The type of its target is kept.
func (r *relaxer) cutReference(l *schemadoc.Widener, ref *schemadoc.Reference) {
	if l.Removed[ref.Node] {
		return
	}
	n := r.List[ref.Location].Node
	l.Drop(ref.Location, ref.Node, "")
	if t := r.typeOf(ref); t != nil && r.Doc.Get(n, "type") == rawjson.None {
		l.Edits.Prepend(n, append([]byte(`"type":`), t...))
	}
}

// typeOf returns the type of a reference's target.
func (r *relaxer) typeOf(ref *schemadoc.Reference) []byte {
	if ref.Target < 0 || ref.Via != schemadoc.KwRef {
		return nil
	}
	return r.Doc.Raw(r.Doc.Get(r.List[ref.Target].Node, "type"))
}

// outline returns the root without any details: the most that is within the
// limit.
func (r *relaxer) outline() []byte {
	from := r.rootObject()
	note := r.member(r.Doc.Root(), "description", rawjson.String)
	kind, required := r.member(from, "type", rawjson.Invalid), r.member(from, "required", rawjson.Array)
	if own := r.member(r.Doc.Root(), "type", rawjson.Invalid); own != nil {
		kind = own
	}
	typed, named := r.properties(from, true), r.properties(from, false)
	for _, members := range [][][]byte{
		{note, kind, typed, required},
		{kind, typed, required},
		{kind, named, required},
		{kind, required},
	} {
		if text := object(members); len(text) <= r.limit {
			return text
		}
	}
	if text := object([][]byte{kind}); string(text) == `{"type":"object"}` {
		return text
	}
	return []byte(`{}`)
}

// rootObject returns the schema that describes the root: itself, or the target
// of its reference if it has no properties.
func (r *relaxer) rootObject() rawjson.Node {
	root := r.Doc.Root()
	if ref := r.Doc.Get(root, "$ref"); ref != rawjson.None && r.Doc.Get(root, "properties") == rawjson.None {
		if to := r.RefAt(ref); to != nil && to.Target > 0 {
			return r.List[to.Target].Node
		}
	}
	return root
}

// member returns a member with its key, nil if it is absent or of another kind
// than wanted.
func (r *relaxer) member(n rawjson.Node, key string, want rawjson.Kind) []byte {
	m := r.Doc.Get(n, key)
	if m == rawjson.None || want != rawjson.Invalid && r.Doc.Kind(m) != want {
		return nil
	}
	return append(append(rawjson.AppendString(nil, key), ':'), r.Doc.Raw(m)...)
}

// properties returns the member properties with only the type of each property,
// or nothing.
func (r *relaxer) properties(n rawjson.Node, typed bool) []byte {
	props := r.Doc.Get(n, "properties")
	if r.Doc.Kind(props) != rawjson.Object {
		return nil
	}
	text := []byte(`"properties":{`)
	for m := r.Doc.First(props); m != rawjson.None; m = r.Doc.Next(m) {
		if m != r.Doc.First(props) {
			text = append(text, ',')
		}
		text = append(append(append(text, '"'), r.Doc.RawKey(m)...), `":{`...)
		if typed {
			text = append(text, r.typeMember(m)...)
		}
		text = append(text, '}')
	}
	return append(text, '}')
}

// typeMember returns the type of a schema, or that of its reference's target.
func (r *relaxer) typeMember(n rawjson.Node) []byte {
	if own := r.member(n, "type", rawjson.Invalid); own != nil {
		return own
	}
	if ref := r.RefAt(r.Doc.Get(n, "$ref")); ref != nil {
		if t := r.typeOf(ref); t != nil {
			return append([]byte(`"type":`), t...)
		}
	}
	return nil
}

// object joins members, leaving out those that are nil.
func object(members [][]byte) []byte {
	text := []byte{'{'}
	for _, m := range members {
		if m == nil {
			continue
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(text, m...)
	}
	return append(text, '}')
}
