package schema

import (
	"strconv"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// array checks items and contains. Clients of draft-07 know neither
// prefixItems nor minContains: items is for every item to them, and contains
// wants one.
func (s *safety) array(i int32, m rawjson.Node, k keyword) {
	schema := s.list[i].node
	switch {
	case k == kwContains:
		if least := s.doc.Get(schema, "minContains"); s.isCount(least) && s.float(least) == 0 {
			s.drop(i, m, "left out: some clients want one where none is needed")
		}
	case s.doc.Kind(m) == rawjson.Array:
		s.tuple(i, m)
	case s.doc.Get(schema, "prefixItems") != rawjson.None && !s.isEverything(m):
		s.rest(i, m)
	}
}

func (s *safety) isEverything(n rawjson.Node) bool {
	return s.doc.IsTrue(n) || s.doc.Kind(n) == rawjson.Object && s.doc.Len(n) == 0
}

// tuple writes items as it was before 2020-12 as prefixItems.
func (s *safety) tuple(i int32, m rawjson.Node) {
	schema := s.list[i].node
	if s.doc.Get(schema, "prefixItems") != rawjson.None || s.doc.Len(m) == 0 {
		s.drop(i, m, wrongType)
		return
	}
	s.lose(m) // references into it no longer find the way
	s.patches.rename(m, "prefixItems")
	s.record(i, m, "became prefixItems")
}

// rest takes out the items that follow prefixItems. If there may be none, a
// number says it too.
func (s *safety) rest(i int32, m rawjson.Node) {
	schema := s.list[i].node
	prefix, most := s.doc.Get(schema, "prefixItems"), s.doc.Get(schema, "maxItems")
	none := s.doc.Kind(m) == rawjson.Bool
	if !none || s.doc.Kind(prefix) != rawjson.Array || most != rawjson.None && !s.isCount(most) {
		s.drop(i, m, "left out: some clients take it for all items")
		return
	}
	n := strconv.Itoa(s.doc.Len(prefix))
	s.lose(m)
	s.patches.drop(m)
	s.record(i, m, "became maxItems: some clients take it for all items")
	switch {
	case most == rawjson.None:
		s.patches.prepend(schema, []byte(`"maxItems":`+n))
	case s.float(most) > float64(s.doc.Len(prefix)):
		s.patches.replace(most, []byte(n))
	}
}
