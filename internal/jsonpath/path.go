// Package jsonpath selects nodes of a JSON document by a query of RFC 9535.
//
// It works on the tape of a document and returns nodes, so that callers can
// read or replace their bytes. It does not know what they mean, and changes
// nothing.
//
// It is beside the path of a description: overlays select what they change with
// such queries.
package jsonpath

import (
	"errors"
	"fmt"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Bounds. Queries come from files, and a query can visit many more nodes than a
// document has: each ".." visits all descendants of every node.
const (
	maxQuery   = 16 << 10
	maxNesting = 64         // of filters
	maxVisits  = 10_000_000 // nodes visited by one query
)

// ErrTooMuch is returned for a query that would visit too many nodes.
var ErrTooMuch = errors.New("the query visits too many nodes")

// Path is a parsed query. It is safe for concurrent use.
type Path struct {
	text     string
	segments []segment
}

// String returns the text of the query.
func (p *Path) String() string { return p.text }

// segment descends one step, or any number of steps, from each node.
type segment struct {
	descend   bool
	selectors []selector
}

// selector picks children of a node.
type selector struct {
	kind   selectorKind
	name   string
	index  int64
	slice  slice
	filter expr
}

type selectorKind uint8

const (
	byName selectorKind = iota
	byIndex
	bySlice
	byFilter
	all
)

type slice struct {
	start, end       int64
	hasStart, hasEnd bool
	step             int64
}

// Select returns the nodes that the query selects, in the order of RFC 9535; a
// node may be listed twice.
func (p *Path) Select(doc *rawjson.Doc) ([]rawjson.Node, error) {
	e := &evaluation{doc: doc, root: doc.Root()}
	nodes := e.walk([]rawjson.Node{e.root}, p.segments)
	if e.visits > maxVisits {
		return nil, fmt.Errorf("%s: %w", p.text, ErrTooMuch)
	}
	return nodes, nil
}

// evaluation is one run of a query over a document.
type evaluation struct {
	doc    *rawjson.Doc
	root   rawjson.Node
	visits int
}

// visit counts a node and reports whether the limit is not reached.
func (e *evaluation) visit() bool {
	e.visits++
	return e.visits <= maxVisits
}

func (e *evaluation) walk(from []rawjson.Node, segments []segment) []rawjson.Node {
	for i := range segments {
		var next []rawjson.Node
		for _, n := range from {
			if segments[i].descend {
				next = e.descend(next, n, &segments[i])
			} else {
				next = e.pick(next, n, &segments[i])
			}
		}
		from = next
	}
	return from
}

// descend selects from n and all its descendants.
func (e *evaluation) descend(dst []rawjson.Node, n rawjson.Node, s *segment) []rawjson.Node {
	dst = e.pick(dst, n, s)
	for c := e.doc.First(n); c != rawjson.None && e.visit(); c = e.doc.Next(c) {
		dst = e.descend(dst, c, s)
	}
	return dst
}

func (e *evaluation) pick(dst []rawjson.Node, n rawjson.Node, s *segment) []rawjson.Node {
	for i := range s.selectors {
		if !e.visit() {
			return dst
		}
		dst = e.selectFrom(dst, n, &s.selectors[i])
	}
	return dst
}

func (e *evaluation) selectFrom(dst []rawjson.Node, n rawjson.Node, s *selector) []rawjson.Node {
	kind := e.doc.Kind(n)
	switch s.kind {
	case byName:
		if c := e.doc.Get(n, s.name); kind == rawjson.Object && c != rawjson.None {
			dst = append(dst, c)
		}
	case byIndex:
		if c := e.at(n, s.index); c != rawjson.None {
			dst = append(dst, c)
		}
	case bySlice:
		if kind == rawjson.Array {
			dst = e.appendSlice(dst, n, s.slice)
		}
	case byFilter, all:
		for c := e.doc.First(n); c != rawjson.None && e.visit(); c = e.doc.Next(c) {
			if s.kind == all || e.holds(s.filter, c) {
				dst = append(dst, c)
			}
		}
	}
	return dst
}

// at returns the element of an array, counted from the end where index is
// negative.
func (e *evaluation) at(n rawjson.Node, index int64) rawjson.Node {
	size := int64(e.doc.Len(n))
	if index < 0 {
		index += size
	}
	if e.doc.Kind(n) != rawjson.Array || index < 0 || index >= size {
		return rawjson.None
	}
	c := e.doc.First(n)
	for ; index > 0; index-- {
		c = e.doc.Next(c)
	}
	return c
}

// appendSlice follows RFC 9535 §2.3.4.2.2.
func (e *evaluation) appendSlice(dst []rawjson.Node, n rawjson.Node, s slice) []rawjson.Node {
	var items []rawjson.Node
	for c := e.doc.First(n); c != rawjson.None && e.visit(); c = e.doc.Next(c) {
		items = append(items, c)
	}
	size := int64(len(items))
	bound := func(v int64, given bool, otherwise, low, high int64) int64 {
		switch {
		case !given:
			return otherwise
		case v < 0:
			v += size
		}
		return min(max(v, low), high)
	}
	switch {
	case s.step > 0:
		lower, upper := bound(s.start, s.hasStart, 0, 0, size), bound(s.end, s.hasEnd, size, 0, size)
		for i := lower; i < upper; i += s.step {
			dst = append(dst, items[i])
		}
	case s.step < 0:
		upper, lower := bound(s.start, s.hasStart, size-1, -1, size-1), bound(s.end, s.hasEnd, -1, -1, size-1)
		for i := upper; i > lower; i += s.step {
			dst = append(dst, items[i])
		}
	}
	return dst
}
