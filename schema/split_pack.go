package schema

import (
	"slices"
	"strconv"
)

// packer goes over a value and puts what is cut of it into parts, one after the
// other.
type packer struct {
	*cutter
	frames    []frame            // the regions that the position is in, the value itself first
	begins    int                // bytes that the next part begins with
	used      int                // bytes of the part that is being made, or a few more
	items     int                // in it
	pieces    int                // bytes of texts in it
	done      []UncheckedPattern // in items that are over already
	named     []int              // what these have of it
	continued []int              // arrays that it goes on in, in an item
	holes     int                // of all parts
	failed    bool
	onlyText  bool
	bytes     []int // of texts, in each part
	cut       Split
}

// frame is an item or a member that is cut in its turn.
type frame struct {
	*region
	base  int     // bytes of it that stand in every part
	owner *region // the array or object that it is in
}

// divide cuts the value. It answers nil if one part is enough or there are too
// many.
func (c *cutter) divide() *Split {
	p := packer{cutter: c, onlyText: true}
	start := skipSpaces(c.b, 0)
	rules, doubt := c.rootRules(start)
	left := maxRegions
	root := c.region(&region{at: start, start: start, end: skipValue(c.b, start), rules: rules, doubt: doubt}, &left)
	if !c.choose(root, c.room-(len(c.b)-(root.end-root.start))) {
		return nil
	}
	p.push(frame{root, len(c.b) - (root.end - root.start) + root.base(), nil})
	p.used = p.begins
	p.walk(root)
	p.close()
	if p.failed || len(p.cut.Parts) < 2 || c.budget < 0 {
		return nil
	}
	if p.cut.Text = p.onlyText; !p.onlyText {
		return &p.cut
	}
	for i := range p.cut.Parts {
		p.cut.Parts[i].Items = p.bytes[i]
	}
	return &p.cut
}

func (p *packer) push(f frame) {
	p.frames = append(p.frames, f)
	p.begins += f.base
	if f.owner != nil {
		p.begins -= f.owner.floor
	}
}

func (p *packer) pop() {
	f := p.frames[len(p.frames)-1]
	p.frames = p.frames[:len(p.frames)-1]
	p.begins -= f.base
	if f.owner != nil {
		p.begins += f.owner.floor
	}
	p.leaves(f.region, func(start, end int) {
		if start < end {
			p.done = append(p.done, UncheckedPattern{start, end})
		}
	}, func(i int) { p.named = append(p.named, i) })
}

// walk hands out what is cut of a region.
func (p *packer) walk(r *region) {
	switch {
	case p.failed:
	case !r.cut:
		for _, k := range r.kids {
			p.walk(k)
		}
	case r.kind == isArray:
		p.walkItems(r)
	case r.kind == isObject:
		p.walkMembers(r)
	default:
		p.walkText(r)
	}
}

// child is an item of an array or a member of an object.
type child struct {
	span
	value  int // where the value begins
	index  int // of the item; -1: a member
	name   piece
	before int // where the child before it ends, 0: it is the first
}

// walkItems hands out the items of an array, as many at a time as must stand
// together.
func (p *packer) walkItems(r *region) {
	p.onlyText = false
	units := r.count / r.unit
	u := child{}
	p.cutter.items(r, func(i int, item span) {
		if i%r.unit == 0 && i/r.unit < units {
			u = child{span: item, value: item.start, index: i, before: u.end}
		}
		u.end = item.end
		if i == r.count-1 || (i+1)%r.unit == 0 && (i+1)/r.unit < units {
			p.child(r, u)
		}
	})
}

// walkMembers hands out the members of an object that need not stand in every
// part, and what is cut of the others.
func (p *packer) walkMembers(r *region) {
	p.onlyText = false
	kids, must, before := r.standingKids(), r.must, 0
	p.members(r, func(m pair) {
		if len(must) > 0 && must[0].start == m.start {
			must = must[1:]
			if len(kids) > 0 && kids[0].at == m.start {
				p.walk(kids[0])
				kids = kids[1:]
			}
		} else {
			p.child(r, child{m.span, m.value.start, -1, m.name, before})
		}
		before = m.end
	})
}

// gap answers how many bytes stand between a child and what the part has of its
// region before it.
func (r *region) gap(k child, fresh bool) int {
	switch {
	case r.kind == isArray && (fresh || r.first == 0), r.kind == isObject && (fresh || r.first == 0) && len(r.must) == 0:
		return 0
	case k.before == 0:
		return len(",")
	}
	return k.start - k.before
}

// child puts a child into this part or, if that becomes too large, into the next
// one; or, if it is too large for any, what is cut of it into several.
func (p *packer) child(r *region, k child) {
	switch {
	case p.failed:
	case p.used+p.adds(r, k) <= p.room:
		p.take(r, k)
		p.items++
	case p.begins-r.floor+r.gap(k, true)+k.end-k.start > p.room && p.inside(r, k):
	default:
		if p.items > 0 {
			p.close()
		}
		p.take(r, k)
		p.items++
	}
}

