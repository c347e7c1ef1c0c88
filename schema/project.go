package schema

import (
	"errors"
	"fmt"
)

// Projection selects parts of values. It is immutable and safe for concurrent
// use.
type Projection struct {
	paths []path
	tree  *pick
}

const (
	maxPaths     = 200
	maxPathBytes = 10_000 // bytes of all paths
	maxTokens    = 64
)

// ParseProjection reads paths. A path names a member, a member of that and so
// on: "name", "owner.login". "*" stands for every member of an object and for
// every item of an array, and may be written as "[]" behind a name: "items[].id"
// is "items.*.id". Items need not be mentioned: "items.id" selects the same.
// Names with dots or brackets are written as JSON Pointers, in which "*" has
// the same meaning: "/a.b/*/id".
//
// A path selects all of the value at its end, and the objects and arrays on
// the way with nothing else in them. What is neither object nor array on the
// way, such as null, is selected as it is.
func ParseProjection(paths ...string) (*Projection, error) {
	if len(paths) == 0 || len(paths) > maxPaths {
		return nil, fmt.Errorf("%d paths; 1 to %d select something", len(paths), maxPaths)
	}
	p, size := &Projection{}, 0
	for _, text := range paths {
		if size += len(text); size > maxPathBytes {
			return nil, fmt.Errorf("paths of more than %d bytes in all", maxPathBytes)
		}
		one, err := parsePath(text)
		if err != nil {
			return nil, err
		}
		p.paths = append(p.paths, one)
		p.tree = merge(p.tree, one.tree())
	}
	p.tree.prepare()
	return p, nil
}

// AppendValue appends what is selected of value, in the order that it has. The
// value must be strict JSON. The error is about one whose objects and arrays do
// not close; what is wrong inside texts and numbers is not looked at.
func (p *Projection) AppendValue(dst, value []byte) ([]byte, error) {
	s := selector{b: value, dst: dst}
	if !s.whole(p.tree) {
		return dst, errors.New("the value is not JSON")
	}
	return s.dst, nil
}
