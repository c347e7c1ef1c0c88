package openapi

import (
	"net/url"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// identities are the names that schemas of a file give themselves.
type identities struct {
	ids     map[string]rawjson.Node // schema by its $id, resolved, without fragment
	bases   map[rawjson.Node]string // the other way round
	anchors map[anchorName]anchor
}

// anchorName is a name in the schema with an $id around it; in is the root
// where there is none.
type anchorName struct {
	in   rawjson.Node
	name string
}

// anchor is a schema that names itself with $anchor or $dynamicAnchor.
type anchor struct {
	node    rawjson.Node // the first of the name
	dynamic int          // how many give themselves the name by $dynamicAnchor
}

// identitiesOf finds the schemas that name themselves. What is no schema but
// data is not looked into.
func identitiesOf(doc *rawjson.Doc) identities {
	x := &identityReader{doc: doc, identities: identities{
		ids: map[string]rawjson.Node{}, bases: map[rawjson.Node]string{}, anchors: map[anchorName]anchor{},
	}}
	root := doc.Root()
	if self := doc.Str(doc.Get(root, "$self")); self != "" { // OpenAPI 3.2
		x.identify(root, "", self)
	}
	x.visit(root, root, x.bases[root])
	return x.identities
}

type identityReader struct {
	doc *rawjson.Doc
	identities
}

// visit looks at n and what it holds; in is the schema with an $id around it
// and base that $id.
func (x *identityReader) visit(n, in rawjson.Node, base string) {
	if id := x.doc.Get(n, "$id"); x.doc.Kind(id) == rawjson.String {
		if full := x.identify(n, base, x.doc.Str(id)); full != "" {
			in, base = n, full
		}
	}
	for c := x.doc.First(n); c != rawjson.None; c = x.doc.Next(c) {
		switch key := string(x.doc.RawKey(c)); {
		case key == "$anchor" || key == "$dynamicAnchor":
			x.anchor(anchorName{in, x.doc.Str(c)}, n, key == "$dynamicAnchor")
		case isData(key):
		default:
			x.visit(c, in, base)
		}
	}
}

// identify notes the $id of n and returns it resolved; empty: it is none.
func (x *identityReader) identify(n rawjson.Node, base, id string) string {
	full := resolveID(base, id)
	if full == "" {
		return ""
	}
	if _, taken := x.ids[full]; !taken {
		x.ids[full] = n
	}
	x.bases[n] = full
	return full
}

func (x *identityReader) anchor(name anchorName, n rawjson.Node, dynamic bool) {
	if name.name == "" {
		return
	}
	a, taken := x.anchors[name]
	if !taken {
		a.node = n
	}
	if dynamic {
		a.dynamic++
	}
	x.anchors[name] = a
}

// resolveID is an $id or a reference to one, against the $id around it. Both
// may be relative: then they are compared as they are.
func resolveID(base, id string) string {
	id, _, _ = strings.Cut(id, "#")
	if id == "" {
		return ""
	}
	u, err := url.Parse(id)
	if err != nil {
		return ""
	}
	if b, err := url.Parse(base); err == nil && base != "" {
		u = b.ResolveReference(u)
	}
	return u.String()
}

// anchor finds the schema of that name in the file or schema that v is.
func (v value) anchor(name string) value {
	a, ok := v.file.identities().anchors[anchorName{v.node, name}]
	if !ok {
		return value{}
	}
	return value{v.file, a.node}
}

// sharesAnchor tells whether several schemas of the file answer to the anchor
// that a $dynamicRef names.
func (f *file) sharesAnchor(ref string) bool {
	_, name, _ := strings.Cut(ref, "#")
	if name == "" || name[0] == '/' {
		return false
	}
	count := 0
	for at, a := range f.identities().anchors {
		if at.name == name {
			count += a.dynamic
		}
	}
	return count > 1
}

// named tells whether any schema of the file has an $id, without looking at
// all of them: few documents have one.
func (f *file) named() bool { return f.hasIDs() && len(f.identities().ids) > 0 }

// enclosing is the schema with an $id around a place, or the place's file, with
// the $id.
func (d *document) enclosing(v value) (home value, base string) {
	home = value{v.file, v.file.doc.Root()}
	if !v.file.named() {
		return home, ""
	}
	bases := v.file.identities().bases
	base = bases[home.node]
	if v.node == rawjson.None {
		return home, base
	}
	for n := range v.file.ancestors(v.node) {
		if id, ok := bases[n]; ok {
			home.node, base = n, id
		}
	}
	return home, base
}

// schemaNamed finds the schema of any open file whose $id a reference names.
func (d *document) schemaNamed(base, ref string) (value, bool) {
	full := resolveID(base, ref)
	if full == "" {
		return value{}, false
	}
	for _, f := range d.library.files() {
		if !f.named() {
			continue
		}
		if n, ok := f.identities().ids[full]; ok {
			return value{f, n}, true
		}
	}
	return value{}, false
}
