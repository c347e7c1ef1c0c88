package schema

import "slices"

// packer goes once over a value and puts the items of its boxes into parts.
type packer struct {
	*cutter
	boxes []openBox // in the order of the value, so that outer ones come first
	stack []child   // the boxes that the position is in
	room  int       // for a part
	cut   Cut
	items int // in the part that is being made
	live  []bool
}

// openBox is a box with what the part that is being made has of it: a stretch
// of neighbouring items, none if first is 0.
type openBox struct {
	box
	parent      int // the box around it, -1: none
	first, last int
}

// child is a place in a box: a member in which other boxes stand, or the item
// that comes next.
type child struct {
	box        int
	start, end int
}

// pack cuts at boxes: as many items to a part as the limit allows, but one at
// least. It answers nil if one part is enough or there are too many.
func (c *cutter) pack(chosen []box, limit int) *Cut {
	p := packer{cutter: c, live: make([]bool, len(chosen))}
	for i, b := range chosen {
		o := openBox{box: b, parent: -1}
		for j := range i {
			if chosen[j].holds(b) {
				o.parent = j
			}
		}
		p.boxes = append(p.boxes, o)
	}
	p.room = limit
	if base := p.size(); base >= limit { // every part is above the limit, but no more than twice what it has to be
		p.room = base + max(base, limit)
	}
	c.reset(c.b, false)
	if !p.over() {
		return nil
	}
	if len(p.cut.Parts) == 0 || len(p.cut.Parts) >= maxParts {
		return nil
	}
	p.close()
	return &p.cut
}

// over goes over the value at the position.
func (p *packer) over() bool {
	kind := kindOf(p.next())
	start := p.i
	me := slices.IndexFunc(p.boxes, func(b openBox) bool { return b.start == start })
	switch {
	case me >= 0 && kind == isArray:
		return p.overItems(me)
	case kind == isObject:
		return p.overMembers(me)
	}
	return p.plain(kind, nil)
}

func (p *packer) overItems(me int) bool {
	p.i++
	for p.next() != ']' {
		at := p.i
		if !p.value(nil) || !p.item(me, at) {
			return false
		}
		if p.next() == ',' {
			p.i++
			p.next()
		}
	}
	p.i++
	return true
}

// overMembers goes over an object, which is a box itself if me is not -1.
func (p *packer) overMembers(me int) bool {
	p.i++
	for p.next() != '}' {
		at := p.i
		if _, ok := p.str(); !ok || !p.colon() {
			return false
		}
		p.next()
		value := p.i
		if !p.value(nil) {
			return false
		}
		if !p.member(me, at, value) {
			return false
		}
		if p.next() == ',' {
			p.i++
		}
	}
	p.i++
	return true
}

// member packs a member that begins at the offset at and ends at the position:
// one that holds a box stays and is gone over, any other is an item where the
// object is a box.
func (p *packer) member(me, at, value int) bool {
	switch {
	case !p.holdsBox(value, p.i):
		return me < 0 || p.item(me, at)
	case me < 0:
		p.i = value
		return p.over()
	}
	p.stack = append(p.stack, child{me, at, p.i})
	p.i = value
	ok := p.over()
	p.stack = p.stack[:len(p.stack)-1]
	return ok
}

func (p *packer) holdsBox(start, end int) bool {
	return slices.ContainsFunc(p.boxes, func(b openBox) bool { return start <= b.start && b.end <= end })
}

// item puts the item of a box that ends at the position into this part or, if
// that becomes too large, into the next one.
func (p *packer) item(me, at int) bool {
	p.stack = append(p.stack, child{me, at, p.i})
	if p.items > 0 {
		was := make([]openBox, 0, 8)
		for _, s := range p.stack {
			was = append(was, p.boxes[s.box])
		}
		p.extend()
		if p.size() <= p.room {
			p.items++
			p.stack = p.stack[:len(p.stack)-1]
			return true
		}
		for i, s := range p.stack {
			p.boxes[s.box] = was[i]
		}
		p.close()
		if len(p.cut.Parts) >= maxParts {
			return false
		}
	}
	p.extend()
	p.items = 1
	p.stack = p.stack[:len(p.stack)-1]
	return true
}

// extend takes what the stack says into the part.
func (p *packer) extend() {
	for _, s := range p.stack {
		b := &p.boxes[s.box]
		if b.first == 0 {
			b.first = s.start
		}
		b.last = s.end
	}
}

// close ends a part.
func (p *packer) close() {
	part := Slice{Items: p.items}
	p.holes(func(start, end int) { part.Holes = append(part.Holes, Hole{start, end}) })
	slices.SortFunc(part.Holes, func(a, b Hole) int { return a.Start - b.Start })
	p.cut.Parts = append(p.cut.Parts, part)
	for i := range p.boxes {
		p.boxes[i].first = 0
	}
	p.items = 0
}

// size is that of the part.
func (p *packer) size() int {
	size := len(p.b)
	p.holes(func(start, end int) { size -= end - start })
	return size
}

// holes yields what the part leaves out: of each box that it has at all, what
// stands before its first and behind its last item.
func (p *packer) holes(yield func(start, end int)) {
	for i := range p.boxes {
		b := &p.boxes[i]
		p.live[i] = true
		if b.parent >= 0 {
			o := &p.boxes[b.parent]
			p.live[i] = p.live[b.parent] && o.first > 0 && o.first <= b.start && b.start < o.last
		}
		switch {
		case !p.live[i]:
		case b.first == 0:
			yield(b.start+1, b.end-1)
		default:
			yield(b.start+1, b.first)
			yield(b.last, b.end-1)
		}
	}
}
