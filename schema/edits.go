package schema

import (
	"cmp"
	"slices"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// patches changes a document without decoding it: what no patch touches is
// copied as it stands.
type patches struct {
	doc   *rawjson.Doc
	list  []patch
	mixed bool // the list is not in the order of the document
	limit int  // apply stops soon after that many bytes; 0: no limit
}

type patch struct {
	node rawjson.Node
	kind patchKind
	text []byte
}

// patchKind orders the patches of one node: the first one that counts wins.
type patchKind uint8

const (
	dropMember patchKind = iota // the member goes
	newValue                    // text stands instead of the value
	newKey                      // the member gets the key text, given with quotes
	addMember                   // the object gets text as a member in front of its own
)

func (e *patches) drop(n rawjson.Node) { e.add(patch{node: n, kind: dropMember}) }
func (e *patches) replace(n rawjson.Node, text []byte) {
	e.add(patch{node: n, kind: newValue, text: text})
}

func (e *patches) rename(n rawjson.Node, key string) {
	e.add(patch{n, newKey, rawjson.AppendString(nil, key)})
}

func (e *patches) prepend(n rawjson.Node, text []byte) {
	e.add(patch{node: n, kind: addMember, text: text})
}

func (e *patches) add(one patch) {
	if n := len(e.list); n > 0 && inOrder(e.list[n-1], one) > 0 {
		e.mixed = true
	}
	e.list = append(e.list, one)
}

func inOrder(a, b patch) int { return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.kind, b.kind)) }

// apply is the value at n as it is after the patches: where none is at n or
// below, bytes of the document.
func (e *patches) apply(n rawjson.Node) []byte {
	if e.mixed {
		slices.SortStableFunc(e.list, inOrder)
		e.mixed = false
	}
	raw, first := e.doc.Raw(n), e.search(n)
	if first == len(e.list) || e.doc.Offset(e.list[first].node) >= e.doc.Offset(n)+len(raw) {
		return raw
	}
	size := len(raw) + 64
	if e.limit > 0 {
		size = min(size, e.limit+1024)
	}
	return e.value(make([]byte, 0, size), n, first)
}

// first answers the position of the first patch at n or behind; it is not in front
// of i.
func (e *patches) first(i int, n rawjson.Node) int {
	for i < len(e.list) && e.list[i].node < n {
		i++
	}
	return i
}

// search is first for an n that nothing is known of.
func (e *patches) search(n rawjson.Node) int {
	i, _ := slices.BinarySearchFunc(e.list, n, func(one patch, n rawjson.Node) int { return cmp.Compare(one.node, n) })
	return i
}

// find answers the patch of a kind at n; i is the position of n's first.
func (e *patches) find(i int, n rawjson.Node, kind patchKind) *patch {
	for ; i < len(e.list) && e.list[i].node == n; i++ {
		if e.list[i].kind == kind {
			return &e.list[i]
		}
	}
	return nil
}

// full reports whether dst has more bytes than anybody wants to see.
func (e *patches) full(dst []byte) bool { return e.limit > 0 && len(dst) > e.limit }

func (e *patches) value(dst []byte, n rawjson.Node, i int) []byte {
	raw := e.doc.Raw(n)
	switch {
	case e.full(dst):
		return dst
	case i == len(e.list) || e.doc.Offset(e.list[i].node) >= e.doc.Offset(n)+len(raw):
		return append(dst, raw...)
	}
	if one := e.find(i, n, newValue); one != nil {
		return append(dst, one.text...)
	}
	switch e.doc.Kind(n) {
	case rawjson.Object:
		return e.object(dst, n, i)
	case rawjson.Array:
		return e.array(dst, n, i)
	}
	return append(dst, raw...)
}

func (e *patches) object(dst []byte, n rawjson.Node, i int) []byte {
	dst = append(dst, '{')
	empty := len(dst)
	for ; i < len(e.list) && e.list[i].node == n; i++ {
		if e.list[i].kind != addMember {
			continue
		}
		if len(dst) > empty {
			dst = append(dst, ',')
		}
		dst = append(dst, e.list[i].text...)
	}
	for m := e.doc.First(n); m != rawjson.None && !e.full(dst); m = e.doc.Next(m) {
		i = e.first(i, m)
		if e.find(i, m, dropMember) != nil {
			continue
		}
		if len(dst) > empty {
			dst = append(dst, ',')
		}
		if one := e.find(i, m, newKey); one != nil {
			dst = append(dst, one.text...)
		} else {
			dst = append(dst, '"')
			dst = append(dst, e.doc.RawKey(m)...)
			dst = append(dst, '"')
		}
		dst = e.value(append(dst, ':'), m, i)
	}
	return append(dst, '}')
}

func (e *patches) array(dst []byte, n rawjson.Node, i int) []byte {
	dst = append(dst, '[')
	for c := e.doc.First(n); c != rawjson.None; c = e.doc.Next(c) {
		if c != e.doc.First(n) {
			dst = append(dst, ',')
		}
		i = e.first(i, c)
		dst = e.value(dst, c, i)
	}
	return append(dst, ']')
}
