package schema

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// region is an array, an object or a string that may be split.
type region struct {
	at, start, end int // at is where a member begins, including its name; else start
	pointer        string
	kind           rawjson.Types
	rules          []*node
	incomplete     bool // more schemas may apply than these
	proof          splitProof
	children       []*region // regions inside at fixed locations: of an object by names, of an array that is not split by index

	minSize      int  // bytes of an array or a string in a part that has no slice of it
	minimum      span // of these
	unit         int  // items of an array that stay together
	count        int  // items of an array
	tail         int  // the latest start of the last piece of a string
	largest      int  // bytes of the largest item or optional member
	required     []span
	requiredSize int // bytes of must, with the commas between them

	split       bool
	named       int // its position among the pointers, counted from 1
	first, last int // the items in the current part; first is 0: none
}

// span is a range of bytes of the value.
type span struct{ start, end int }

// splitter splits a value.
type splitter struct {
	schemaCollector
	schema  *Schema
	mode    mode
	maxSize int
	budget  int  // bytes that may still be scanned
	unsure  bool // a region was split whose parts the schema does not prove valid
}

// Bounds of the regions that are considered.
const (
	minRegion  = 4   // bytes
	maxKids    = 256 // in one object
	maxRegions = 512
)

// region completes the description of a region, with the regions at fixed
// locations inside it.
func (c *splitter) region(r *region, left *int) *region {
	start, end := r.start, r.end
	r.kind = rawjson.KindOf(c.B[start])
	r.proof = c.proofOf(r)
	if *left--; *left < 0 || c.budget < 0 {
		return r
	}
	c.budget -= end - start
	switch r.kind {
	case rawjson.IsArray:
		c.scanArray(r, left)
	case rawjson.IsObject:
		c.scanObject(r, left)
	case rawjson.IsString:
		c.scanText(r)
	}
	return r
}

// isCandidate reports whether a value is large enough to be a region.
func (c *splitter) isCandidate(start, end int) bool {
	return end-start >= max(minRegion, c.maxSize/64) && rawjson.KindOf(c.B[start])&(rawjson.IsContainer|rawjson.IsString) != 0
}

func (c *splitter) scanArray(r *region, left *int) {
	floor, prefix := 0, false
	for _, n := range r.rules {
		if n.array != nil {
			floor, prefix = max(floor, n.array.min), prefix || len(n.array.prefix) > 0
		}
	}
	c.items(r, func(i int, item span) {
		r.count++
		r.largest = max(r.largest, item.end-item.start)
		if i < floor {
			r.minimum = span{r.start + 1, item.end}
			if i == 0 {
				r.minimum.start = item.start
			} else {
				r.minimum.start = r.required[0].start
			}
		}
		if i == 0 {
			r.required = []span{item}
		}
	})
	r.required = nil
	r.unit = max(1, floor)
	r.minSize = r.minimum.end - r.minimum.start
	if !prefix && r.count > floor && r.proof != unsplittable {
		return
	}
	// All items are in every part, and each can be split by itself.
	r.proof, r.minSize = unsplittable, 0
	if c.mode.flat || r.count > maxKids {
		return
	}
	c.items(r, func(i int, item span) {
		if !c.isCandidate(item.start, item.end) {
			return
		}
		rules, doubt := c.itemRules(r, i, item.start)
		kid := &region{at: item.start, start: item.start, end: item.end, pointer: r.pointer + "/" + strconv.Itoa(i), rules: rules, incomplete: doubt}
		r.children = append(r.children, c.region(kid, left))
	})
}

func (c *splitter) scanObject(r *region, left *int) {
	fewest := 0
	for _, n := range r.rules {
		if n.object != nil {
			fewest = max(fewest, n.object.min)
		}
	}
	required := c.requiredNames(r)
	type open struct {
		member, value span
		name          string
	}
	var optional []pair
	var kids []open
	c.members(r, func(m pair) {
		if c.isCandidate(m.value.start, m.value.end) {
			kids = append(kids, open{m.span, m.value, string(c.PlainText(m.name))})
		}
		if required(c.PlainText(m.name)) {
			r.required = append(r.required, m.span)
			r.requiredSize += m.end - m.start + m.lead
			return
		}
		if len(optional) < fewest {
			optional = append(optional, m)
		}
		r.largest = max(r.largest, m.end-m.start)
	})
	if add := fewest - len(r.required); add > 0 { // any others, so that there are enough
		for _, m := range optional[:min(add, len(optional))] {
			r.required = append(r.required, m.span)
			r.requiredSize += m.end - m.start + m.lead
		}
		slices.SortFunc(r.required, func(a, b span) int { return a.start - b.start })
	}
	r.requiredSize = max(r.requiredSize-len(","), 0)
	if len(kids) > maxKids {
		slices.SortStableFunc(kids, func(a, b open) int { return (b.value.end - b.value.start) - (a.value.end - a.value.start) })
		kids = kids[:maxKids]
		slices.SortFunc(kids, func(a, b open) int { return a.member.start - b.member.start })
	}
	for _, k := range kids {
		rules, doubt := c.memberRules(r, []byte(k.name), k.value.start)
		kid := &region{at: k.member.start, start: k.value.start, end: k.value.end, pointer: string(rawjson.AppendToken([]byte(r.pointer), k.name)), rules: rules, incomplete: doubt}
		r.children = append(r.children, c.region(kid, left))
	}
}

