package schema

import (
	"slices"
	"strconv"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// packer walks a value and distributes the split regions over parts.
type packer struct {
	*splitter
	frames    []frame // the split regions around the position, outermost first
	begins    int     // bytes that every new part begins with
	used      int     // upper bound of the current part's bytes
	items     int     // in the current part
	pieces    int     // bytes of strings in the current part
	done      []Hole  // in items that are complete
	named     []int   // the split regions of these
	continued []int   // arrays whose item the current part continues
	holes     int     // of all parts
	failed    bool
	onlyText  bool
	bytes     []int // of strings, in each part
	cut       Split
}

// frame is an item or a member that is split in its turn.
type frame struct {
	*region
	base  int     // bytes of it that are repeated in every part
	owner *region // the array or object that it is in
}

// divide splits the value. It returns nil if one part is enough or there are
// too many.
func (c *splitter) divide() *Split {
	p := packer{splitter: c, onlyText: true}
	start := rawjson.SpaceEnd(c.B, 0)
	rules, doubt := c.rootRules(start)
	left := maxRegions
	root := c.region(&region{at: start, start: start, end: rawjson.ValueEnd(c.B, start), rules: rules, incomplete: doubt}, &left)
	if !c.choose(root, c.maxSize-(len(c.B)-(root.end-root.start))) {
		return nil
	}
	p.push(frame{root, len(c.B) - (root.end - root.start) + root.base(), nil})
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
		p.begins -= f.owner.minSize
	}
}

func (p *packer) pop() {
	f := p.frames[len(p.frames)-1]
	p.frames = p.frames[:len(p.frames)-1]
	p.begins -= f.base
	if f.owner != nil {
		p.begins += f.owner.minSize
	}
	p.omitted(f.region, func(start, end int) {
		if start < end {
			p.done = append(p.done, Hole{start, end})
		}
	}, func(i int) { p.named = append(p.named, i) })
}

