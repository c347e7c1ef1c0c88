package schema

import "bytes"

// standing is what the rules of a schema say about slices of an array.
type standing uint8

const (
	proved   standing = iota // every slice fits
	doubtful                 // perhaps
	refused                  // some slice does not fit
)

// standing goes down the path to an array with all the schemas that apply on
// the way. Slices are safe where they only say what items are like, how many
// there may be at most, and that no two are equal. Above the array, members
// are neither taken away nor added, so all rules about those hold for parts.
func (c *cutter) standing(s *Schema, a sliceable) standing {
	c.doubt = s.second != nil // some keywords are not among the rules
	c.reset(c.b, false)
	at := func(i int) (types, int) {
		if i == len(a.path) {
			return isArray, a.start
		}
		return isObject, a.path[i].object
	}
	kind, start := at(0)
	rules := c.gather(nil, s.root, kind, start)
	for i, h := range a.path {
		kind, start = at(i + 1)
		var below []*node
		name := bytes.Clone(c.plainText(h.name)) // what follows uses the same scratch space
		for _, n := range rules {
			below = c.follow(below, n, name, kind, start)
		}
		rules = below
	}
	for _, n := range rules {
		if n.array != nil && (n.array.min > 0 || len(n.array.prefix) > 0) {
			return refused
		}
	}
	if c.doubt {
		return doubtful
	}
	return proved
}
