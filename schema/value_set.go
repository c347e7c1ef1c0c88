package schema

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// appendCanonical writes a value, given as the text of strict JSON, in a form
// that is the same for all values that are equal: numbers by their digits,
// strings without escapes and behind their length, members by their keys.
func appendCanonical(dst, raw []byte) []byte {
	switch raw[0] {
	case '"':
		at := len(dst)
		dst = rawjson.AppendUnescaped(dst, raw[1:len(raw)-1])
		return sealString(dst, at)
	case '{', '[':
		d, err := rawjson.Parse(raw)
		if err != nil {
			return append(dst, raw...) // cannot be: the text is JSON
		}
		return appendTree(dst, d, d.Root())
	case 't', 'f', 'n':
		return append(dst, raw...)
	}
	n := parseDecimal(raw)
	return n.append(dst)
}

// sealString puts the length before the string that stands in dst from at on,
// so that no content can look like structure.
func sealString(dst []byte, at int) []byte {
	n := len(dst) - at
	head := strconv.AppendInt([]byte{'"'}, int64(n), 10)
	return slices.Insert(dst, at, append(head, ':')...)
}

func appendTree(dst []byte, d *rawjson.Doc, n rawjson.Node) []byte {
	switch d.Kind(n) {
	case rawjson.Array:
		dst = append(dst, '[')
		for e := d.First(n); e != rawjson.None; e = d.Next(e) {
			dst = append(appendTree(dst, d, e), ',')
		}
		return append(dst, ']')
	case rawjson.Object:
		return appendMembers(dst, d, n)
	}
	return appendCanonical(dst, d.Raw(n))
}

func appendMembers(dst []byte, d *rawjson.Doc, n rawjson.Node) []byte {
	type entry struct {
		key  []byte
		node rawjson.Node
	}
	entries := make([]entry, 0, d.Len(n))
	for m := d.First(n); m != rawjson.None; m = d.Next(m) {
		entries = append(entries, entry{rawjson.AppendUnescaped(nil, d.RawKey(m)), m})
	}
	slices.SortFunc(entries, func(a, b entry) int { return bytes.Compare(a.key, b.key) })
	dst = append(dst, '{')
	for _, e := range entries {
		at := len(dst)
		dst = sealString(append(dst, e.key...), at)
		dst = append(appendTree(dst, d, e.node), ',')
	}
	return append(dst, '}')
}

// valueSet is the value of const or enum.
type valueSet struct {
	kinds   types
	strings [][]byte            // few strings, decoded
	quoted  []string            // the same as most values have them: between quotes; those that need no escapes
	others  [][]byte            // few other values, canonical
	many    map[string]struct{} // if there are many: all of them, canonical
	raws    [][]byte            // as the document has them
}

// fewValues are compared one by one.
const fewValues = 8

func newValueSet(raws [][]byte) *valueSet {
	s := &valueSet{raws: raws}
	if len(raws) > fewValues {
		s.many = make(map[string]struct{}, len(raws))
	}
	for _, raw := range raws {
		s.kinds |= kindOf(raw[0])
		switch {
		case s.many != nil:
			s.many[string(appendCanonical(nil, raw))] = struct{}{}
		case raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0:
			s.strings = append(s.strings, raw[1:len(raw)-1])
			s.quoted = append(s.quoted, string(raw))
		case raw[0] == '"':
			s.strings = append(s.strings, rawjson.AppendUnescaped(nil, raw[1:len(raw)-1]))
		default:
			s.others = append(s.others, appendCanonical(nil, raw))
		}
	}
	return s
}

// prefix answers the length of the string that b begins with, 0 if it is none
// of the set's or not written as usual.
func (s *valueSet) prefix(b []byte) int {
	for _, q := range s.quoted {
		if len(q) <= len(b) && string(b[:len(q)]) == q {
			return len(q)
		}
	}
	return 0
}

// has looks a value up. The scratch space is given back, possibly grown.
func (s *valueSet) has(raw, scratch []byte) (found bool, _ []byte) {
	if s.many != nil {
		scratch = appendCanonical(scratch[:0], raw)
		_, found = s.many[string(scratch)]
		return found, scratch
	}
	list := s.others
	if raw[0] == '"' {
		list = s.strings
		raw = raw[1 : len(raw)-1]
		if bytes.IndexByte(raw, '\\') >= 0 {
			scratch = rawjson.AppendUnescaped(scratch[:0], raw)
			raw = scratch
		}
	} else if len(list) > 0 {
		scratch = appendCanonical(scratch[:0], raw)
		raw = scratch
	}
	for _, v := range list {
		if bytes.Equal(v, raw) {
			return true, scratch
		}
	}
	return false, scratch
}

// words lists the values, as far as they are short.
func (s *valueSet) words() string {
	var b []byte
	for i, raw := range s.raws {
		if i > 0 {
			b = append(b, ", "...)
		}
		if b = append(b, excerpt(raw)...); len(b) > maxExpected {
			break
		}
	}
	return string(b)
}
