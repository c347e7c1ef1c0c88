package schema

import (
	"cmp"
	"hash/maphash"
	"slices"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Split describes how a value is divided into parts. It is plain data over the
// bytes of the value, so that both can be stored: nothing is copied until a
// part is written.
type Split struct {
	Pointers []string `json:"pointers"` // JSON Pointers of the arrays, objects and strings in the value that are split
	Parts    []Slice  `json:"parts"`    // two or more, in order
	Text     bool     `json:"text"`     // only strings are split, and their bytes are the items
}

// Slice is a part of a value: all of it except the holes.
type Slice struct {
	Holes     []Hole `json:"holes"`               // in order, not overlapping
	Items     int    `json:"items"`               // of the regions that are split; at least 1
	Cuts      []int  `json:"cuts"`                // indexes of the pointers whose items or pieces this part has, in document order
	Continued []int  `json:"continued,omitempty"` // of arrays whose first item continues the last item of the previous part
}

// Hole is a range of bytes that a part leaves out.
type Hole struct {
	Start int `json:"start"`
	End   int `json:"end"` // exclusive
}

const (
	maxParts   = 1 << 16
	maxHoles   = 1 << 20 // of all parts
	maxNesting = 64      // of split regions in each other
)

// Split divides a value that is valid against s, so that every part is valid as
// well and has at most maxSize bytes, except where something indivisible is
// larger. It returns nil if the value is within maxSize, if it cannot be
// divided, or if no part would be within maxSize.
//
// Arrays are split between their items, objects between the members that are
// not required, strings between characters; in this order, and no more of them
// than necessary: what is not split is repeated in every part. An item or a
// member that is larger than maxSize is split in its turn. Where the schema
// alone does not prove that parts are valid (oneOf, not, if and all that needs
// values decoded), every part is validated; if one is invalid, less is split.
//
// With a nil s, for a value without a schema or one that violates it, anything
// may be split.
func (s *Schema) Split(value []byte, maxSize int) *Split {
	if len(value) <= maxSize {
		return nil
	}
	c := splitter{schema: s, maxSize: maxSize}
	if s == nil {
		c.validation = &validation{seed: maphash.MakeSeed()}
	} else {
		c.validation = s.acquire()
		defer s.release(c.validation)
	}
	c.reset(value, false)
	if !c.value(nil) || c.Next() != 0 || c.I != len(value) {
		return nil
	}
	c.budget = 100*len(value) + 1<<20
	for _, m := range modes() {
		c.mode, c.unsure = m, false
		cut := c.divide()
		if cut != nil && (!c.unsure || s.everyPartValid(cut, value)) {
			return cut
		}
		if s == nil || cut == nil && m == (mode{}) && !c.unsure {
			return nil
		}
	}
	return nil
}

// mode excludes candidates: each mode after the first excludes what may have
// made a part invalid.
type mode struct {
	sure      bool // only regions whose parts the schema proves valid
	wholeMaps bool // no objects
	wholeText bool // no strings
	flat      bool // nothing inside array items
}

func modes() []mode {
	return []mode{{}, {wholeMaps: true}, {wholeMaps: true, wholeText: true}, {wholeText: true, flat: true}, {wholeMaps: true, wholeText: true, flat: true}, {sure: true}}
}

// everyPartValid validates all parts, if together they are no larger than a few
// times the value.
func (s *Schema) everyPartValid(c *Split, value []byte) bool {
	size := 0
	for i := range c.Parts {
		if size += c.Size(value, i); size > 5*len(value)+1<<20 {
			return false
		}
	}
	var part []byte
	for i := range c.Parts {
		if part = c.AppendPart(part[:0], value, i); s.Validate(part) != nil {
			return false
		}
	}
	return true
}

// Size returns the size of part i of value in bytes.
func (c *Split) Size(value []byte, i int) int {
	size := len(value)
	for _, h := range c.Parts[i].Holes {
		size -= h.End - h.Start
	}
	return size
}

// AppendPart appends part i, counted from 0, of the value that was split.
func (c *Split) AppendPart(dst, value []byte, i int) []byte {
	at := 0
	for _, h := range c.Parts[i].Holes {
		dst = append(dst, value[at:h.Start]...)
		at = h.End
	}
	return append(dst, value[at:]...)
}

// Part returns what is needed to join part i with the others. Its value is left
// to [Split.AppendPart].
func (c *Split) Part(i int) Part {
	p := Part{Cuts: c.pointersOf(c.Parts[i].Cuts), Continued: c.pointersOf(c.Parts[i].Continued)}
	return p
}

func (c *Split) pointersOf(of []int) (pointers []string) {
	for _, i := range of {
		pointers = append(pointers, c.Pointers[i])
	}
	return pointers
}

// Inside reports whether an array item is divided between parts.
func (c *Split) Inside() bool {
	for i := range c.Parts {
		if len(c.Parts[i].Continued) > 0 {
			return true
		}
	}
	return false
}

// base returns how many bytes of a region are repeated in every part.
func (r *region) base() int {
	switch {
	case !r.split:
		size := r.end - r.start
		for _, k := range r.children {
			size -= k.end - k.start - k.base()
		}
		return size
	case r.kind == rawjson.IsObject:
		size := len("{}") + r.requiredSize
		for _, k := range r.fixedChildren() {
			size -= k.end - k.start - k.base()
		}
		return size
	}
	return len("[]") + r.minSize
}

// fixedChildren returns the children in every part that has the region.
func (r *region) fixedChildren() []*region {
	if !r.split {
		return r.children
	}
	if r.kind != rawjson.IsObject {
		return nil
	}
	var kids []*region
	for _, k := range r.children {
		if _, must := slices.BinarySearchFunc(r.required, k.at, func(m span, at int) int { return m.start - at }); must {
			kids = append(kids, k)
		}
	}
	return kids
}

// all returns the regions that are present wherever r is, itself first.
func (r *region) all() []*region {
	list := []*region{r}
	for _, k := range r.fixedChildren() {
		list = append(list, k.all()...)
	}
	return list
}

// choose picks the regions to split: arrays, and the longest string beside
// them, where that is enough to bring the remainder within the limit; else
// arrays and objects, and then strings. It reports whether there are any, and
// the remainder is within the limit.
func (c *splitter) choose(root *region, limit int) bool {
	regions := root.all()
	of := func(kinds rawjson.Types) (list []*region) {
		for _, r := range regions {
			if r.kind&kinds != 0 && r.proof != unsplittable {
				list = append(list, r)
			}
		}
		return byGain(root, list)
	}
	texts := of(rawjson.IsString)
	splitUntilEnough(root, of(rawjson.IsArray), limit)
	if isEnough(root, limit) {
		c.noteProof(root)
		return true
	}
	if len(texts) > 0 {
		texts[0].split = true
		if root.base() <= limit/2 && isEnough(root, limit) {
			c.noteProof(root)
			return true
		}
	}
	for _, r := range regions {
		r.split = false
	}
	splitUntilEnough(root, of(rawjson.IsContainer), limit)
	splitUntilEnough(root, texts, limit)
	base, step := remainder(root)
	if step == minPiece && base < limit && base+step > limit { // too little for a string
		for _, r := range texts {
			r.split = false
		}
		base, step = remainder(root)
	}
	c.noteProof(root)
	return step > 0 && base+step <= limit
}

// byGain sorts regions by how much splitting each alone saves, arrays first
// among equals.
func byGain(root *region, list []*region) []*region {
	whole := root.base()
	gain := make(map[*region]int, len(list))
	for _, r := range list {
		r.split = true
		gain[r] = whole - root.base()
		r.split = false
	}
	slices.SortStableFunc(list, func(a, b *region) int {
		return cmp.Or(cmp.Compare(gain[b], gain[a]), cmp.Compare(a.kind, b.kind))
	})
	return slices.DeleteFunc(list, func(r *region) bool { return gain[r] <= 0 })
}

// splitUntilEnough splits regions in order until the remainder is small enough.
func splitUntilEnough(root *region, list []*region, limit int) {
	for _, r := range list {
		if isEnough(root, limit) {
			return
		}
		before := root.base()
		if r.split = true; root.base() >= before {
			r.split = false // it is inside a region that is split already
		}
	}
}

// remainder returns how many bytes are repeated in every part while items of one
// split region are distributed, and the smallest increment in bytes; 0: nothing
// is split.
func remainder(root *region) (base, step int) {
	floor := -1
	for _, r := range root.all() {
		if !r.split {
			continue
		}
		if floor < 0 || r.minSize < floor {
			floor = r.minSize
		}
		step = max(step, 1)
		if r.kind == rawjson.IsString {
			step = minPiece
		}
	}
	return root.base() - max(floor, 0), step
}

// isEnough reports whether something is split, items have space beside the
// remainder, and all parts together are no larger than a few times the value.
func isEnough(root *region, limit int) bool {
	base, step := remainder(root)
	left := limit - base
	if step == 0 || left < step || base <= limit/2 {
		return step > 0 && left >= step
	}
	largest, size := 0, root.end-root.start
	for _, r := range root.all() {
		if r.split {
			largest = max(largest, r.largest)
		}
	}
	return largest <= left && size/left*base <= 4*size+1<<10
}

// noteProof records whether the schema proves that all parts are valid.
func (c *splitter) noteProof(root *region) {
	for _, r := range root.all() {
		c.unsure = c.unsure || r.split && r.proof == maybeValid
	}
}
