package schema

import "github.com/tenon-mcp/tenon/internal/rawjson"

// Relaxation says what [Relax] took out of a schema.
type Relaxation uint8

// The relaxations, each with all before it.
const (
	None         Relaxation = iota // nothing
	Descriptions                   // words: titles, descriptions, examples, unknown keywords
	Structure                      // parts of what the schema demands
)

// String names r in one word.
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

// Relax brings a schema document down to limit bytes by leaving out parts of
// it, so that whatever fits doc fits the result. Words go first, those below
// the root's properties before all others but the root's own. Then references
// are cut, the farthest from the root first, then nested schemas, the deepest
// first; of what is cut the type remains. The names and types of the root's
// properties and its required stay longest. Nothing is ever inlined. If
// nothing helps, {"type":"object"} or {} is left, whatever the limit.
//
// A document within the limit is returned itself. The same document gives the
// same result.
func Relax(doc []byte, limit int) (relaxed []byte, how Relaxation) {
	if len(doc) <= limit {
		return doc, None
	}
	parsed, err := rawjson.Parse(doc)
	if err != nil || parsed.Kind(parsed.Root()) != rawjson.Object {
		return []byte(`{}`), Structure
	}
	r := relaxer{sites: findSites(parsed), limit: limit}
	p := patches{doc: parsed, limit: limit, list: make([]patch, 0, len(r.list))}
	for _, all := range []bool{false, true} {
		p.list = p.list[:0]
		r.unword(&p, all)
		if text := p.apply(parsed.Root()); len(text) <= limit {
			return text, Descriptions
		}
	}
	r.look()
	for _, s := range steps() {
		if text := r.cut(s); len(text) <= limit {
			return text, Structure
		}
	}
	return r.outline(), Structure
}

// step is how much is cut.
type step struct {
	references int32 // how many of them may be followed from the root
	levels     int32 // the level below which nothing stays; 0: all levels stay
	bare       bool  // of the deepest level nothing but types remains
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

// relaxer cuts one document.
type relaxer struct {
	*sites
	limit    int
	refs     [][]int // by definition, the root first: its references
	start    []int32 // by definition: its place
	distance []int32 // by definition: how many references lead to it from the root
	level    []int32 // by place: how deep it is in the root or its definition, whose own level is 1
}

// look finds out how the parts of the document hang together.
func (r *relaxer) look() {
	n := r.doc.Len(r.defs)
	r.start = make([]int32, n)
	r.refs = make([][]int, n+1)
	for k := range r.sites.refs {
		def := r.list[r.sites.refs[k].site].def + 1
		r.refs[def] = append(r.refs[def], k)
	}
	for i := 1; i < len(r.list); i++ {
		if p := &r.list[i]; p.holder == r.defs {
			r.start[p.def] = int32(i)
		}
	}
	r.distance = r.distances(func(int) bool { return true })
	r.measure()
}

// measure finds the level of each place. What speaks of the same value is on
// the same level; definitions that speak of the root's are on the root's.
func (r *relaxer) measure() {
	r.level = make([]int32, len(r.list))
	for i := 1; i < len(r.list); i++ {
		switch p := &r.list[i]; {
		case p.holder == r.defs && r.distance[p.def] == 0:
		case p.via.inPlace():
			r.level[i] = r.level[p.parent]
		default:
			r.level[i] = r.level[p.parent] + 1
		}
	}
}

// unword takes the words out of all places but the root and, unless all is
// set, the root's own properties.
func (r *relaxer) unword(p *patches, all bool) {
	for i := 1; i < len(r.list); i++ {
		at := &r.list[i]
		if all || at.parent != 0 || at.via != kwProperties {
			r.unwordSite(p, at.node)
		}
	}
}

func (r *relaxer) unwordSite(p *patches, n rawjson.Node) {
	if r.doc.Kind(n) != rawjson.Object {
		return
	}
	for m := r.doc.First(n); m != rawjson.None; m = r.doc.Next(m) {
		switch r.keyword(m) {
		case kwNote, kwExamples:
			p.drop(m)
		case noKeyword:
			if string(r.doc.RawKey(m)) != "default" {
				p.drop(m)
			}
		}
	}
}

// far is the distance of a definition that cannot be reached.
const far = 1 << 30

// distances answers how many references lead from the root to each
// definition. Those that speak of the root's own value do not count: what they
// lead to is a part of the root.
func (r *relaxer) distances(there func(k int) bool) []int32 {
	distance := make([]int32, len(r.start))
	for d := range distance {
		distance[d] = far
	}
	reach := func(front []int32, from, to int32) []int32 {
		for _, k := range r.refs[from+1] {
			ref := &r.sites.refs[k]
			if ref.target < 0 || r.list[ref.target].def < 0 || !there(k) {
				continue
			}
			if def := r.list[ref.target].def; distance[def] == far && (to > 0 || r.inPlace(ref, from)) {
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

// inPlace reports whether a reference speaks of the value that the definition
// it stands in, or the root, is for, and leads to a definition as a whole.
func (r *relaxer) inPlace(ref *reference, from int32) bool {
	head := int32(0)
	if from >= 0 {
		head = r.start[from]
	}
	return r.list[ref.site].head == head && r.list[ref.target].holder == r.defs
}