// walk distributes what is split of a region.
func (p *packer) walk(r *region) {
	switch {
	case p.failed:
	case !r.split:
		for _, k := range r.children {
			p.walk(k)
		}
	case r.kind == rawjson.IsArray:
		p.walkItems(r)
	case r.kind == rawjson.IsObject:
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
	name   rawjson.Piece
	before int // where the previous child ends, 0: this is the first
}

// walkItems distributes the items of an array, as many at a time as must stay
// together.
func (p *packer) walkItems(r *region) {
	p.onlyText = false
	units := r.count / r.unit
	u := child{}
	p.splitter.items(r, func(i int, item span) {
		if i%r.unit == 0 && i/r.unit < units {
			u = child{span: item, value: item.start, index: i, before: u.end}
		}
		u.end = item.end
		if i == r.count-1 || (i+1)%r.unit == 0 && (i+1)/r.unit < units {
			p.child(r, u)
		}
	})
}

// walkMembers distributes the members of an object that need not be in every
// part, and what is split of the others.
func (p *packer) walkMembers(r *region) {
	p.onlyText = false
	kids, must, before := r.fixedChildren(), r.required, 0
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

// gap returns the number of bytes between a child and the part's previous item
// of its region.
func (r *region) gap(k child, fresh bool) int {
	switch {
	case r.kind == rawjson.IsArray && (fresh || r.first == 0), r.kind == rawjson.IsObject && (fresh || r.first == 0) && len(r.required) == 0:
		return 0
	case k.before == 0:
		return len(",")
	}
	return k.start - k.before
}

// child adds a child to the current part or, if that becomes too large, to the
// next one; or, if it is too large for any, splits it over several.
func (p *packer) child(r *region, k child) {
	switch {
	case p.failed:
	case p.used+p.adds(r, k) <= p.maxSize:
		p.take(r, k)
		p.items++
	case p.begins-r.minSize+r.gap(k, true)+k.end-k.start > p.maxSize && p.splitChild(r, k):
	default:
		if p.items > 0 {
			p.close()
		}
		p.take(r, k)
		p.items++
	}
}

// adds returns how many bytes a child adds to the part.
func (p *packer) adds(r *region, k child) int {
	size := r.gap(k, false) + k.end - k.start
	if r.first == 0 {
		size -= r.minSize
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

// splitChild splits a child that is larger than a part, if it can be split.
func (p *packer) splitChild(r *region, k child) bool {
	if k.index >= 0 && (p.mode.flat || r.unit > 1) || len(p.frames) == maxNesting || rawjson.KindOf(p.B[k.value])&(rawjson.IsContainer|rawjson.IsString) == 0 {
		return false
	}
	in := &region{at: k.start, start: k.value, end: k.end}
	if k.index < 0 {
		name := string(p.PlainText(k.name))
		in.pointer = string(rawjson.AppendToken([]byte(r.pointer), name))
		in.rules, in.incomplete = p.memberRules(r, []byte(name), k.value)
	} else {
		in.pointer = r.pointer + "/" + strconv.Itoa(k.index)
		in.rules, in.incomplete = p.itemRules(r, k.index, k.value)
	}
	left := maxRegions
	p.region(in, &left)
	around := k.value - k.start + r.gap(k, true)
	limit := p.maxSize - (p.begins - r.minSize) - around
	if !p.choose(in, limit) {
		return false
	}
	base := around + in.base()
	if start := p.used + r.gap(k, false) - r.gap(k, true) + base; p.items > 0 && p.maxSize-start < max(minPiece, (limit-in.base())/4) {
		p.close()
	}
	left = base - around + k.value - k.end // of which the parts have nothing
	p.take(r, k)
	p.used += left
	p.push(frame{in, base, r})
	p.walk(in)
	p.pop()
	return true
}

// walkText distributes a string.
func (p *packer) walkText(r *region) {
	end := r.end - len(`"`)
	for from := r.start + 1; from < end && !p.failed; {
		left := p.maxSize - p.used + r.minSize
		if left < minPiece && p.items > 0 {
			p.close()
			continue
		}
		to := pieceEnd(p.B[:end], from, max(left, minPiece))
		if to < end {
			for n, at := 0, from; n < r.unit && at < end; n++ {
				at += characterLen(p.B[at:end])
				to = max(to, at)
			}
			if to = min(to, r.tail); to <= from {
				to = end
			}
		}
		r.first, r.last = from, to
		p.used += to - from - r.minSize
		p.items++
		p.pieces += to - from
		if from = to; from < end {
			p.close()
		}
	}
}

// close ends a part and begins the next one.
func (p *packer) close() {
	if p.items == 0 {
		return
	}
	s := Slice{Items: p.items, Holes: p.done, Continued: p.continued}
	hole := func(start, end int) {
		if start < end {
			s.Holes = append(s.Holes, Hole{start, end})
		}
	}
	for _, f := range p.frames {
		p.omitted(f.region, hole, func(i int) { s.Cuts = append(s.Cuts, i) })
	}
	s.Cuts = append(s.Cuts, p.named...)
	slices.SortFunc(s.Holes, func(a, b Hole) int { return a.Start - b.Start })
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
		if f.owner != nil && f.owner.kind == rawjson.IsArray {
			p.continued = append(p.continued, p.index(f.owner))
		}
	}
}

// omitted reports what the part leaves out of a region, and which regions are
// split there.
func (p *packer) omitted(r *region, hole func(start, end int), name func(index int)) {
	for _, k := range r.fixedChildren() {
		p.omitted(k, hole, name)
	}
	if !r.split {
		return
	}
	if r.first != 0 || r.minSize == 0 {
		name(p.index(r))
	}
	kept := span{r.first, r.last}
	if r.first == 0 {
		kept = r.minimum
	}
	at := r.start + 1 // everything before is reported
	keep := func(k span) {
		from := k.start
		for at > r.start+1 && p.B[from-1] != ',' && from > at {
			from--
		}
		if at > r.start+1 && from > at {
			from-- // the comma stays
		}
		hole(at, from)
		at = k.end
	}
	for _, m := range r.required {
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

// index returns the position of a region's pointer in the list.
func (p *packer) index(r *region) int {
	if r.named == 0 {
		p.cut.Pointers = append(p.cut.Pointers, r.pointer)
		r.named = len(p.cut.Pointers)
	}
	return r.named - 1
}
