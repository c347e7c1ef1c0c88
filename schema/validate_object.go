package schema

import (
	"bytes"
	"hash/maphash"
	"math/bits"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// members are the names in properties and required.
type members struct {
	list     []memberRule
	table    []uint32 // open addressing, by hash: index+1 into list, 0: free; nil: list is short
	required []uint64 // a set of indexes
	needed   bool     // required is not empty
}

type memberRule struct {
	name     []byte
	quoted   []byte // with quotes, as most values have it; nil if it needs escapes
	node     *node
	declared bool // in properties
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

// sets returns how many words a set of all indexes has.
func (m *members) sets() int { return (len(m.list) + 63) / 64 }

// anyObject reads an object without rules.
func (r *validation) anyObject() bool {
	if !r.Enter() {
		return false
	}
	base := len(r.keys)
	for more := r.Next() != '}'; more; {
		at, s, ok := r.Key()
		if !ok || !r.newName(base, at, s) || !r.Colon() || !r.value(nil) {
			return false
		}
		if more, ok = r.comma(); !ok {
			return false
		}
	}
	r.Leave()
	return r.unique(base, r.sameName) || r.Broken()
}

// object reads an object by its rules.
func (r *validation) object(o *objectRules) bool {
	start := r.I
	if !r.Enter() {
		return false
	}
	base, seen, hint, count, ok := len(r.keys), len(r.seen), 0, 0, true
	r.left -= 4 // it costs more than a scalar
	for range o.members.sets() {
		r.seen = append(r.seen, 0)
	}
	for more := r.Next() != '}'; more; count++ {
		at, s, index, fine := r.name(&o.members, hint)
		if !fine || !r.noteName(base, seen, index, at, s) || !r.Colon() {
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
	r.Leave()
	if !r.unique(base, r.sameName) {
		return r.Broken()
	}
	ok = r.checkObject(o, start, count, seen) && ok
	r.seen = r.seen[:seen]
	return ok
}

// noteName records a name, to detect duplicates.
func (r *validation) noteName(base, seen, index, at int, name rawjson.Piece) bool {
	if index < 0 {
		return r.newName(base, at, name)
	}
	return r.mark(seen, index) || r.Broken()
}

// name reads the key at the position and finds it among the members; index is
// -1 if it is not one of them.
func (r *validation) name(m *members, hint int) (at int, s rawjson.Piece, index int, ok bool) {
	r.Next()
	for index = hint; index < len(m.list) && index < hint+2; index++ {
		q := m.list[index].quoted
		if end := r.I + len(q); len(q) > 0 && end <= len(r.B) && string(r.B[r.I:end]) == string(q) {
			at, s.Start, s.End = r.I, r.I+1, end-1
			r.I = end
			return at, s, index, true
		}
	}
	if at, s, ok = r.Key(); !ok {
		return at, s, -1, false
	}
	return at, s, m.find(r.PlainText(s), r.seed), true
}

// comma reads the comma or closing brace after a member.
func (r *validation) comma() (more, ok bool) {
	switch r.Next() {
	case ',':
		r.I++
		return true, true
	case '}':
		return false, true
	}
	return false, r.Broken()
}

// mark adds an index to the set and reports whether it is new.
func (r *validation) mark(seen, index int) bool {
	word, bit := &r.seen[seen+index/64], uint64(1)<<(index%64)
	fresh := *word&bit == 0
	*word |= bit
	return fresh
}

// newName records a name that the schema does not declare.
func (r *validation) newName(base, at int, s rawjson.Piece) bool {
	h := hashed{maphash.Bytes(r.seed, r.PlainText(s)), at}
	return r.newKeyed(base, h, r.sameName) || r.Broken()
}

// sameName compares the keys that begin at two offsets.
func (r *validation) sameName(a, b int) bool {
	x, y := r.rawAt(a), r.rawAt(b)
	return bytes.Equal(rawjson.AppendUnescaped(nil, x[1:len(x)-1]), rawjson.AppendUnescaped(nil, y[1:len(y)-1]))
}

// member checks the value of a member, and its name if the schema has rules for
// names.
func (r *validation) member(o *objectRules, index, at int, s rawjson.Piece, object int) bool {
	ok := true
	if o.hasNames {
		end := r.I
		switch fits, open := r.try(o.names, at); {
		case open:
			r.noteOpen(object, "propertyNames", dependsOnPattern)
		case !fits:
			ok = r.collect && r.note(object, "propertyNames", "another name than "+string(r.B[s.Start-1:s.End+1]))
		}
		if r.I = end; !ok && r.fatal() {
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
	return r.additional(o, s) && ok
}

// matched checks a member of an object that has patternProperties.
func (r *validation) matched(o *objectRules, index int, declared bool, s rawjson.Piece) bool {
	r.Next()
	start, ok, read, open := r.I, true, false, false
	if declared {
		ok, read = r.value(o.members.list[index].node), true
	}
	for _, p := range o.patterns {
		if !ok && r.fatal() {
			return false
		}
		matched, unknown := p.match.matches(r, r.PlainText(s))
		switch {
		case unknown:
			open = true
		case matched:
			r.I = start
			ok = r.value(p.node) && ok
			read = true
		}
	}
	switch {
	case open && r.Stop == 0:
		return r.maybeMatched(o, s, start, read) && ok
	case !read:
		return r.additional(o, s)
	}
	return ok
}

// maybeMatched checks a member where it is unknown which of the patterns that
// cannot be run match its name. Read reports that another keyword already
// covers the value.
func (r *validation) maybeMatched(o *objectRules, s rawjson.Piece, start int, read bool) bool {
	all, none, words := true, true, "" // of the schemas that may apply
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
	r.I = start
	switch {
	case r.Stop != 0:
		return false
	case none:
		return r.additional(o, s)
	case !all:
		r.noteOpen(start, "patternProperties", words)
	}
	return r.plain(rawjson.KindOf(r.B[start]), nil)
}

// additional checks a member that is in neither properties nor patternProperties.
func (r *validation) additional(o *objectRules, s rawjson.Piece) bool {
	if !o.forbidden {
		return r.value(o.additional)
	}
	if !r.collect {
		return false
	}
	name := string(r.PlainText(s))
	kind := rawjson.KindOf(r.Next())
	at := r.I
	r.plain(kind, nil)
	return r.note(at, "additionalProperties", noMember(name))
}

func (r *validation) checkObject(o *objectRules, start, count, seen int) bool {
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

// missing records the absent members of one word of the set.
func (r *validation) missing(o *objectRules, start, first int, set uint64) bool {
	for ; set != 0 && r.collect; set &= set - 1 {
		name := o.members.list[first+bits.TrailingZeros64(set)].name
		r.noteMissing(start, string(name))
	}
	return false
}
