package schema

import "hash/maphash"

// Split says how a value is cut into parts. It is plain data over the bytes of
// the value, so that both can be kept: nothing is copied before a part is
// written.
type Split struct {
	Pointers []string `json:"pointers"` // JSON Pointers, in the value, of the arrays, objects and texts that are cut
	Parts    []Slice  `json:"parts"`    // two or more, in order
	Text     bool     `json:"text"`     // nothing but texts are cut, and their bytes are the items
}

// Slice is a part of a value: all of it but the holes.
type Slice struct {
	Holes     []UncheckedPattern `json:"holes"`               // in order, apart from each other
	Items     int                `json:"items"`               // of what is cut; at least 1
	Cuts      []int              `json:"cuts"`                // the pointers whose items or pieces this part has, in the order of the value
	Continued []int              `json:"continued,omitempty"` // of arrays whose first item here is the rest of the last one before
}

// UncheckedPattern is a stretch of bytes that a part leaves out.
type UncheckedPattern struct {
	Start int `json:"start"`
	End   int `json:"end"` // behind it
}

const (
	maxParts   = 1 << 16
	maxHoles   = 1 << 20 // of all parts
	maxNesting = 64      // of regions that are cut in each other
)

// Split answers how to cut a value that fits s, so that every part fits s as
// well and has at most room bytes, wherever what cannot be divided allows that.
// It answers nil if the value is not above the room, if it cannot be cut, or if
// no part would be below the room.
//
// Arrays are cut between their items, objects between the members that are not
// required, texts between characters; in this order, and no more of them than
// it takes: what is not cut stands in every part. An item or a member that is
// above the room itself is cut in its turn. Where the schema alone does not show
// that parts fit (oneOf, not, if and all that needs values decoded), every part
// is validated; if one does not fit, less is cut.
//
// With a nil s, for a value to which nothing was promised or that does not
// keep what was, anything may be cut.
func (s *Schema) Split(value []byte, room int) *Split {
	if len(value) <= room {
		return nil
	}
	c := cutter{schema: s, room: room}
	if s == nil {
		c.run = &run{seed: maphash.MakeSeed()}
	} else {
		c.run = s.borrow()
		defer s.giveBack(c.run)
	}
	c.reset(value, false)
	if !c.value(nil) || c.next() != 0 || c.i != len(value) {
		return nil
	}
	c.budget = 100*len(value) + 1<<20
	for _, m := range modes() {
		c.mode, c.unsure = m, false
		cut := c.divide()
		if cut != nil && (!c.unsure || s.everyPartFits(cut, value)) {
			return cut
		}
		if s == nil || cut == nil && m == (mode{}) && !c.unsure {
			return nil
		}
	}
	return nil
}

// mode is what is not cut although it might be: each that is tried after the
// first leaves out what may be the cause of a part that does not fit.
type mode struct {
	sure      bool // only regions of which the schema shows that their slices fit
	wholeMaps bool // no object
	wholeText bool // no text
	flat      bool // nothing in the items of an array
}

func modes() []mode {
	return []mode{{}, {wholeMaps: true}, {wholeMaps: true, wholeText: true}, {wholeText: true, flat: true}, {wholeMaps: true, wholeText: true, flat: true}, {sure: true}}
}

// everyPartFits validates all parts, where that costs no more than a few
// checks of the value.
func (s *Schema) everyPartFits(c *Split, value []byte) bool {
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
func (c *Split) Size(value []byte, i int) int {
	size := len(value)
	for _, h := range c.Parts[i].Holes {
		size -= h.End - h.Start
	}
	return size
}

// AppendPart appends part i, counted from 0, of the value that was cut.
func (c *Split) AppendPart(dst, value []byte, i int) []byte {
	at := 0
	for _, h := range c.Parts[i].Holes {
		dst = append(dst, value[at:h.Start]...)
		at = h.End
	}
	return append(dst, value[at:]...)
}

// Part answers what is to be known of part i to join it to the others. Its
// value is left to [Split.AppendPart].
func (c *Split) Part(i int) Part {
	p := Part{Cuts: c.named(c.Parts[i].Cuts), Continued: c.named(c.Parts[i].Continued)}
	return p
}

func (c *Split) named(of []int) (pointers []string) {
	for _, i := range of {
		pointers = append(pointers, c.Pointers[i])
	}
	return pointers
}

// Inside reports whether an array is cut within its items.
func (c *Split) Inside() bool {
	for i := range c.Parts {
		if len(c.Parts[i].Continued) > 0 {
			return true
		}
	}
	return false
}
