package rawjson

import (
	"hash/maphash"
	"math/bits"
)

// scanLimit is the number of members up to which comparing each of them is
// faster than hashing the key.
const scanLimit = 24

// Get returns the member of n with the given key, None if there is none or n is
// not an object. Of duplicate keys the last one applies, as in ECMAScript's
// JSON.parse.
func (d *Doc) Get(n Node, key string) Node {
	v := d.at(n)
	switch {
	case v == nil || v.kind != Object:
		return None
	case v.count > scanLimit:
		return d.indexOf(n).find(d, key)
	}
	found := None
	if v.count == 0 {
		return found
	}
	for c := uint32(n) + 1; ; {
		w := &d.nodes[c]
		// Most keys differ in length: those need no call.
		if (w.keyEscaped || int(w.keyEnd-w.keyStart) == len(key)) && d.hasKey(w, key) {
			found = Node(c)
		}
		if c = w.next; c == 0 {
			return found
		}
	}
}

// index is a hash table of the members of one object. It holds no keys: those
// are in the source.
type index struct {
	seed  maphash.Seed // random, so that no document can provoke collisions
	slots []Node       // a power of two, at most half full; None: free
	size  int          // different keys
}

// indexOf returns the index of a big object. Two callers may both build it; one
// of the two is kept.
func (d *Doc) indexOf(n Node) *index {
	if x, ok := d.index.Load(n); ok {
		return x.(*index) //nolint:forcetypeassert,errcheck // nothing else is stored
	}
	x, _ := d.index.LoadOrStore(n, d.buildIndex(n))
	return x.(*index) //nolint:forcetypeassert,errcheck // nothing else is stored
}

func (d *Doc) buildIndex(n Node) *index {
	x := &index{seed: maphash.MakeSeed(), slots: make([]Node, 2<<bits.Len(uint(d.Len(n))))}
	for i := range x.slots {
		x.slots[i] = None
	}
	for c := d.First(n); c != None; c = d.Next(c) {
		key := d.RawKey(c)
		if d.nodes[c].keyEscaped {
			key = AppendUnescaped(nil, key)
		}
		slot := x.slot(maphash.Bytes(x.seed, key), func(m Node) bool { return d.hasKey(&d.nodes[m], string(key)) })
		if *slot == None {
			x.size++
		}
		*slot = c
	}
	return x
}

func (x *index) find(d *Doc, key string) Node {
	return *x.slot(maphash.String(x.seed, key), func(m Node) bool { return d.hasKey(&d.nodes[m], key) })
}

// slot returns the slot of a key, used or free.
func (x *index) slot(hash uint64, same func(Node) bool) *Node {
	mask := uint64(len(x.slots) - 1) //nolint:gosec // there are slots
	for i := hash & mask; ; i = (i + 1) & mask {
		if n := x.slots[i]; n == None || same(n) {
			return &x.slots[i]
		}
	}
}
