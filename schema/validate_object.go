package schema

import (
	"bytes"
	"hash/maphash"
	"math/bits"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// members are the names that properties and required speak of.
type members struct {
	list     []memberRule
	table    []uint32 // open addressing, by hash: index+1 into list, 0: free; nil: list is short
	required []uint64 // a set of indexes
	needed   bool     // required is not empty
}

type memberRule struct {
	name     []byte
	quoted   []byte // as most values have it: between quotes; nil if it needs escapes
	node     *node
	declared bool // stands under properties
}

// find looks a name up.
func (m *members) find(name []byte, seed maphash.Seed) int {
	if m.table == nil {
		for i := range m.list {
			if bytes.Equal(m.list[i].name, name) {
				return i
			}
		}
		return -1
	}
	mask := uint64(len(m.table) - 1) //nolint:gosec // a table has entries
	for h := maphash.Bytes(seed, name) & mask; m.table[h] != 0; h = (h + 1) & mask {
		if i := int(m.table[h] - 1); bytes.Equal(m.list[i].name, name) {
			return i
		}
	}
	return -1
}

// sets is how many words a set of all indexes has.
func (m *members) sets() int { return (len(m.list) + 63) / 64 }

// anyObject reads an object that nothing is said about.
func (r *run) anyObject() bool {
	if !r.enter() {
		return false
	}
	base := len(r.keys)
	for more := r.next() != '}'; more; {
		at, s, ok := r.key()
		if !ok || !r.newName(base, at, s) || !r.colon() || !r.value(nil) {
			return false
		}
		if more, ok = r.comma(); !ok {
			return false
		}
	}
	r.leave()
	return r.unique(base, r.sameName) || r.broken()
}

// object reads an object by its rules.
func (r *run) object(o *objectRules) bool {
	start := r.i
	if !r.enter() {
		return false
	}
	base, seen, hint, count, ok := len(r.keys), len(r.seen), 0, 0, true
	r.left -= 4 // it is dearer than a scalar
	for range o.members.sets() {
		r.seen = append(r.seen, 0)
	}
	for more := r.next() != '}'; more; count++ {
		at, s, index, fine := r.name(&o.members, hint)
		if !fine || !r.know(base, seen, index, at, s) || !r.colon() {
			return false
		}
		if index >= 0 {
			hint = index + 1
		}
		if !r.member(o, index, at, s, start) {
			if r.fatal() {
				return false
			}
			ok = false
		}
		if more, fine = r.comma(); !fine {
			return false
		}
	}
	r.leave()
	if !r.unique(base, r.sameName) {
		return r.broken()
	}
	ok = r.checkObject(o, start, count, seen) && ok
	r.seen = r.seen[:seen]
	return ok
}

// know notes a name, so that it is noticed when it comes again.
func (r *run) know(base, seen, index, at int, name piece) bool {
	if index < 0 {
		return r.newName(base, at, name)
	}
	return r.mark(seen, index) || r.broken()
}

// name reads the key at the position and finds it among the members, -1 if it
// is none of them.
func (r *run) name(m *members, hint int) (at int, s piece, index int, ok bool) {
	r.next()
	for index = hint; index < len(m.list) && index < hint+2; index++ {
		q := m.list[index].quoted
		if end := r.i + len(q); len(q) > 0 && end <= len(r.b) && string(r.b[r.i:end]) == string(q) {
			at, s.start, s.end = r.i, r.i+1, end-1
			r.i = end
			return at, s, index, true
		}
	}
	if at, s, ok = r.key(); !ok {
		return at, s, -1, false
	}
	return at, s, m.find(r.plainText(s), r.seed), true
}

// key reads the key at the position.
func (r *run) key() (at int, s piece, ok bool) {
	if r.next() != '"' {
		return 0, s, r.broken()
	}
	at = r.i
	s, ok = r.str()
	return at, s, ok
}

func (r *run) colon() bool {
	if r.next() != ':' {
		return r.broken()
	}
	r.i++
	return true
}

// comma reads what stands behind a member.
func (r *run) comma() (more, ok bool) {
	switch r.next() {
	case ',':
		r.i++
		return true, true
	case '}':
		return false, true
	}
	return false, r.broken()
}

// mark puts an index into the set and reports whether it is new.
func (r *run) mark(seen, index int) bool {
	word, bit := &r.seen[seen+index/64], uint64(1)<<(index%64)
	fresh := *word&bit == 0
	*word |= bit
	return fresh
}

// newName keeps a name that the schema does not know.
func (r *run) newName(base, at int, s piece) bool {
	h := hashed{maphash.Bytes(r.seed, r.plainText(s)), at}
	return r.newKeyed(base, h, r.sameName) || r.broken()
}

// sameName compares the keys that begin at two offsets.
func (r *run) sameName(a, b int) bool {
	x, y := r.rawAt(a), r.rawAt(b)
	return bytes.Equal(rawjson.AppendUnescaped(nil, x[1:len(x)-1]), rawjson.AppendUnescaped(nil, y[1:len(y)-1]))
}

// member checks the value of a member, and its name where the schema says
// something about names.
func (r *run) member(o *objectRules, index, at int, s piece, object int) bool {
	ok := true
	if o.namesTold {
		end := r.i
		switch fits, open := r.try(o.names, at); {
		case open:
			r.doubt(object, "propertyNames", hangsOnPattern)
		case !fits:
			ok = r.collect && r.note(object, "propertyNames", "another name than "+string(r.b[s.start-1:s.end+1]))
		}
		if r.i = end; !ok && r.fatal() {
			return false
		}
	}
	declared := index >= 0 && o.members.list[index].declared
	if len(o.patterns) > 0 {
		return r.matched(o, index, declared, s) && ok
	}
	if declared {
		return r.value(o.members.list[index].node) && ok
	}
	return r.rest(o, s) && ok
}

// matched checks a member of an object that has patternProperties.
func (r *run) matched(o *objectRules, index int, declared bool, s piece) bool {
	r.next()
	start, ok, read, open := r.i, true, false, false
	if declared {
		ok, read = r.value(o.members.list[index].node), true
	}
	for _, p := range o.patterns {
		if !ok && r.fatal() {
			return false
		}
		matched, unknown := p.match.matches(r, r.plainText(s))
		switch {
		case unknown:
			open = true
		case matched:
			r.i = start
			ok = r.value(p.node) && ok
			read = true
		}
	}
	switch {
	case open && r.stop == 0:
		return r.perhapsMatched(o, s, start, read) && ok
	case !read:
		return r.rest(o, s)
	}
	return ok
}

// perhapsMatched checks a member where it is open which of the patterns that
// cannot be run match its name. Read says that the value stands under another
// keyword.
func (r *run) perhapsMatched(o *objectRules, s piece, start int, read bool) bool {
	all, none, words := true, true, "" // of the schemas that may speak of it
	count := func(ok, open bool) {
		all = all && ok && !open
		none = none && !ok
	}
	for _, p := range o.patterns {
		if p.match.run == nil {
			count(r.try(p.node, start))
			words = p.match.words()
		}
	}
	switch {
	case read:
		none = false
	case o.forbidden:
		all = false
	default:
		count(r.try(o.additional, start))
	}
	r.i = start
	switch {
	case r.stop != 0:
		return false
	case none:
		return r.rest(o, s)
	case !all:
		r.doubt(start, "patternProperties", words)
	}
	return r.plain(kindOf(r.b[start]), nil)
}

// rest checks a member that neither properties nor patternProperties know.
func (r *run) rest(o *objectRules, s piece) bool {
	if !o.forbidden {
		return r.value(o.additional)
	}
	if !r.collect {
		return false
	}
	name := string(r.plainText(s))
	kind := kindOf(r.next())
	at := r.i
	r.plain(kind, nil)
	return r.note(at, "additionalProperties", noMember(name))
}

func (r *run) checkObject(o *objectRules, start, count, seen int) bool {
	ok := true
	if o.members.needed {
		for i, want := range o.members.required {
			if missing := want &^ r.seen[seen+i]; missing != 0 {
				ok = r.missing(o, start, i*64, missing)
			}
		}
	}
	if count < o.min {
		ok = r.noteCount(start, "minProperties", "at least ", o.min, "member")
	}
	if o.max >= 0 && count > o.max {
		ok = r.noteCount(start, "maxProperties", "at most ", o.max, "member")
	}
	return ok
}

// missing notes the members of one word of the set.
func (r *run) missing(o *objectRules, start, first int, set uint64) bool {
	for ; set != 0 && r.collect; set &= set - 1 {
		name := o.members.list[first+bits.TrailingZeros64(set)].name
		r.noteMissing(start, string(name))
	}
	return false
}
