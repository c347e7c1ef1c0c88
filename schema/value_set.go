package schema

import (
	"bytes"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// valueSet is the value of const or enum.
type valueSet struct {
	kinds   rawjson.Types
	strings [][]byte            // few strings, decoded
	quoted  []string            // those that need no escapes, with quotes, as most values have them
	others  [][]byte            // few other values, canonical
	many    map[string]struct{} // all values, canonical, if there are many
	raws    [][]byte            // as in the document
}

// fewValues is how many values are compared one by one.
const fewValues = 8

func newValueSet(raws [][]byte) *valueSet {
	s := &valueSet{raws: raws}
	if len(raws) > fewValues {
		s.many = make(map[string]struct{}, len(raws))
	}
	for _, raw := range raws {
		s.kinds |= rawjson.KindOf(raw[0])
		switch {
		case s.many != nil:
			s.many[string(rawjson.AppendEqualityKey(nil, raw))] = struct{}{}
		case raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0:
			s.strings = append(s.strings, raw[1:len(raw)-1])
			s.quoted = append(s.quoted, string(raw))
		case raw[0] == '"':
			s.strings = append(s.strings, rawjson.AppendUnescaped(nil, raw[1:len(raw)-1]))
		default:
			s.others = append(s.others, rawjson.AppendEqualityKey(nil, raw))
		}
	}
	return s
}

// prefix returns the length of the string that b begins with, 0 if it is not in
// the set or not written in the usual form.
func (s *valueSet) prefix(b []byte) int {
	for _, q := range s.quoted {
		if len(q) <= len(b) && string(b[:len(q)]) == q {
			return len(q)
		}
	}
	return 0
}

// has looks a value up. It returns the scratch space, possibly grown.
func (s *valueSet) has(raw, scratch []byte) (found bool, _ []byte) {
	if s.many != nil {
		scratch = rawjson.AppendEqualityKey(scratch[:0], raw)
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
		scratch = rawjson.AppendEqualityKey(scratch[:0], raw)
		raw = scratch
	}
	for _, v := range list {
		if bytes.Equal(v, raw) {
			return true, scratch
		}
	}
	return false, scratch
}

// words lists the values until the text is long enough.
func (s *valueSet) words() string {
	var b []byte
	for i, raw := range s.raws {
		if i > 0 {
			b = append(b, ", "...)
		}
		if b = append(b, rawjson.Excerpt(raw)...); len(b) > maxExpected {
			break
		}
	}
	return string(b)
}
