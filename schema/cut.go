package schema

import (
	"bytes"
	"fmt"
	"hash/maphash"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Cut says at which array a value is cut into parts. It is plain data over the
// bytes of the value, so that both can be kept: nothing is copied before a
// part is written.
type Cut struct {
	Pointer string  `json:"pointer"` // JSON Pointer of the array
	Start   int     `json:"start"`   // offset of its opening bracket
	End     int     `json:"end"`     // offset behind its closing bracket
	Parts   []Slice `json:"parts"`   // two or more, in order
}

// Slice is the text of neighbouring items of an array.
type Slice struct {
	Start int `json:"start"` // offset of the first item
	End   int `json:"end"`   // offset behind the last item
	Items int `json:"items"` // at least 1
}

const (
	maxParts      = 1 << 16
	maxSliceables = 8
)

// Cut answers how to cut a value that fits s, so that every part fits s as
// well and has at most limit bytes wherever one item allows that. It answers
// nil if the value is not above the limit or cannot be cut: there is no array
// of two items or more that stands below object members only, that may be
// sliced, and without which the rest stays below the limit.
//
// Of several arrays the largest is cut. Every part has all of the value but
// items of that array. Where the schema alone does not show that parts fit
// (oneOf, not, if and all that needs values decoded), every part is validated.
//
// With a nil s, for a value to which nothing was promised or that does not
// keep what was, any array may be sliced.
func (s *Schema) Cut(value []byte, limit int) *Cut {
	if len(value) <= limit {
		return nil
	}
	c := cutter{need: len(value) - limit + 3}
	if s == nil {
		c.run = &run{seed: maphash.MakeSeed()}
	} else {
		c.run = s.borrow()
		defer s.giveBack(c.run)
	}
	for _, a := range c.arrays(value) {
		standing := proved
		if s != nil {
			standing = c.standing(s, a)
		}
		if standing == refused {
			continue
		}
		cut := c.slices(a, limit)
		if cut != nil && (standing == proved || s.everyPartFits(cut, value)) {
			cut.Pointer = c.pointer(a)
			return cut
		}
	}
	return nil
}

// everyPartFits validates all parts, where that costs no more than a few
// checks of the value.
func (s *Schema) everyPartFits(c *Cut, value []byte) bool {
	rest := len(value) - (c.End - c.Start)
	if rest*len(c.Parts) > 4*len(value)+1<<20 {
		return false
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
	return len(value) - (c.End - c.Start) + len("[]") + c.Parts[i].End - c.Parts[i].Start
}

// AppendPart appends part i, counted from 0, of the value that was cut.
func (c *Cut) AppendPart(dst, value []byte, i int) []byte {
	p := c.Parts[i]
	dst = append(append(dst, value[:c.Start]...), '[')
	dst = append(append(dst, value[p.Start:p.End]...), ']')
	return append(dst, value[c.End:]...)
}

// Join puts the parts of a value together again: the first one, with the items
// that the others have in the array at pointer. All of them, in order, make a
// value that is equal to the one that was cut.
func Join(pointer string, parts ...[]byte) ([]byte, error) {
	if len(parts) == 0 {
		return nil, fmt.Errorf("join at %q: there is no part", pointer)
	}
	var whole, tail []byte
	for i, part := range parts {
		doc, err := rawjson.Parse(part)
		if err != nil {
			return nil, fmt.Errorf("join part %d: %w", i+1, err)
		}
		array := doc.Pointer(pointer)
		if doc.Kind(array) != rawjson.Array {
			return nil, fmt.Errorf("join part %d: there is no array at %q", i+1, pointer)
		}
		raw, at := doc.Raw(array), doc.Offset(array)
		end := at + len(raw) - 1
		switch {
		case i == 0:
			whole = append(bytes.Clone(part[:at]), bytes.TrimSpace(part[at:end])...)
			tail = part[end:]
		case doc.Len(array) > 0:
			if whole[len(whole)-1] != '[' {
				whole = append(whole, ',')
			}
			whole = append(whole, part[at+1:end]...)
		}
	}
	return append(whole, tail...), nil
}