// scanText finds the characters of a string that must stay together.
func (c *splitter) scanText(r *region) {
	fewest := 0
	for _, n := range r.rules {
		if n.text != nil {
			fewest = max(fewest, n.text.min)
		}
	}
	r.minimum = span{r.start + 1, r.start + 1}
	r.tail = r.end - 1
	r.unit = fewest
	if fewest == 0 || r.proof == unsplittable {
		return
	}
	ahead, n := r.start+1, 0
	for ; n < fewest && ahead < r.end-1; n++ {
		ahead += characterLen(c.B[ahead : r.end-1])
	}
	r.minimum.end, r.minSize = ahead, ahead-r.start-1
	behind := r.start + 1
	for ahead < r.end-1 {
		ahead += characterLen(c.B[ahead : r.end-1])
		behind += characterLen(c.B[behind : r.end-1])
	}
	if r.tail = behind; behind < r.minimum.end || n < fewest { // too short for two pieces
		r.proof = unsplittable
	}
}

// pair is a member of an object.
type pair struct {
	span
	value span
	name  rawjson.Piece
	lead  int // bytes since the comma or brace before it
}

// items yields the items of an array, which is known to be JSON.
func (c *splitter) items(r *region, yield func(index int, item span)) {
	i := rawjson.SpaceEnd(c.B, r.start+1)
	for n := 0; c.B[i] != ']'; n++ {
		end := rawjson.ValueEnd(c.B, i)
		yield(n, span{i, end})
		if i = rawjson.SpaceEnd(c.B, end); c.B[i] == ',' {
			i = rawjson.SpaceEnd(c.B, i+1)
		}
	}
}

// members yields the members of an object, which is known to be JSON.
func (c *splitter) members(r *region, yield func(m pair)) {
	before := r.start
	i := rawjson.SpaceEnd(c.B, before+1)
	for c.B[i] != '}' {
		m := pair{span: span{start: i}, lead: i - before}
		m.name = rawjson.Piece{Start: i + 1, End: rawjson.ValueEnd(c.B, i) - 1}
		m.name.Escaped = bytes.IndexByte(c.B[m.name.Start:m.name.End], '\\') >= 0
		i = rawjson.SpaceEnd(c.B, m.name.End+1)
		m.value.start = rawjson.SpaceEnd(c.B, i+1)
		m.value.end = rawjson.ValueEnd(c.B, m.value.start)
		m.end = m.value.end
		yield(m)
		if i = rawjson.SpaceEnd(c.B, m.end); c.B[i] == ',' {
			before = i
			i = rawjson.SpaceEnd(c.B, i+1)
		}
	}
}

// minPiece is the smallest piece of a string worth a part, in bytes: smaller
// ones would make too many parts.
const minPiece = 16

// pieceEnd returns the end of a piece of at most maxSize bytes that begins at
// from: after a line break if there is one in its second half, and never inside
// a character or an escape.
func pieceEnd(text []byte, from, limit int) int {
	if len(text)-from <= limit {
		return len(text)
	}
	end, line := from, 0
	for end < len(text) {
		next := end + characterLen(text[end:])
		if next-from > limit {
			break
		}
		if end = next; end-from > limit/2 && string(text[end-2:end]) == `\n` {
			line = end
		}
	}
	if line > 0 {
		return line
	}
	return max(end, from+1)
}

// characterLen returns the length of the first character inside a JSON string
// as it is written: UTF-8, an escape, or the two escapes of a surrogate pair.
func characterLen(text []byte) int {
	const escape = len(`\u0000`)
	switch {
	case text[0] != '\\':
		_, size := utf8.DecodeRune(text)
		return size
	case len(text) < escape || text[1] != 'u':
		return min(2, len(text))
	case isHighSurrogate(text) && len(text) >= 2*escape && text[escape] == '\\' && text[escape+1] == 'u':
		return 2 * escape
	}
	return escape
}

// isHighSurrogate reports whether an escape begins a pair: \ud800 to \udbff.
func isHighSurrogate(text []byte) bool {
	c := text[3] | 0x20
	return text[2]|0x20 == 'd' && (c == '8' || c == '9' || c == 'a' || c == 'b')
}
