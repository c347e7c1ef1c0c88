package schema

import (
	"fmt"

	"github.com/tenon-mcp/tenon/internal/rawjson"
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
	return p, nil
}

// AppendValue appends what is selected of value, in the order that it has.
// The error is about the value not being JSON.
func (p *Projection) AppendValue(dst, value []byte) ([]byte, error) {
	doc, err := rawjson.Parse(value)
	if err != nil {
		return dst, err
	}
	return p.tree.value(dst, doc, doc.Root()), nil
}

func (t *pick) value(dst []byte, doc *rawjson.Doc, n rawjson.Node) []byte {
	kind := doc.Kind(n)
	if t.all || kind != rawjson.Object && kind != rawjson.Array {
		return append(dst, doc.Raw(n)...)
	}
	ends := "{}"
	items := t
	if kind == rawjson.Array {
		ends, items = "[]", t.item()
	}
	dst = append(dst, ends[0])
	empty := len(dst)
	for c := doc.First(n); c != rawjson.None; c = doc.Next(c) {
		below := items
		if kind == rawjson.Object {
			if below = t.member(doc.Key(c)); below == nil {
				continue
			}
		}
		if len(dst) > empty {
			dst = append(dst, ',')
		}
		if kind == rawjson.Object {
			dst = append(append(append(dst, '"'), doc.RawKey(c)...), `":`...)
		}
		dst = below.value(dst, doc, c)
	}
	return append(dst, ends[1])
}
