package schema

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// typeName checks the value of type.
func (s *safety) typeName(i int32, m rawjson.Node) {
	switch s.doc.Kind(m) {
	case rawjson.String:
		if !knownType(s.doc.Text(m)) {
			s.drop(i, m, "left out: no type has this name")
		}
		return
	case rawjson.Array:
	default:
		s.drop(i, m, wrongType)
		return
	}
	for e := s.doc.First(m); e != rawjson.None; e = s.doc.Next(e) {
		if !knownType(s.doc.Text(e)) {
			s.drop(i, m, "left out: no type has this name")
			return
		}
	}
	if s.doc.Len(m) == 0 {
		s.drop(i, m, emptyList)
		return
	}
	s.names(i, m, m)
}

func knownType(name []byte) bool {
	switch string(name) {
	case "string", "number", "integer", "boolean", "array", "object", "null":
		return true
	}
	return false
}

// nameLists checks the lists in keyword m, which holds an object of them.
// Members of the other kinds are left alone.
func (s *safety) nameLists(i int32, m rawjson.Node, others ...rawjson.Kind) {
	for e := s.doc.First(m); e != rawjson.None; e = s.doc.Next(e) {
		switch kind := s.doc.Kind(e); {
		case kind == rawjson.Array:
			s.names(i, m, e)
		case !slices.Contains(others, kind):
			s.patches.drop(e)
			s.record(i, m, "member left out: a value of the wrong type")
			s.loosen(i)
		}
	}
}

// names checks a list of unique strings in keyword m. Each demands something
// for itself, so what is no string can be left out of it.
func (s *safety) names(i int32, m, list rawjson.Node) {
	if s.doc.Kind(list) != rawjson.Array {
		s.drop(i, m, wrongType)
		return
	}
	if s.allDifferent(list) && s.allStrings(list) {
		return
	}
	seen := make(map[string]bool, s.doc.Len(list))
	legal := make([]rawjson.Node, 0, s.doc.Len(list))
	wrong := 0
	for e := s.doc.First(list); e != rawjson.None; e = s.doc.Next(e) {
		name := s.doc.Str(e)
		switch {
		case s.doc.Kind(e) != rawjson.String:
			wrong++
		case !seen[name]:
			seen[name] = true
			legal = append(legal, e)
		}
	}
	if len(legal) == s.doc.Len(list) {
		return
	}
	s.patches.replace(list, s.listOf(legal))
	s.record(i, m, "without duplicates and what is no name")
	if wrong > 0 {
		s.loosen(i)
	}
}

func (s *safety) allStrings(list rawjson.Node) bool {
	for e := s.doc.First(list); e != rawjson.None; e = s.doc.Next(e) {
		if s.doc.Kind(e) != rawjson.String {
			return false
		}
	}
	return true
}

func (s *safety) listOf(nodes []rawjson.Node) []byte {
	text := []byte{'['}
	for k, n := range nodes {
		if k > 0 {
			text = append(text, ',')
		}
		text = append(text, s.doc.Raw(n)...)
	}
	return append(text, ']')
}

// enum checks a list of values. Clients compare numbers as doubles: two that
// only differ beyond a double's digits are duplicates to them, so such a list
// cannot be published.
func (s *safety) enum(i int32, m rawjson.Node) {
	switch {
	case s.doc.Kind(m) != rawjson.Array:
		s.drop(i, m, wrongType)
		return
	case s.doc.Len(m) == 0:
		s.drop(i, m, emptyList)
		return
	case s.allDifferent(m):
		return
	}
	seen := make(map[string]rawjson.Node, s.doc.Len(m))
	unique := make([]rawjson.Node, 0, s.doc.Len(m))
	var key []byte
	for e := s.doc.First(m); e != rawjson.None; e = s.doc.Next(e) {
		key = s.appendDouble(key[:0], e)
		other, twice := seen[string(key)]
		switch {
		case !twice:
			seen[string(key)] = e
			unique = append(unique, e)
		case !s.same(other, e):
			s.drop(i, m, "left out: clients cannot tell its numbers apart")
			return
		}
	}
	if len(unique) < s.doc.Len(m) {
		s.patches.replace(m, s.listOf(unique))
		s.record(i, m, "without duplicates")
	}
}

// allDifferent reports whether a short list has nothing but different words,
// as most have.
func (s *safety) allDifferent(m rawjson.Node) bool {
	if s.doc.Len(m) > 16 {
		return false
	}
	for e := s.doc.First(m); e != rawjson.None; e = s.doc.Next(e) {
		raw := s.doc.Raw(e)
		switch s.doc.Kind(e) {
		case rawjson.String, rawjson.Null, rawjson.Bool:
		default:
			return false
		}
		if bytes.IndexByte(raw, '\\') >= 0 {
			return false
		}
		for other := s.doc.First(m); other != e; other = s.doc.Next(other) {
			if bytes.Equal(s.doc.Raw(other), raw) {
				return false
			}
		}
	}
	return true
}

// same reports whether two values that are equal in doubles are equal.
func (s *safety) same(a, b rawjson.Node) bool {
	if s.doc.Kind(a) == rawjson.Number {
		const exactDigits = 15
		x, y := s.doc.Raw(a), s.doc.Raw(b)
		return bytes.Equal(x, y) || len(x) <= exactDigits && len(y) <= exactDigits
	}
	x, errX := rawjson.AppendCanonical(nil, s.doc.Raw(a))
	y, errY := rawjson.AppendCanonical(nil, s.doc.Raw(b))
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// appendDouble writes a value in a form that is the same for all that are
// equal once their numbers are doubles.
func (s *safety) appendDouble(dst []byte, n rawjson.Node) []byte {
	switch s.doc.Kind(n) {
	case rawjson.Number:
		return strconv.AppendFloat(dst, s.float(n)+0, 'g', -1, 64)
	case rawjson.String:
		return rawjson.AppendString(dst, s.doc.Str(n))
	case rawjson.Array:
		dst = append(dst, '[')
		for e := s.doc.First(n); e != rawjson.None; e = s.doc.Next(e) {
			dst = append(s.appendDouble(dst, e), ',')
		}
		return append(dst, ']')
	case rawjson.Object:
		members := make([]rawjson.Node, 0, s.doc.Len(n))
		for m := s.doc.First(n); m != rawjson.None; m = s.doc.Next(m) {
			members = append(members, m)
		}
		slices.SortFunc(members, func(a, b rawjson.Node) int { return cmp.Compare(s.doc.Key(a), s.doc.Key(b)) })
		dst = append(dst, '{')
		for _, m := range members {
			dst = append(rawjson.AppendString(dst, s.doc.Key(m)), ':')
			dst = append(s.appendDouble(dst, m), ',')
		}
		return append(dst, '}')
	}
	return append(dst, s.doc.Raw(n)...)
}
