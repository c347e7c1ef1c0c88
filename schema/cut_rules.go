package schema

import "bytes"

// standing is what the rules of a schema say about slices of an array or object.
type standing uint8

const (
	proved   standing = iota // every slice fits
	doubtful                 // perhaps
	refused                  // some slice does not fit
)

// standing goes down the path to a box with all the schemas that apply on the
// way. Slices are safe where they only say what items or members are like, how
// many there may be at most, and that no two are equal. Above the box, members
// are neither taken away nor added, so all rules about those hold for parts;
// those of a box above have a standing of their own.
func (c *cutter) standing(s *Schema, a box) standing {
	c.doubt = s.second != nil // some keywords are not among the rules
	c.reset(c.b, false)
	at := func(i int) (types, int) {
		switch {
		case i < len(a.path):
		case a.array:
			return isArray, a.start
		default:
			return isObject, a.start
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
		switch {
		case a.array && n.array != nil && (n.array.min > 0 || len(n.array.prefix) > 0),
			!a.array && n.object != nil && (n.object.min > 0 || n.object.members.needed):
			return refused
		}
	}
	if c.doubt {
		return doubtful
	}
	return proved
}
