package openapi

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// listNames are the names by which lists are known, without signs and in lower
// case.
func listNames() []string {
	return []string{"items", "data", "results", "records", "entries", "values", "value", "list", "rows", "hits", "content", "elements", "objects"}
}

// listing is an answer that holds a list: the answer itself or one of its
// members.
type listing struct {
	doc   *rawjson.Doc
	list  rawjson.Node
	path  []string // of members to it; empty: the answer is the list
	count int
}

// readListing finds the list of an answer: at the same path as before where
// there was a page before, else in the member of a usual name, else the only one.
func readListing(res egress.Response, path []string, again bool) (listing, bool) {
	doc, err := rawjson.Parse(rawjson.WithoutMark(res.Body))
	if err != nil {
		return listing{}, false
	}
	l := listing{doc: doc, list: doc.Root(), path: path}
	if !again && doc.Kind(doc.Root()) == rawjson.Object {
		l.path = listPath(doc)
	}
	for _, member := range l.path {
		l.list = doc.Get(l.list, member)
	}
	l.count = doc.Len(l.list)
	return l, doc.Kind(l.list) == rawjson.Array
}

// listPath leads to the list of an answer that is an object. HAL has its lists
// in a member of their own.
func listPath(doc *rawjson.Doc) []string {
	if name := listMember(doc, doc.Root()); name != "" {
		return []string{name}
	}
	const embedded = "_embedded"
	if name := listMember(doc, doc.Get(doc.Root(), embedded)); name != "" {
		return []string{embedded, name}
	}
	return nil
}

// listMember is the member of at that is the list; empty: none can be told.
func listMember(doc *rawjson.Doc, at rawjson.Node) string {
	var arrays []string
	best, rank := "", len(listNames())
	for n := doc.First(at); n != rawjson.None; n = doc.Next(n) {
		if doc.Kind(n) != rawjson.Array {
			continue
		}
		name := doc.Key(n)
		arrays = append(arrays, name)
		if i := slices.Index(listNames(), plainWord(name)); i >= 0 && i < rank {
			best, rank = name, i
		}
	}
	if best == "" && len(arrays) == 1 {
		return arrays[0]
	}
	return best
}

// items is what stands between the brackets of the list.
func (l *listing) items() []byte {
	raw := l.doc.Raw(l.list)
	if len(raw) < len("[]") {
		return nil
	}
	return []byte(strings.TrimSpace(string(raw[1 : len(raw)-1])))
}

// about goes over what an answer says of its pages: members of the answer and
// of the usual holders, two levels deep. It ends when visit returns false.
func (l *listing) about(visit func(name string, n rawjson.Node) bool) {
	if len(l.path) == 0 {
		return
	}
	var level func(n rawjson.Node, deep int) bool
	level = func(at rawjson.Node, deep int) bool {
		for n := l.doc.First(at); n != rawjson.None; n = l.doc.Next(n) {
			name := plainWord(l.doc.Key(n))
			if n == l.list {
				continue
			}
			if !visit(name, n) {
				return false
			}
			if deep < 2 && l.doc.Kind(n) == rawjson.Object && isHolder(name) && !level(n, deep+1) {
				return false
			}
		}
		return true
	}
	level(l.doc.Root(), 0)
}

// number is what the answer says of its pages under one of the names.
func (l *listing) number(names ...string) (value int, ok bool) {
	l.about(func(name string, n rawjson.Node) bool {
		if l.doc.Kind(n) == rawjson.Number && slices.Contains(names, name) {
			i, err := strconv.Atoi(string(l.doc.Raw(n)))
			value, ok = i, err == nil
		}
		return !ok
	})
	return value, ok
}

// ends tells whether the answer says itself that nothing follows.
func (l *listing) ends() (ends bool) {
	l.about(func(name string, n rawjson.Node) bool {
		switch {
		case saysMore(name):
			ends = l.doc.Kind(n) == rawjson.Bool && !l.doc.IsTrue(n)
		case name == "last", name == "islast", name == "lastpage":
			ends = l.doc.IsTrue(n)
		}
		return !ends
	})
	return ends
}

// more tells whether the answer says itself that something follows.
func (l *listing) more() (more bool) {
	l.about(func(name string, n rawjson.Node) bool {
		more = saysMore(name) && l.doc.IsTrue(n)
		return !more
	})
	return more
}

func saysMore(name string) bool {
	return slices.Contains([]string{"hasmore", "hasnext", "hasnextpage", "more"}, name)
}

// lastID is the id of the last item; empty: it has none.
func (l *listing) lastID() string {
	last := rawjson.None
	for n := l.doc.First(l.list); n != rawjson.None; n = l.doc.Next(n) {
		last = n
	}
	id := l.doc.Get(last, "id")
	switch l.doc.Kind(id) {
	case rawjson.String:
		return l.doc.Str(id)
	case rawjson.Number:
		return string(l.doc.Raw(id))
	default:
		return ""
	}
}

// with is the answer with the items of another list in the place of its own.
func (l *listing) with(items []byte) []byte {
	raw := l.doc.Raw(l.doc.Root())
	list := l.doc.Raw(l.list)
	at := l.doc.Offset(l.list) - l.doc.Offset(l.doc.Root())
	body := append(make([]byte, 0, len(raw)+len(items)), raw[:at]...)
	body = append(append(append(body, '['), items...), ']')
	return append(body, raw[at+len(list):]...)
}

// maxItems is the bound that the operation's answers set for the list; -1:
// none.
func (o *operation) maxItems(path []string) int {
	for _, a := range o.answers(func(value, string) {}) {
		if a.status[0] != '2' || !a.schema.ok() {
			continue
		}
		s, err := o.api.doc.deref(a.schema)
		for _, member := range path {
			if err == nil {
				s, err = o.api.doc.deref(s.get("properties").get(member))
			}
		}
		if n, bad := strconv.Atoi(string(s.get("maxItems").raw())); err == nil && bad == nil {
			return n
		}
	}
	return -1
}
