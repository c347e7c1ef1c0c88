package schemadoc

import (
	"cmp"
	"slices"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Edits edits a document without decoding it: what no edit touches is
// copied.
type Edits struct {
	Doc   *rawjson.Doc
	List  []Edit
	mixed bool // the list is not in document order
	Limit int  // apply stops soon after that many bytes; 0: no limit
}

// Edit is a change of one node.
type Edit struct {
	node rawjson.Node
	kind editKind
	text []byte
}

// editKind orders the edits of one node: the first one applies.
type editKind uint8

const (
	dropMember editKind = iota // the member is removed
	newValue                   // text replaces the value
	newKey                     // text, which has quotes, replaces the key
	addMember                  // text is added as the object's first member
)

// Drop removes a member.
func (e *Edits) Drop(n rawjson.Node) { e.add(Edit{node: n, kind: dropMember}) }

// Replace replaces a value.
func (e *Edits) Replace(n rawjson.Node, text []byte) {
	e.add(Edit{node: n, kind: newValue, text: text})
}

// Rename changes the key of a member.
func (e *Edits) Rename(n rawjson.Node, key string) {
	e.add(Edit{n, newKey, rawjson.AppendString(nil, key)})
}

// Prepend adds text as the first member of an object.
func (e *Edits) Prepend(n rawjson.Node, text []byte) {
	e.add(Edit{node: n, kind: addMember, text: text})
}

func (e *Edits) add(one Edit) {
	if n := len(e.List); n > 0 && inOrder(e.List[n-1], one) > 0 {
		e.mixed = true
	}
	e.List = append(e.List, one)
}

func inOrder(a, b Edit) int { return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.kind, b.kind)) }

// Apply returns the value at n with the edits applied: where none is at n or
// below, the bytes of the document.
func (e *Edits) Apply(n rawjson.Node) []byte {
	if e.mixed {
		slices.SortStableFunc(e.List, inOrder)
		e.mixed = false
	}
	raw, first := e.Doc.Raw(n), e.search(n)
	if first == len(e.List) || e.Doc.Offset(e.List[first].node) >= e.Doc.Offset(n)+len(raw) {
		return raw
	}
	size := len(raw) + 64
	if e.Limit > 0 {
		size = min(size, e.Limit+1024)
	}
	return e.value(make([]byte, 0, size), n, first)
}

// first returns the index, i or greater, of the first edit at n or after it.
func (e *Edits) first(i int, n rawjson.Node) int {
	for i < len(e.List) && e.List[i].node < n {
		i++
	}
	return i
}

// search is first without a starting index.
func (e *Edits) search(n rawjson.Node) int {
	i, _ := slices.BinarySearchFunc(e.List, n, func(one Edit, n rawjson.Node) int { return cmp.Compare(one.node, n) })
	return i
}

// find returns the edit of a kind at n; i is the index of n's first.
func (e *Edits) find(i int, n rawjson.Node, kind editKind) *Edit {
	for ; i < len(e.List) && e.List[i].node == n; i++ {
		if e.List[i].kind == kind {
			return &e.List[i]
		}
	}
	return nil
}

// full reports whether dst is beyond the limit.
func (e *Edits) full(dst []byte) bool { return e.Limit > 0 && len(dst) > e.Limit }

func (e *Edits) value(dst []byte, n rawjson.Node, i int) []byte {
	raw := e.Doc.Raw(n)
	switch {
	case e.full(dst):
		return dst
	case i == len(e.List) || e.Doc.Offset(e.List[i].node) >= e.Doc.Offset(n)+len(raw):
		return append(dst, raw...)
	}
	if one := e.find(i, n, newValue); one != nil {
		return append(dst, one.text...)
	}
	switch e.Doc.Kind(n) {
	case rawjson.Object:
		return e.object(dst, n, i)
	case rawjson.Array:
		return e.array(dst, n, i)
	}
	return append(dst, raw...)
}

func (e *Edits) object(dst []byte, n rawjson.Node, i int) []byte {
	dst = append(dst, '{')
	empty := len(dst)
	for ; i < len(e.List) && e.List[i].node == n; i++ {
		if e.List[i].kind != addMember {
			continue
		}
		if len(dst) > empty {
			dst = append(dst, ',')
		}
		dst = append(dst, e.List[i].text...)
	}
	for m := e.Doc.First(n); m != rawjson.None && !e.full(dst); m = e.Doc.Next(m) {
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
			dst = append(dst, e.Doc.RawKey(m)...)
			dst = append(dst, '"')
		}
		dst = e.value(append(dst, ':'), m, i)
	}
	return append(dst, '}')
}

func (e *Edits) array(dst []byte, n rawjson.Node, i int) []byte {
	dst = append(dst, '[')
	for c := e.Doc.First(n); c != rawjson.None; c = e.Doc.Next(c) {
		if c != e.Doc.First(n) {
			dst = append(dst, ',')
		}
		i = e.first(i, c)
		dst = e.value(dst, c, i)
	}
	return append(dst, ']')
}
