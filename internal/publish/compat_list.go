package publish

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/schemadoc"
)

// typeName checks the value of type.
func (s *compatPass) typeName(i int32, m rawjson.Node) {
	switch s.Doc.Kind(m) {
	case rawjson.String:
		if !knownType(s.Doc.Text(m)) {
			s.Drop(i, m, "left out: not the name of a type")
		}
		return
	case rawjson.Array:
	default:
		s.Drop(i, m, wrongType)
		return
	}
	for e := s.Doc.First(m); e != rawjson.None; e = s.Doc.Next(e) {
		if !knownType(s.Doc.Text(e)) {
			s.Drop(i, m, "left out: not the name of a type")
			return
		}
	}
	if s.Doc.Len(m) == 0 {
		s.Drop(i, m, emptyList)
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

// nameLists checks the lists in keyword m, whose value is an object of lists.
// Members of the other kinds are kept.
func (s *compatPass) nameLists(i int32, m rawjson.Node, others ...rawjson.Kind) {
	for e := s.Doc.First(m); e != rawjson.None; e = s.Doc.Next(e) {
		switch kind := s.Doc.Kind(e); {
		case kind == rawjson.Array:
			s.names(i, m, e)
		case !slices.Contains(others, kind):
			s.Edits.Drop(e)
			s.record(i, m, "member left out: a value of the wrong type")
			s.Widen(i)
		}
	}
}

// names checks a list of unique strings in keyword m. Each string is a
// requirement by itself, so other values can be dropped.
func (s *compatPass) names(i int32, m, list rawjson.Node) {
	if s.Doc.Kind(list) != rawjson.Array {
		s.Drop(i, m, wrongType)
		return
	}
	if s.allDifferent(list) && s.allStrings(list) {
		return
	}
	seen := make(map[string]bool, s.Doc.Len(list))
	legal := make([]rawjson.Node, 0, s.Doc.Len(list))
	wrong := 0
	for e := s.Doc.First(list); e != rawjson.None; e = s.Doc.Next(e) {
		name := s.Doc.Str(e)
		switch {
		case s.Doc.Kind(e) != rawjson.String:
			wrong++
		case !seen[name]:
			seen[name] = true
			legal = append(legal, e)
		}
	}
	if len(legal) == s.Doc.Len(list) {
		return
	}
	s.Edits.Replace(list, s.listOf(legal))
	s.record(i, m, "without duplicates and values that are not names")
	if wrong > 0 {
		s.Widen(i)
	}
}

func (s *compatPass) allStrings(list rawjson.Node) bool {
	for e := s.Doc.First(list); e != rawjson.None; e = s.Doc.Next(e) {
		if s.Doc.Kind(e) != rawjson.String {
			return false
		}
	}
	return true
}

func (s *compatPass) listOf(nodes []rawjson.Node) []byte {
	text := []byte{'['}
	for k, n := range nodes {
		if k > 0 {
			text = append(text, ',')
		}
		text = append(text, s.Doc.Raw(n)...)
	}
	return append(text, ']')
}

// enum checks a list of values. Clients compare numbers as doubles: two that
// differ only beyond a double's digits are duplicates to them, so such a list
// cannot be published.
func (s *compatPass) enum(i int32, m rawjson.Node) {
	switch {
	case s.Doc.Kind(m) != rawjson.Array:
		s.Drop(i, m, wrongType)
		return
	case s.Doc.Len(m) == 0:
		s.Drop(i, m, emptyList)
		return
	case s.allDifferent(m):
		return
	}
	seen := make(map[string]rawjson.Node, s.Doc.Len(m))
	unique := make([]rawjson.Node, 0, s.Doc.Len(m))
	var key []byte
	for e := s.Doc.First(m); e != rawjson.None; e = s.Doc.Next(e) {
		key = s.appendDouble(key[:0], e)
		other, twice := seen[string(key)]
		switch {
		case !twice:
			seen[string(key)] = e
			unique = append(unique, e)
		case !s.same(other, e):
			s.Drop(i, m, "left out: clients cannot distinguish its numbers")
			return
		}
	}
	if len(unique) < s.Doc.Len(m) {
		s.Edits.Replace(m, s.listOf(unique))
		s.record(i, m, "without duplicates")
	}
}

// allDifferent reports whether a short list consists of different words only,
// as most do.
func (s *compatPass) allDifferent(m rawjson.Node) bool {
	if s.Doc.Len(m) > 16 {
		return false
	}
	for e := s.Doc.First(m); e != rawjson.None; e = s.Doc.Next(e) {
		raw := s.Doc.Raw(e)
		switch s.Doc.Kind(e) {
		case rawjson.String, rawjson.Null, rawjson.Bool:
		default:
			return false
		}
		if bytes.IndexByte(raw, '\\') >= 0 {
			return false
		}
		for other := s.Doc.First(m); other != e; other = s.Doc.Next(other) {
			if bytes.Equal(s.Doc.Raw(other), raw) {
				return false
			}
		}
	}
	return true
}

// same reports whether two values that are equal in doubles are equal.
func (s *compatPass) same(a, b rawjson.Node) bool {
	if s.Doc.Kind(a) == rawjson.Number {
		const exactDigits = 15
		x, y := s.Doc.Raw(a), s.Doc.Raw(b)
		return bytes.Equal(x, y) || len(x) <= exactDigits && len(y) <= exactDigits
	}
	x, errX := rawjson.AppendCanonical(nil, s.Doc.Raw(a))
	y, errY := rawjson.AppendCanonical(nil, s.Doc.Raw(b))
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// appendDouble appends a value in a form that is the same for all values that
// are equal once their numbers are doubles.
func (s *compatPass) appendDouble(dst []byte, n rawjson.Node) []byte {
	switch s.Doc.Kind(n) {
	case rawjson.Number:
		return strconv.AppendFloat(dst, s.float(n)+0, 'g', -1, 64)
	case rawjson.String:
		return rawjson.AppendString(dst, s.Doc.Str(n))
	case rawjson.Array:
		dst = append(dst, '[')
		for e := s.Doc.First(n); e != rawjson.None; e = s.Doc.Next(e) {
			dst = append(s.appendDouble(dst, e), ',')
		}
		return append(dst, ']')
	case rawjson.Object:
		members := make([]rawjson.Node, 0, s.Doc.Len(n))
		for m := s.Doc.First(n); m != rawjson.None; m = s.Doc.Next(m) {
			members = append(members, m)
		}
		slices.SortFunc(members, func(a, b rawjson.Node) int { return cmp.Compare(s.Doc.Key(a), s.Doc.Key(b)) })
		dst = append(dst, '{')
		for _, m := range members {
			dst = append(rawjson.AppendString(dst, s.Doc.Key(m)), ':')
			dst = append(s.appendDouble(dst, m), ',')
		}
		return append(dst, '}')
	}
	return append(dst, s.Doc.Raw(n)...)
}

// array checks items and contains. Clients of draft-07 do not know prefixItems
// and minContains: they apply items to every item, and require one item that
// matches contains.
func (s *compatPass) array(i int32, m rawjson.Node, k schemadoc.Keyword) {
	schema := s.List[i].Node
	switch {
	case k == schemadoc.KwContains:
		if least := s.Doc.Get(schema, "minContains"); s.isCount(least) && s.float(least) == 0 {
			s.Drop(i, m, "left out: some clients require at least one item")
		}
	case s.Doc.Kind(m) == rawjson.Array:
		s.tuple(i, m)
	case s.Doc.Get(schema, "prefixItems") != rawjson.None && !s.isEverything(m):
		s.itemsAfterPrefix(i, m)
	}
}

// addItems adds items to arrays that have none. Where unevaluatedItems looks at what is
// left, items would take it away.
func (s *compatPass) addItems() {
	for i := range s.List {
		if s.List[i].Via == schemadoc.KwUnevaluatedItems {
			return
		}
	}
	for i := range s.List {
		n := s.List[i].Node
		if s.Doc.Kind(n) == rawjson.Object && s.namesArray(s.Doc.Get(n, "type")) && s.Doc.Get(n, "items") == rawjson.None &&
			(s.tuples || s.Doc.Get(n, "prefixItems") == rawjson.None) {
			s.Edits.Prepend(n, []byte(`"items":{}`))
		}
	}
}

// namesArray reports whether a type is array, or a list with it. A list of all types is
// a way to write anything, which type generators read.
func (s *compatPass) namesArray(t rawjson.Node) bool {
	const all = 7
	switch {
	case s.Doc.Kind(t) != rawjson.Array:
		return s.Doc.IsStr(t, "array")
	case s.Doc.Len(t) == all:
		return false
	}
	for e := s.Doc.First(t); e != rawjson.None; e = s.Doc.Next(e) {
		if s.Doc.IsStr(e, "array") {
			return true
		}
	}
	return false
}

func (s *compatPass) isEverything(n rawjson.Node) bool {
	return s.Doc.IsTrue(n) || s.Doc.Kind(n) == rawjson.Object && s.Doc.Len(n) == 0
}

// tuple writes items of older drafts as prefixItems.
func (s *compatPass) tuple(i int32, m rawjson.Node) {
	schema := s.List[i].Node
	if s.Doc.Get(schema, "prefixItems") != rawjson.None || s.Doc.Len(m) == 0 {
		s.Drop(i, m, wrongType)
		return
	}
	s.MarkRemoved(m) // references into it no longer resolve
	s.Edits.Rename(m, "prefixItems")
	s.record(i, m, "became prefixItems")
}

// itemsAfterPrefix removes the items that follows prefixItems. If no further items are
// allowed, maxItems replaces it.
func (s *compatPass) itemsAfterPrefix(i int32, m rawjson.Node) {
	schema := s.List[i].Node
	prefix, most := s.Doc.Get(schema, "prefixItems"), s.Doc.Get(schema, "maxItems")
	none := s.Doc.Kind(m) == rawjson.Bool
	if !none || s.Doc.Kind(prefix) != rawjson.Array || most != rawjson.None && !s.isCount(most) {
		s.Drop(i, m, "left out: some clients apply it to all items")
		return
	}
	n := strconv.Itoa(s.Doc.Len(prefix))
	s.MarkRemoved(m)
	s.Edits.Drop(m)
	s.record(i, m, "became maxItems: some clients apply it to all items")
	switch {
	case most == rawjson.None:
		s.Edits.Prepend(schema, []byte(`"maxItems":`+n))
	case s.float(most) > float64(s.Doc.Len(prefix)):
		s.Edits.Replace(most, []byte(n))
	}
}
