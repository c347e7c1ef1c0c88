package schema

import (
	"slices"
)

// cutter looks for arrays that a value can be cut at.
type cutter struct {
	guide
	need  int // how many bytes an array must have
	path  []hop
	found []sliceable // by size, the largest first
}

// hop is a step from an object to one of its members.
type hop struct {
	object int // where it begins
	name   piece
}

// sliceable is an array in the value.
type sliceable struct {
	start, end int
	path       []hop
}

// arrays finds the arrays that are large enough. It answers none if the value
// is not JSON.
func (c *cutter) arrays(value []byte) []sliceable {
	c.reset(value, false)
	if !c.look() || c.next() != 0 || c.i != len(value) {
		return nil
	}
	return c.found
}

// look goes over the value at the position.
func (c *cutter) look() bool {
	switch kind := kindOf(c.next()); kind {
	case 0:
		return c.broken()
	case isObject:
		return c.lookInto()
	case isArray:
		start := c.i
		if !c.array(nil) {
			return false
		}
		c.propose(start)
		return true
	default:
		return c.plain(kind, nil)
	}
}

// lookInto goes over the members of an object. What is in arrays cannot be
// reached through members only.
func (c *cutter) lookInto() bool {
	start := c.i
	if !c.enter() {
		return false
	}
	base := len(c.keys)
	for more := c.next() != '}'; more; {
		at, name, ok := c.key()
		if !ok || !c.newName(base, at, name) || !c.colon() {
			return false
		}
		c.path = append(c.path, hop{start, name})
		if !c.look() {
			return false
		}
		c.path = c.path[:len(c.path)-1]
		if more, ok = c.comma(); !ok {
			return false
		}
	}
	c.leave()
	return c.unique(base, c.sameName) || c.broken()
}

// propose keeps the array that begins at start and ends at the position, if it
// is among the largest.
func (c *cutter) propose(start int) {
	size := c.i - start
	if size < c.need {
		return
	}
	at := len(c.found)
	for at > 0 && c.found[at-1].end-c.found[at-1].start < size {
		at--
	}
	if at == maxSliceables {
		return
	}
	c.found = slices.Insert(c.found, at, sliceable{start, c.i, slices.Clone(c.path)})
	c.found = c.found[:min(len(c.found), maxSliceables)]
}

// slices cuts an array: as many items to a part as the limit allows, but one
// at least. It answers nil if one part is enough or there are too many.
func (c *cutter) slices(a sliceable, limit int) *Cut {
	room := limit - (len(c.b) - (a.end - a.start)) - len("[]")
	cut := &Cut{Start: a.start, End: a.end}
	part := Slice{}
	c.reset(c.b, false)
	c.i = a.start + 1
	for c.next() != ']' {
		start := c.i
		if !c.value(nil) {
			return nil // cannot be: it was read before
		}
		if part.Items > 0 && c.i-part.Start > room {
			if cut.Parts = append(cut.Parts, part); len(cut.Parts) >= maxParts {
				return nil
			}
			part = Slice{}
		}
		if part.Items == 0 {
			part.Start = start
		}
		part.End = c.i
		part.Items++
		if c.next() == ',' {
			c.i++
		}
	}
	if len(cut.Parts) == 0 {
		return nil
	}
	cut.Parts = append(cut.Parts, part)
	return cut
}

// pointer answers the JSON Pointer of an array.
func (c *cutter) pointer(a sliceable) string {
	var p []byte
	for _, h := range a.path {
		p = appendToken(p, string(c.plainText(h.name)))
	}
	return string(p)
}
