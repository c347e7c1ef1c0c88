package schema

import (
	"cmp"
	"slices"
)

// base answers how many bytes of a region stand in every part.
func (r *region) base() int {
	switch {
	case !r.cut:
		size := r.end - r.start
		for _, k := range r.kids {
			size -= k.end - k.start - k.base()
		}
		return size
	case r.kind == isObject:
		size := len("{}") + r.always
		for _, k := range r.standingKids() {
			size -= k.end - k.start - k.base()
		}
		return size
	}
	return len("[]") + r.floor
}

// standingKids are those in every part that has the region.
func (r *region) standingKids() []*region {
	if !r.cut {
		return r.kids
	}
	if r.kind != isObject {
		return nil
	}
	var kids []*region
	for _, k := range r.kids {
		if _, must := slices.BinarySearchFunc(r.must, k.at, func(m span, at int) int { return m.start - at }); must {
			kids = append(kids, k)
		}
	}
	return kids
}

// all are the regions that stand where r stands, itself first.
func (r *region) all() []*region {
	list := []*region{r}
	for _, k := range r.standingKids() {
		list = append(list, k.all()...)
	}
	return list
}

// choose picks the regions to cut: arrays, and the longest text beside them,
// where that is enough to bring the rest below the room; else arrays and
// objects, and then texts. It reports whether there are any, and the rest is
// below the room.
func (c *cutter) choose(root *region, room int) bool {
	regions := root.all()
	of := func(kinds types) (list []*region) {
		for _, r := range regions {
			if r.kind&kinds != 0 && r.standing != refused {
				list = append(list, r)
			}
		}
		return byGain(root, list)
	}
	texts := of(isString)
	cutUntilEnough(root, of(isArray), room)
	if enough(root, room) {
		c.note(root)
		return true
	}
	if len(texts) > 0 {
		texts[0].cut = true
		if root.base() <= room/2 && enough(root, room) {
			c.note(root)
			return true
		}
	}
	for _, r := range regions {
		r.cut = false
	}
	cutUntilEnough(root, of(isContainer), room)
	cutUntilEnough(root, texts, room)
	base, step := rest(root)
	if step == minPiece && base < room && base+step > room { // too little for a text
		for _, r := range texts {
			r.cut = false
		}
		base, step = rest(root)
	}
	c.note(root)
	return step > 0 && base+step <= room
}

// byGain sorts regions by what cutting each alone brings, arrays first among
// equals.
func byGain(root *region, list []*region) []*region {
	whole := root.base()
	gain := make(map[*region]int, len(list))
	for _, r := range list {
		r.cut = true
		gain[r] = whole - root.base()
		r.cut = false
	}
	slices.SortStableFunc(list, func(a, b *region) int {
		return cmp.Or(cmp.Compare(gain[b], gain[a]), cmp.Compare(a.kind, b.kind))
	})
	return slices.DeleteFunc(list, func(r *region) bool { return gain[r] <= 0 })
}

// cutUntilEnough cuts regions until it is enough.
func cutUntilEnough(root *region, list []*region, room int) {
	for _, r := range list {
		if enough(root, room) {
			return
		}
		before := root.base()
		if r.cut = true; root.base() >= before {
			r.cut = false // it stands in what is cut already
		}
	}
}

// rest answers how many bytes stand in every part while something of one cut
// region is handed out, and the bytes that make a step; 0: nothing is cut.
func rest(root *region) (base, step int) {
	floor := -1
	for _, r := range root.all() {
		if !r.cut {
			continue
		}
		if floor < 0 || r.floor < floor {
			floor = r.floor
		}
		step = max(step, 1)
		if r.kind == isString {
			step = minPiece
		}
	}
	return root.base() - max(floor, 0), step
}

// enough reports whether something is cut, there is room for items beside the
// rest, and all parts together are no more than a few times the value.
func enough(root *region, room int) bool {
	base, step := rest(root)
	left := room - base
	if step == 0 || left < step || base <= room/2 {
		return step > 0 && left >= step
	}
	largest, size := 0, root.end-root.start
	for _, r := range root.all() {
		if r.cut {
			largest = max(largest, r.largest)
		}
	}
	return largest <= left && size/left*base <= 4*size+1<<10
}

// note notes whether the schema shows that all slices fit.
func (c *cutter) note(root *region) {
	for _, r := range root.all() {
		c.unsure = c.unsure || r.cut && r.standing == doubtful
	}
}
