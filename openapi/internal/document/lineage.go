package document

import (
	"iter"
	"slices"
	"strconv"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// lineage is the parent of every value of a file and its index among its
// siblings, by node.
type lineage struct {
	parent []rawjson.Node
	index  []uint32
}

// lineageOf visits the whole file once.
func lineageOf(doc *rawjson.Doc) lineage {
	var l lineage
	l.enter(doc, doc.Root(), rawjson.None, 0)
	return l
}

func (l *lineage) enter(doc *rawjson.Doc, n, parent rawjson.Node, index uint32) {
	if more := int(n) + 1 - len(l.parent); more > 0 {
		l.parent = append(l.parent, make([]rawjson.Node, more)...)
		l.index = append(l.index, make([]uint32, more)...)
	}
	l.parent[n], l.index[n] = parent, index
	i := uint32(0)
	for c := doc.First(n); c != rawjson.None; c = doc.Next(c) {
		l.enter(doc, c, n, i)
		i++
	}
}

// PathTo lists the keys and indexes from the root to a value.
func PathTo(target Value) []string {
	doc := target.File.Doc
	var path []string
	parent := rawjson.None
	for n, index := range target.File.Ancestors(target.Node) {
		switch doc.Kind(parent) {
		case rawjson.Object:
			path = append(path, doc.Key(n))
		case rawjson.Array:
			path = append(path, strconv.Itoa(index))
		}
		parent = n
	}
	return path
}

// Ancestors iterates from the root to target, inclusive, with the index of each
// among its siblings.
func (f *File) Ancestors(target rawjson.Node) iter.Seq2[rawjson.Node, int] {
	l := f.lineage()
	var way []rawjson.Node
	for n := target; n != rawjson.None; n = l.parent[n] {
		way = append(way, n)
	}
	return func(yield func(rawjson.Node, int) bool) {
		for _, n := range slices.Backward(way) {
			if !yield(n, int(l.index[n])) {
				return
			}
		}
	}
}
