package schema

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// text reads a string.
func (r *run) text(t *textRules) bool {
	s, ok := r.str()
	if !ok {
		return false
	}
	r.left -= (s.end - s.start) >> 3
	return t == nil || r.checkText(t, s)
}

func (r *run) checkText(t *textRules, s piece) bool {
	raw := r.plainText(s)
	ok := true
	if t.min > 0 || t.max >= 0 {
		n := len(raw)
		if s.wide || s.escaped {
			n = utf8.RuneCount(raw)
		}
		if n < t.min {
			ok = r.noteCount(s.start-1, "minLength", "at least ", t.min, "character")
		}
		if t.max >= 0 && n > t.max {
			ok = r.noteCount(s.start-1, "maxLength", "at most ", t.max, "character")
		}
		if !ok && r.fatal() {
			return false
		}
	}
	if t.pattern != nil {
		switch matched, open := t.pattern.matches(r, raw); {
		case open:
			r.doubt(s.start-1, "pattern", t.pattern.words())
		case !matched:
			ok = r.collect && r.note(s.start-1, "pattern", matching(t.pattern.source))
		}
	}
	return ok
}

// plainText answers a string without its escapes, good until the next call.
func (r *run) plainText(s piece) []byte {
	raw := r.b[s.start:s.end]
	if s.escaped {
		r.scratch = rawjson.AppendUnescaped(r.scratch[:0], raw)
		return r.scratch
	}
	return raw
}

// formatted checks the format of a string, given without its quotes.
func (r *run) formatted(e *exactRules, raw []byte) bool {
	if bytes.IndexByte(raw, '\\') >= 0 {
		r.scratch = rawjson.AppendUnescaped(r.scratch[:0], raw)
		raw = r.scratch
	}
	return obvious(e.name, raw) || e.format.Validate(string(raw)) == nil
}

// number reads a number.
func (r *run) number(n *node) bool {
	v, ok := r.num()
	switch {
	case !ok:
		return false
	case n == nil:
		return true
	case n.types&isFraction == 0 && !r.integer(v):
		return r.collect && r.note(v.start, "type", n.types.words())
	case n.number == nil:
		return true
	}
	raw := r.b[v.start:v.end]
	r.left -= len(raw) >> 3
	for i := range n.number.bounds {
		if b := &n.number.bounds[i]; !b.admits(raw) {
			ok = r.collect && r.note(v.start, b.keyword(), b.words())
		}
	}
	if m := n.number.multiple; m != nil && !m.divides(raw) {
		ok = r.collect && r.note(v.start, "multipleOf", "a multiple of "+string(m.text))
	}
	return ok
}

func (r *run) integer(v numeral) bool {
	if v.plain {
		return true
	}
	d := parseDecimal(r.b[v.start:v.end])
	return d.isInteger()
}

// noteCount is note for the keywords that count something.
func (r *run) noteCount(at int, keyword, words string, n int, unit string) bool {
	return r.collect && r.note(at, keyword, words+count(strconv.Itoa(n), unit))
}
