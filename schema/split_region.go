package schema

import (
	"bytes"
	"slices"
	"strconv"
)

// region is an array, an object or a text that may be cut.
type region struct {
	at, start, end int // at is where the member begins, with its name; else start
	pointer        string
	kind           types
	rules          []*node
	doubt          bool // there are more rules than these
	standing       standing
	kids           []*region // those in it that stand where it stands: of an object by names, of an array that is not cut by index

	floor   int  // bytes of an array or a text that stand in a part that has no slice of it
	stretch span // where these are
	unit    int  // items of an array that stay together
	count   int  // items of an array
	tail    int  // where the last piece of a text may begin at the latest
	largest int  // bytes of the largest item or optional member
	must    []span
	always  int // bytes of these, with the commas between them

	cut         bool
	named       int // its place among the pointers, counted from 1
	first, last int // the items that the part has which is being made; first is 0: none
}

// span is a stretch of the value.
type span struct{ start, end int }

// cutter divides a value.
type cutter struct {
	guide
	schema *Schema
	mode   mode
	room   int
	budget int  // bytes that may still be looked at
	unsure bool // a region was cut of which the schema does not show that its slices fit
}

// Bounds of the regions that are looked at.
const (
	minRegion  = 4   // bytes: a smaller one is not worth it
	maxKids    = 256 // in one object
	maxRegions = 512
)

// region completes the description of a region, with those that stand where it
// stands.
func (c *cutter) region(r *region, left *int) *region {
	start, end := r.start, r.end
	r.kind = kindOf(c.b[start])
	r.standing = c.standing(r)
	if *left--; *left < 0 || c.budget < 0 {
		return r
	}
	c.budget -= end - start
	switch r.kind {
	case isArray:
		c.lookArray(r, left)
	case isObject:
		c.lookObject(r, left)
	case isString:
		c.lookText(r)
	}
	return r
}

// big reports whether a value may be a region that counts.
func (c *cutter) big(start, end int) bool {
	return end-start >= max(minRegion, c.room/64) && kindOf(c.b[start])&(isContainer|isString) != 0
}

func (c *cutter) lookArray(r *region, left *int) {
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
			r.stretch = span{r.start + 1, item.end}
			if i == 0 {
				r.stretch.start = item.start
			} else {
				r.stretch.start = r.must[0].start
			}
		}
		if i == 0 {
			r.must = []span{item}
		}
	})
	r.must = nil
	r.unit = max(1, floor)
	r.floor = r.stretch.end - r.stretch.start
	if !prefix && r.count > floor && r.standing != refused {
		return
	}
	// All items stand in every part, and each may be cut for itself.
	r.standing, r.floor = refused, 0
	if c.mode.flat || r.count > maxKids {
		return
	}
	c.items(r, func(i int, item span) {
		if !c.big(item.start, item.end) {
			return
		}
		rules, doubt := c.itemRules(r, i, item.start)
		kid := &region{at: item.start, start: item.start, end: item.end, pointer: r.pointer + "/" + strconv.Itoa(i), rules: rules, doubt: doubt}
		r.kids = append(r.kids, c.region(kid, left))
	})
}

func (c *cutter) lookObject(r *region, left *int) {
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
		if c.big(m.value.start, m.value.end) {
			kids = append(kids, open{m.span, m.value, string(c.plainText(m.name))})
		}
		if required(c.plainText(m.name)) {
			r.must = append(r.must, m.span)
			r.always += m.end - m.start + m.lead
			return
		}
		if len(optional) < fewest {
			optional = append(optional, m)
		}
		r.largest = max(r.largest, m.end-m.start)
	})
	if add := fewest - len(r.must); add > 0 { // some must be there, whichever
		for _, m := range optional[:min(add, len(optional))] {
			r.must = append(r.must, m.span)
			r.always += m.end - m.start + m.lead
		}
		slices.SortFunc(r.must, func(a, b span) int { return a.start - b.start })
	}
	r.always = max(r.always-len(","), 0)
	if len(kids) > maxKids {
		slices.SortStableFunc(kids, func(a, b open) int { return (b.value.end - b.value.start) - (a.value.end - a.value.start) })
		kids = kids[:maxKids]
		slices.SortFunc(kids, func(a, b open) int { return a.member.start - b.member.start })
	}
	for _, k := range kids {
		rules, doubt := c.memberRules(r, []byte(k.name), k.value.start)
		kid := &region{at: k.member.start, start: k.value.start, end: k.value.end, pointer: string(appendToken([]byte(r.pointer), k.name)), rules: rules, doubt: doubt}
		r.kids = append(r.kids, c.region(kid, left))
	}
}

// lookText finds the characters of a text that must stand together.
func (c *cutter) lookText(r *region) {
	fewest := 0
	for _, n := range r.rules {
		if n.text != nil {
			fewest = max(fewest, n.text.min)
		}
	}
	r.stretch = span{r.start + 1, r.start + 1}
	r.tail = r.end - 1
	r.unit = fewest
	if fewest == 0 || r.standing == refused {
		return
	}
	ahead, n := r.start+1, 0
	for ; n < fewest && ahead < r.end-1; n++ {
		ahead += characterLen(c.b[ahead : r.end-1])
	}
	r.stretch.end, r.floor = ahead, ahead-r.start-1
	behind := r.start + 1
	for ahead < r.end-1 {
		ahead += characterLen(c.b[ahead : r.end-1])
		behind += characterLen(c.b[behind : r.end-1])
	}
	if r.tail = behind; behind < r.stretch.end || n < fewest { // too short to be two
		r.standing = refused
	}
}

// pair is a member of an object.
type pair struct {
	span
	value span
	name  piece
	lead  int // from the comma or brace before it
}

// items yields the items of an array, which is known to be JSON.
func (c *cutter) items(r *region, yield func(index int, item span)) {
	i := skipSpaces(c.b, r.start+1)
	for n := 0; c.b[i] != ']'; n++ {
		end := skipValue(c.b, i)
		yield(n, span{i, end})
		if i = skipSpaces(c.b, end); c.b[i] == ',' {
			i = skipSpaces(c.b, i+1)
		}
	}
}

// members yields the members of an object, which is known to be JSON.
func (c *cutter) members(r *region, yield func(m pair)) {
	before := r.start
	i := skipSpaces(c.b, before+1)
	for c.b[i] != '}' {
		m := pair{span: span{start: i}, lead: i - before}
		m.name = piece{start: i + 1, end: skipValue(c.b, i) - 1}
		m.name.escaped = bytes.IndexByte(c.b[m.name.start:m.name.end], '\\') >= 0
		i = skipSpaces(c.b, m.name.end+1)
		m.value.start = skipSpaces(c.b, i+1)
		m.value.end = skipValue(c.b, m.value.start)
		m.end = m.value.end
		yield(m)
		if i = skipSpaces(c.b, m.end); c.b[i] == ',' {
			before = i
			i = skipSpaces(c.b, i+1)
		}
	}
}

func skipSpaces(b []byte, i int) int {
	for b[i] <= ' ' {
		i++
	}
	return i
}

// skipValue answers where the value ends that begins at i. It is known to be
// JSON.
func skipValue(b []byte, i int) int {
	for depth := 0; ; {
		switch c := b[i]; c {
		case '"':
			for i++; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			i++
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\n', '\r', '\t':
			i++
			continue
		default:
			for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' && b[i] > ' ' {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
}
