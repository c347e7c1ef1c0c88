package schema

import (
	"bytes"
	"hash/maphash"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// text reads a string.
func (r *validation) text(t *textRules) bool {
	s, ok := r.Str()
	if !ok {
		return false
	}
	r.left -= (s.End - s.Start) >> 3
	return t == nil || r.checkText(t, s)
}

func (r *validation) checkText(t *textRules, s rawjson.Piece) bool {
	raw := r.PlainText(s)
	ok := true
	if t.min > 0 || t.max >= 0 {
		n := len(raw)
		if s.Wide || s.Escaped {
			n = utf8.RuneCount(raw)
		}
		if n < t.min {
			ok = r.noteCount(s.Start-1, "minLength", "at least ", t.min, "character")
		}
		if t.max >= 0 && n > t.max {
			ok = r.noteCount(s.Start-1, "maxLength", "at most ", t.max, "character")
		}
		if !ok && r.fatal() {
			return false
		}
	}
	if t.pattern != nil {
		switch matched, open := t.pattern.matches(r, raw); {
		case open:
			r.noteOpen(s.Start-1, "pattern", t.pattern.words())
		case !matched:
			ok = r.collect && r.note(s.Start-1, "pattern", matching(t.pattern.source))
		}
	}
	return ok
}

// formatted checks the format of a string, given without its quotes.
func (r *validation) formatted(e *exactRules, raw []byte) bool {
	if bytes.IndexByte(raw, '\\') >= 0 {
		r.Scratch = rawjson.AppendUnescaped(r.Scratch[:0], raw)
		raw = r.Scratch
	}
	return hasCommonFormat(e.name, raw) || e.format.Validate(string(raw)) == nil
}

// number reads a number.
func (r *validation) number(n *node) bool {
	v, ok := r.Num()
	switch {
	case !ok:
		return false
	case n == nil:
		return true
	case n.types&rawjson.IsFraction == 0 && !r.integer(v):
		return r.collect && r.note(v.Start, "type", n.types.Words())
	case n.number == nil:
		return true
	}
	raw := r.B[v.Start:v.End]
	r.left -= len(raw) >> 3
	for i := range n.number.bounds {
		if b := &n.number.bounds[i]; !b.admits(raw) {
			ok = r.collect && r.note(v.Start, b.keyword(), b.words())
		}
	}
	if m := n.number.multiple; m != nil && !m.divides(raw) {
		ok = r.collect && r.note(v.Start, "multipleOf", "a multiple of "+string(m.text))
	}
	return ok
}

func (r *validation) integer(v rawjson.Numeral) bool {
	if v.Plain {
		return true
	}
	d := rawjson.ParseDecimal(r.B[v.Start:v.End])
	return d.IsInteger()
}

// noteCount is note for the keywords that limit a count.
func (r *validation) noteCount(at int, keyword, words string, n int, unit string) bool {
	return r.collect && r.note(at, keyword, words+count(strconv.Itoa(n), unit))
}

// array reads an array.
func (r *validation) array(a *arrayRules) bool {
	start := r.I
	if !r.Enter() {
		return false
	}
	base, count, ok, unique := len(r.keys), 0, true, true
	for more := r.Next() != ']'; more; count++ {
		r.Next()
		at := r.I
		if !r.value(a.at(count)) {
			if r.fatal() {
				return false
			}
			ok = false
		}
		if a != nil && a.unique {
			unique = r.newItem(base, at) && unique
		}
		switch r.Next() {
		case ',':
			r.I++
		case ']':
			more = false
		default:
			return r.Broken()
		}
	}
	r.Leave()
	if a == nil {
		return true
	}
	if a.unique {
		unique = r.unique(base, r.sameItem) && unique
	}
	return r.checkArray(a, start, count, unique) && ok
}

// at returns the schema of the item at an index.
func (a *arrayRules) at(index int) *node {
	switch {
	case a == nil:
		return nil
	case index < len(a.prefix):
		return a.prefix[index]
	}
	return a.items
}

func (r *validation) checkArray(a *arrayRules, start, count int, unique bool) bool {
	ok := true
	if count < a.min {
		ok = r.noteCount(start, "minItems", "at least ", a.min, "item")
	}
	if a.max >= 0 && count > a.max {
		ok = r.noteCount(start, "maxItems", "at most ", a.max, "item")
	}
	if !unique {
		ok = r.note(start, "uniqueItems", "no two equal items")
	}
	return ok
}

// hashed is a key or an item that must be unique.
type hashed struct {
	hash uint64
	at   int // where it begins
}

// fewKeys is how many keys are compared with each other immediately.
const fewKeys = 16

// newKeyed records a key or an item and reports whether it is new, if that is
// known before [validation.unique].
func (r *validation) newKeyed(base int, h hashed, same func(a, b int) bool) bool {
	list := r.keys[base:]
	r.keys = append(r.keys, h)
	if len(list) >= fewKeys {
		return true
	}
	for i := range list {
		if list[i].hash == h.hash && same(list[i].at, h.at) {
			return false
		}
	}
	return true
}

// unique reports whether the keys or items from base on are unique, and drops
// them.
func (r *validation) unique(base int, same func(a, b int) bool) bool {
	list := r.keys[base:]
	r.keys = r.keys[:base]
	if len(list) <= fewKeys {
		return true
	}
	slices.SortFunc(list, func(a, b hashed) int {
		switch {
		case a.hash < b.hash:
			return -1
		case a.hash > b.hash:
			return 1
		}
		return 0
	})
	for i := range list {
		for j := i + 1; j < len(list) && list[i].hash == list[j].hash; j++ {
			if same(list[i].at, list[j].at) {
				return false
			}
		}
	}
	return true
}

// newItem records the item that begins at an offset and ends at the position.
func (r *validation) newItem(base, at int) bool {
	raw := r.B[at:r.I]
	r.charge(rawjson.KindOf(raw[0]), raw)
	r.Scratch = rawjson.AppendEqualityKey(r.Scratch[:0], raw)
	return r.newKeyed(base, hashed{maphash.Bytes(r.seed, r.Scratch), at}, r.sameItem)
}

// sameItem compares the items that begin at two offsets.
func (r *validation) sameItem(a, b int) bool {
	return bytes.Equal(rawjson.AppendEqualityKey(nil, r.rawAt(a)), rawjson.AppendEqualityKey(nil, r.rawAt(b)))
}

// rawAt returns the value that begins at an offset and is known to be JSON.
func (r *validation) rawAt(at int) []byte {
	i := r.I
	r.I = at
	r.plain(rawjson.KindOf(r.B[at]), nil)
	raw := r.B[at:r.I]
	r.I = i
	return raw
}
