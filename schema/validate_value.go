package schema

import (
	"bytes"
	"hash/maphash"
	"slices"
)

// array reads an array.
func (r *run) array(a *arrayRules) bool {
	start := r.i
	if !r.enter() {
		return false
	}
	base, count, ok, unique := len(r.keys), 0, true, true
	for more := r.next() != ']'; more; count++ {
		r.next()
		at := r.i
		if !r.value(a.at(count)) {
			if r.fatal() {
				return false
			}
			ok = false
		}
		if a != nil && a.unique {
			unique = r.newItem(base, at) && unique
		}
		switch r.next() {
		case ',':
			r.i++
		case ']':
			more = false
		default:
			return r.broken()
		}
	}
	r.leave()
	if a == nil {
		return true
	}
	if a.unique {
		unique = r.unique(base, r.sameItem) && unique
	}
	return r.checkArray(a, start, count, unique) && ok
}

// at answers the schema of the item with an index.
func (a *arrayRules) at(index int) *node {
	switch {
	case a == nil:
		return nil
	case index < len(a.prefix):
		return a.prefix[index]
	}
	return a.items
}

func (r *run) checkArray(a *arrayRules, start, count int, unique bool) bool {
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

// enter and leave go over the brackets of a container.
func (r *run) enter() bool {
	if r.depth++; r.depth > maxDepth {
		return r.broken()
	}
	r.i++
	return true
}

func (r *run) leave() {
	r.depth--
	r.i++
}

// hashed is a key or an item that must not come twice.
type hashed struct {
	hash uint64
	at   int // where it begins
}

// fewKeys are compared with each other as they come.
const fewKeys = 16

// newKeyed keeps a key or an item and reports whether it is new, as far as
// that is known before [run.unique].
func (r *run) newKeyed(base int, h hashed, same func(a, b int) bool) bool {
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

// unique reports whether none of the keys or items from base on came twice,
// and forgets them.
func (r *run) unique(base int, same func(a, b int) bool) bool {
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

// newItem keeps the item that begins at an offset and ends at the position.
func (r *run) newItem(base, at int) bool {
	raw := r.b[at:r.i]
	r.charge(kindOf(raw[0]), raw)
	r.scratch = appendCanonical(r.scratch[:0], raw)
	return r.newKeyed(base, hashed{maphash.Bytes(r.seed, r.scratch), at}, r.sameItem)
}

// sameItem compares the items that begin at two offsets.
func (r *run) sameItem(a, b int) bool {
	return bytes.Equal(appendCanonical(nil, r.rawAt(a)), appendCanonical(nil, r.rawAt(b)))
}

// rawAt answers the value that begins at an offset and is known to be JSON.
func (r *run) rawAt(at int) []byte {
	i := r.i
	r.i = at
	r.plain(kindOf(r.b[at]), nil)
	raw := r.b[at:r.i]
	r.i = i
	return raw
}
