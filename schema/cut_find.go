package schema

import (
	"cmp"
	"slices"
)

// cutter looks for arrays and objects that a value can be cut at.
type cutter struct {
	guide
	path  []hop
	lists []box // by what cutting them brings, the most first
	maps  []box // the same for objects
}

// hop is a step from an object to one of its members.
type hop struct {
	object int // where it begins
	name   piece
}

// box is an array or an object in the value that may be cut.
type box struct {
	start, end int
	array      bool
	largest    int // bytes of its largest item
	path       []hop
	standing   standing
}

// gain answers how many bytes of a box need not stand together.
func (b *box) gain() int { return b.end - b.start - b.largest }

func byGain(a, b box) int { return cmp.Compare(b.gain(), a.gain()) }

func (b *box) holds(other box) bool { return b.start <= other.start && other.end <= b.end }

// look finds the boxes that bring most, lists before objects. It answers none
// if the value is not JSON.
func (c *cutter) look(value []byte) []box {
	c.reset(value, false)
	if !c.lookAt() || c.next() != 0 || c.i != len(value) {
		return nil
	}
	return append(c.lists, c.maps...)
}

// lookAt goes over the value at the position. What is in arrays cannot be
// reached through members only.
func (c *cutter) lookAt() bool {
	switch kind := kindOf(c.next()); kind {
	case 0:
		return c.broken()
	case isObject:
		return c.members()
	case isArray:
		return c.items()
	default:
		return c.plain(kind, nil)
	}
}

func (c *cutter) items() bool {
	b := box{start: c.i, array: true}
	if !c.enter() {
		return false
	}
	count := 0
	for more := c.next() != ']'; more; count++ {
		c.next()
		at := c.i
		if !c.value(nil) {
			return false
		}
		b.largest = max(b.largest, c.i-at)
		switch c.next() {
		case ',':
			c.i++
		case ']':
			more = false
		default:
			return c.broken()
		}
	}
	c.leave()
	c.propose(b, count)
	return true
}

func (c *cutter) members() bool {
	b := box{start: c.i}
	if !c.enter() {
		return false
	}
	base, count := len(c.keys), 0
	for more := c.next() != '}'; more; count++ {
		at, name, ok := c.key()
		if !ok || !c.newName(base, at, name) || !c.colon() {
			return false
		}
		c.path = append(c.path, hop{b.start, name})
		if !c.lookAt() {
			return false
		}
		c.path = c.path[:len(c.path)-1]
		b.largest = max(b.largest, c.i-at)
		if more, ok = c.comma(); !ok {
			return false
		}
	}
	c.leave()
	if !c.unique(base, c.sameName) {
		return c.broken()
	}
	c.propose(b, count)
	return true
}

// propose keeps a box that ends at the position, if it is among those that
// bring most. One with a single item is worth it only for what is in that.
func (c *cutter) propose(b box, count int) {
	if b.end = c.i; count == 0 || count == 1 && b.array {
		return
	}
	to := &c.maps
	if b.array {
		to = &c.lists
	}
	at := len(*to)
	for at > 0 && (*to)[at-1].gain() < b.gain() {
		at--
	}
	if at == maxBoxes {
		return
	}
	b.path = slices.Clone(c.path)
	*to = slices.Insert(*to, at, b)
	*to = (*to)[:min(len(*to), maxBoxes)]
}

// choose picks the boxes to cut at, in the order of the value: lists if that is
// enough to bring the rest below the limit, because lists are meant to be read
// in parts; else lists and objects.
func (c *cutter) choose(boxes []box, limit int) []box {
	size := len(c.b)
	lists := slices.DeleteFunc(slices.Clone(boxes), func(b box) bool { return !b.array })
	if chosen, rest := c.chooseOf(lists, size, limit); rest <= limit {
		return chosen
	}
	boxes = slices.Clone(boxes)
	slices.SortStableFunc(boxes, byGain)
	chosen, _ := c.chooseOf(boxes, size, limit)
	return chosen
}

// chooseOf picks the boxes that bring most, until the rest is below the limit;
// then, in members that are above it themselves, what they hold. It answers the
// size of the rest, too, which stands in every part.
func (c *cutter) chooseOf(boxes []box, size, limit int) (chosen []box, base int) {
	base = size
	inside := func(b box) bool {
		return slices.ContainsFunc(chosen, func(o box) bool { return o.holds(b) })
	}
	for _, b := range boxes {
		if base <= limit {
			break
		}
		if inside(b) {
			continue
		}
		rest := base - (b.end - b.start) + len("[]")
		for _, o := range chosen {
			if b.holds(o) && !slices.ContainsFunc(chosen, func(p box) bool { return p.start != o.start && p.holds(o) }) {
				rest += o.end - o.start - len("[]")
			}
		}
		if rest < base {
			base = rest
			chosen = append(chosen, b)
		}
	}
	slices.SortStableFunc(boxes, func(a, b box) int {
		switch {
		case a.array == b.array:
			return 0
		case a.array:
			return -1
		}
		return 1
	})
	for _, b := range boxes {
		if base < limit && c.needed(chosen, b, limit-base) {
			chosen = append(chosen, b)
		}
	}
	slices.SortFunc(chosen, func(a, b box) int { return cmp.Compare(a.start, b.start) })
	return chosen, base
}

// needed reports whether a box stands in a member of a chosen object that has
// no room in a part, what is cut of it already not counted.
func (c *cutter) needed(chosen []box, b box, room int) bool {
	around := -1
	for i, o := range chosen {
		if o.start == b.start || o.array && o.holds(b) {
			return false
		}
		if o.holds(b) && (around < 0 || chosen[around].holds(o)) {
			around = i // the innermost
		}
	}
	if around < 0 || chosen[around].largest <= room {
		return false
	}
	start, end := c.member(chosen[around], b)
	size := end - start
	for _, o := range chosen {
		if start < o.start && o.end <= end {
			size -= o.end - o.start
		}
	}
	return size > room
}

// member answers where the member of an object begins and ends that holds a box.
func (c *cutter) member(object, b box) (start, end int) {
	c.reset(c.b, false)
	for c.i = object.start + 1; c.next() == '"'; {
		start = c.i
		if _, ok := c.str(); !ok || !c.colon() || !c.value(nil) {
			break
		}
		if start < b.start && b.end <= c.i {
			return start, c.i
		}
		if c.next() == ',' {
			c.i++
		}
	}
	return 0, 0
}
