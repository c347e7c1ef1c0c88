package schema

import (
	"bytes"
	"hash/maphash"
	"slices"
)

// Cut says how a value is cut into parts. It is plain data over the bytes of
// the value, so that both can be kept: nothing is copied before a part is
// written.
type Cut struct {
	Pointers []string `json:"pointers"` // JSON Pointers of the arrays and objects that are cut
	Parts    []Slice  `json:"parts"`    // two or more, in order
	Text     bool     `json:"text"`     // what is cut is a text, and its bytes are the items
}

// Slice is a part of a value: all of it but the holes.
type Slice struct {
	Holes []Hole `json:"holes"` // in order, apart from each other
	Items int    `json:"items"` // of the arrays and objects that are cut; at least 1
}

// Hole is a stretch of bytes that a part leaves out.
type Hole struct {
	Start int `json:"start"`
	End   int `json:"end"` // behind it
}

const (
	maxParts = 1 << 16
	maxBoxes = 32
)

// Cut answers how to cut a value that fits s, so that every part fits s as
// well and has at most limit bytes, wherever single items and what has to stand
// in every part allow that. It answers nil if the value is not above the limit
// or cannot be cut: there is no array or object that stands below object
// members only, that has two items or more, and of which any may be left out.
//
// The largest ones are cut, arrays before objects, as many as it takes; what is
// not cut stands in every part. A member that is above the limit itself is cut
// in its turn. Where the schema alone does not show that parts fit (oneOf, not,
// if and all that needs values decoded), every part is validated.
//
// With a nil s, for a value to which nothing was promised or that does not
// keep what was, anything may be cut.
func (s *Schema) Cut(value []byte, limit int) *Cut {
	if len(value) <= limit {
		return nil
	}
	c := cutter{}
	if s == nil {
		c.run = &run{seed: maphash.MakeSeed()}
	} else {
		c.run = s.borrow()
		defer s.giveBack(c.run)
	}
	boxes := c.look(value)
	for i := range boxes {
		if s != nil {
			boxes[i].standing = c.standing(s, boxes[i])
		}
	}
	boxes = slices.DeleteFunc(boxes, func(b box) bool { return b.standing == refused })
	if cut := s.cutAt(&c, boxes, limit); cut != nil {
		return cut
	}
	sure := slices.DeleteFunc(slices.Clone(boxes), func(b box) bool { return b.standing != proved })
	if len(sure) == len(boxes) {
		return nil
	}
	if cut := s.cutAt(&c, sure, limit); cut != nil {
		return cut
	}
	for _, b := range boxes[:min(len(boxes), 8)] {
		if cut := s.cutAt(&c, []box{b}, limit); cut != nil {
			return cut
		}
	}
	return nil
}

// cutAt cuts at some of the boxes.
func (s *Schema) cutAt(c *cutter, boxes []box, limit int) *Cut {
	chosen := c.choose(boxes, limit)
	if len(chosen) == 0 {
		return nil
	}
	value := c.b
	doubt := slices.ContainsFunc(chosen, func(b box) bool { return b.standing == doubtful })
	cut := c.pack(chosen, limit)
	if cut == nil || doubt && !s.everyPartFits(cut, value) {
		return nil
	}
	for _, b := range chosen {
		cut.Pointers = append(cut.Pointers, c.pointer(b))
	}
	return cut
}

// everyPartFits validates all parts, where that costs no more than a few
// checks of the value.
func (s *Schema) everyPartFits(c *Cut, value []byte) bool {
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

// Size answers how many bytes part i of value has.
func (c *Cut) Size(value []byte, i int) int {
	size := len(value)
	for _, h := range c.Parts[i].Holes {
		size -= h.End - h.Start
	}
	return size
}

// Sizes answers how many bytes the smallest and the largest part of value have.
func (c *Cut) Sizes(value []byte) (smallest, largest int) {
	smallest = len(value)
	for i := range c.Parts {
		size := c.Size(value, i)
		smallest, largest = min(smallest, size), max(largest, size)
	}
	return smallest, largest
}

// AppendPart appends part i, counted from 0, of the value that was cut.
func (c *Cut) AppendPart(dst, value []byte, i int) []byte {
	at := 0
	for _, h := range c.Parts[i].Holes {
		dst = append(dst, value[at:h.Start]...)
		at = h.End
	}
	return append(dst, value[at:]...)
}

// pointer answers the JSON Pointer of a box.
func (c *cutter) pointer(b box) string {
	var p []byte
	for _, h := range b.path {
		p = appendToken(p, string(bytes.Clone(c.plainText(h.name))))
	}
	return string(p)
}
