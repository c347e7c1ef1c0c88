package document

import (
	"net/url"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// identities are the schemas of a file that have an $id or an anchor.
type identities struct {
	ids     map[string]rawjson.Node // schema by its $id, resolved, without fragment
	bases   map[rawjson.Node]string // the reverse of ids
	anchors map[anchorName]anchor
}

// anchorName is the name of an anchor and the schema resource that it belongs
// to: the nearest schema with an $id, or the root.
type anchorName struct {
	in   rawjson.Node
	name string
}

// anchor is a schema with an $anchor or $dynamicAnchor.
type anchor struct {
	node    rawjson.Node // the first one with this name
	dynamic int          // how many schemas declare the name with $dynamicAnchor
}

// identitiesOf finds the schemas with an $id or an anchor. It skips keywords
// whose values are data.
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

// visit reads n and its children; in is the nearest enclosing schema with an
// $id and base that $id.
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

// identify records the $id of n and returns it resolved, or "" if it is not a
// URI.
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

// resolveID resolves an $id, or a reference to one, against the $id around it.
// Both may be relative: then they are compared as they are.
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

// anchor finds the schema with that anchor in the file or schema resource v.
func (v Value) anchor(name string) Value {
	a, ok := v.File.identities().anchors[anchorName{v.Node, name}]
	if !ok {
		return Value{}
	}
	return Value{v.File, a.node}
}

// SharesAnchor reports whether several schemas of the file declare the anchor
// that a $dynamicRef names.
func (f *File) SharesAnchor(ref string) bool {
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

// named reports whether any schema of the file has an $id. Few documents have
// one, so the file is searched for the word first.
func (f *File) named() bool { return f.mayHaveIDs() && len(f.identities().ids) > 0 }

// enclosing returns the nearest schema with an $id around a place, or else the
// root of its file, and the $id.
func (d *Document) enclosing(v Value) (home Value, base string) {
	home = Value{v.File, v.File.Doc.Root()}
	if !v.File.named() {
		return home, ""
	}
	bases := v.File.identities().bases
	base = bases[home.Node]
	if v.Node == rawjson.None {
		return home, base
	}
	for n := range v.File.Ancestors(v.Node) {
		if id, ok := bases[n]; ok {
			home.Node, base = n, id
		}
	}
	return home, base
}

// schemaNamed finds the schema of any open file whose $id a reference names.
func (d *Document) schemaNamed(base, ref string) (Value, bool) {
	full := resolveID(base, ref)
	if full == "" {
		return Value{}, false
	}
	for _, f := range d.library.files() {
		if !f.named() {
			continue
		}
		if n, ok := f.identities().ids[full]; ok {
			return Value{f, n}, true
		}
	}
	return Value{}, false
}