// adds answers how many bytes a child adds to the part.
func (p *packer) adds(r *region, k child) int {
	size := r.gap(k, false) + k.end - k.start
	if r.first == 0 {
		size -= r.floor
	}
	return size
}

func (p *packer) take(r *region, k child) {
	p.used += p.adds(r, k)
	if r.first == 0 {
		r.first = k.start
	}
	r.last = k.end
}

// inside cuts a child that no part has room for, if it can be cut.
func (p *packer) inside(r *region, k child) bool {
	if k.index >= 0 && (p.mode.flat || r.unit > 1) || len(p.frames) == maxNesting || kindOf(p.b[k.value])&(isContainer|isString) == 0 {
		return false
	}
	in := &region{at: k.start, start: k.value, end: k.end}
	if k.index < 0 {
		name := string(p.plainText(k.name))
		in.pointer = string(appendToken([]byte(r.pointer), name))
		in.rules, in.doubt = p.memberRules(r, []byte(name), k.value)
	} else {
		in.pointer = r.pointer + "/" + strconv.Itoa(k.index)
		in.rules, in.doubt = p.itemRules(r, k.index, k.value)
	}
	left := maxRegions
	p.region(in, &left)
	around := k.value - k.start + r.gap(k, true)
	room := p.room - (p.begins - r.floor) - around
	if !p.choose(in, room) {
		return false
	}
	base := around + in.base()
	if start := p.used + r.gap(k, false) - r.gap(k, true) + base; p.items > 0 && p.room-start < max(minPiece, (room-in.base())/4) {
		p.close()
	}
	left = base - around + k.value - k.end // what the parts do not have of it
	p.take(r, k)
	p.used += left
	p.push(frame{in, base, r})
	p.walk(in)
	p.pop()
	return true
}

// walkText hands out a text.
func (p *packer) walkText(r *region) {
	end := r.end - len(`"`)
	for from := r.start + 1; from < end && !p.failed; {
		left := p.room - p.used + r.floor
		if left < minPiece && p.items > 0 {
			p.close()
			continue
		}
		to := pieceEnd(p.b[:end], from, max(left, minPiece))
		if to < end {
			for n, at := 0, from; n < r.unit && at < end; n++ {
				at += characterLen(p.b[at:end])
				to = max(to, at)
			}
			if to = min(to, r.tail); to <= from {
				to = end
			}
		}
		r.first, r.last = from, to
		p.used += to - from - r.floor
		p.items++
		p.pieces += to - from
		if from = to; from < end {
			p.close()
		}
	}
}

// close ends a part, and begins the next one.
func (p *packer) close() {
	if p.items == 0 {
		return
	}
	s := Slice{Items: p.items, Holes: p.done, Continued: p.continued}
	hole := func(start, end int) {
		if start < end {
			s.Holes = append(s.Holes, UncheckedPattern{start, end})
		}
	}
	for _, f := range p.frames {
		p.leaves(f.region, hole, func(i int) { s.Cuts = append(s.Cuts, i) })
	}
	s.Cuts = append(s.Cuts, p.named...)
	slices.SortFunc(s.Holes, func(a, b UncheckedPattern) int { return a.Start - b.Start })
	p.holes += len(s.Holes)
	p.failed = p.failed || p.holes > maxHoles || len(p.cut.Parts) == maxParts
	p.cut.Parts = append(p.cut.Parts, s)
	p.bytes = append(p.bytes, p.pieces)
	p.used, p.items, p.pieces, p.done, p.named, p.continued = p.begins, 0, 0, nil, nil, nil
	for _, f := range p.frames {
		for _, r := range f.all() {
			r.first = 0
		}
		if f.owner != nil {
			f.owner.first, f.owner.last = f.at, f.end
		}
		if f.owner != nil && f.owner.kind == isArray {
			p.continued = append(p.continued, p.index(f.owner))
		}
	}
}

// leaves tells what the part leaves out of a region, and names what is cut
// there.
func (p *packer) leaves(r *region, hole func(start, end int), name func(index int)) {
	for _, k := range r.standingKids() {
		p.leaves(k, hole, name)
	}
	if !r.cut {
		return
	}
	if r.first != 0 || r.floor == 0 {
		name(p.index(r))
	}
	kept := span{r.first, r.last}
	if r.first == 0 {
		kept = r.stretch
	}
	at := r.start + 1 // all before is told
	keep := func(k span) {
		from := k.start
		for at > r.start+1 && p.b[from-1] != ',' && from > at {
			from--
		}
		if at > r.start+1 && from > at {
			from-- // the comma stays
		}
		hole(at, from)
		at = k.end
	}
	for _, m := range r.must {
		if kept.start != 0 && kept.start < m.start {
			keep(kept)
			kept.start = 0
		}
		if m.start >= at {
			keep(m)
		}
	}
	if kept.start != 0 && kept.start < kept.end {
		keep(kept)
	}
	hole(at, r.end-1)
}

// index answers the place of a region's pointer.
func (p *packer) index(r *region) int {
	if r.named == 0 {
		p.cut.Pointers = append(p.cut.Pointers, r.pointer)
		r.named = len(p.cut.Pointers)
	}
	return r.named - 1
}
