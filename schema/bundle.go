package schema

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Bundle collects the definitions of several schema documents, so that their
// bodies can stand next to each other inside one document. The zero value is
// an empty bundle. A Bundle is not safe for concurrent use.
type Bundle struct {
	defs   []*definition
	origin map[string][]*definition // by the names that they had
	taken  map[string]bool          // names in use, and names that must not come into use
	only   []byte                   // the inside of $defs where nothing is added but one document; nil: see defs
}

// definition is one member of the bundle's $defs.
type definition struct {
	name  string        // in the bundle
	raw   []byte        // as it stood in its document
	text  []byte        // as it stands in the bundle
	links []*definition // what its references lead to, one by one; nil: no definition
}

// Add takes doc's definitions into the bundle and returns the rest, which can
// then stand anywhere inside a document that has the bundle's $defs at its
// root, and there accepts what doc accepts. Definitions that are the same down
// to the last one they refer to are kept once; where two differ under one
// name, the later one gets another. A document that refers to itself, or into
// its own body, becomes a definition as a whole.
//
// References that lead nowhere still lead nowhere afterwards, and those to
// other documents stay as they are: [Compatible] takes them out. The result
// may share memory with doc, which must not change any more. An error means
// that doc is not JSON, or no schema.
func (b *Bundle) Add(doc []byte) ([]byte, error) {
	parsed, err := rawjson.Parse(doc)
	if err != nil {
		return nil, fmt.Errorf("add to bundle: %w", err)
	}
	switch parsed.Kind(parsed.Root()) {
	case rawjson.Bool:
		return doc, nil
	case rawjson.Object:
	default:
		return nil, fmt.Errorf("add to bundle: a schema is an object or a boolean, not %s", excerpt(doc))
	}
	x := findSites(parsed)
	if x.needFlattening() {
		f := flatten{sites: x, patches: patches{doc: parsed}, note: func(int32, rawjson.Node, string) {}}
		f.run()
		if flat := f.patches.apply(0); !bytes.Equal(flat, doc) {
			doc = flat
			if parsed, err = rawjson.Parse(flat); err != nil {
				return nil, fmt.Errorf("add to bundle: %w", err)
			}
			x = findSites(parsed)
		}
	}
	a := addition{bundle: b, sites: x, patches: patches{doc: parsed}}
	a.unname()
	for i := range x.refs {
		if x.refs[i].kind == refPointer {
			return a.whole(doc), nil
		}
	}
	a.parts()
	if len(a.patches.list) == 0 {
		return doc, nil
	}
	return a.patches.apply(0), nil
}

// Size is about how many bytes AppendDefs appends; 0 if there is nothing to
// append.
func (b *Bundle) Size() int {
	size := len(b.only)
	for _, d := range b.defs {
		size += len(d.name) + len(d.text) + len(`"":,`)
	}
	if size > 0 {
		size += len(`"$defs":{}`)
	}
	return size
}

// AppendDefs appends the member "$defs", or nothing if the bundle is empty.
func (b *Bundle) AppendDefs(dst []byte) []byte {
	if b.only != nil {
		return append(append(append(dst, `"$defs":{`...), b.only...), '}')
	}
	for i, d := range b.defs {
		if i == 0 {
			dst = append(dst, `"$defs":{`...)
		} else {
			dst = append(dst, ',')
		}
		dst = append(rawjson.AppendString(dst, d.name), ':')
		dst = append(dst, d.text...)
	}
	if len(b.defs) > 0 {
		dst = append(dst, '}')
	}
	return dst
}

// wholeDocument stands in Bundle.origin for documents that became a
// definition as a whole. Being no valid UTF-8 it is no definition's name.
const wholeDocument = "\xff"

// keep takes a definition into the bundle under a name that is not in use.
// Others are names that must stay free as well.
func (b *Bundle) keep(wish, from string, raw []byte, others map[string]bool) *definition {
	if b.taken == nil {
		b.taken, b.origin = map[string]bool{}, map[string][]*definition{}
	}
	d := &definition{name: wish, raw: raw}
	if b.taken[wish] {
		d.name = b.free(wish, others)
	}
	b.taken[d.name] = true
	b.origin[from] = append(b.origin[from], d)
	b.defs = append(b.defs, d)
	return d
}

// free answers a name like the wished one that nobody has.
func (b *Bundle) free(wish string, others map[string]bool) string {
	name := wish
	for i := 2; b.taken[name] || others[name]; i++ {
		name = wish + "_" + strconv.Itoa(i)
	}
	return name
}
