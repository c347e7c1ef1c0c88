package schema

import "github.com/tenon-mcp/tenon/internal/rawjson"

// flatten takes the identities ($id, $anchor, $dynamicAnchor) out of a
// document and makes the references that need them pointers from the root.
// The document means the same afterwards, but for references by URI.
type flatten struct {
	sites   *sites
	patches patches
	note    func(site int32, m rawjson.Node, what string)
	nested  bool // parts of the document have an $id of their own
}

func (f *flatten) run() {
	f.nested = f.sites.nested()
	for i := range f.sites.refs {
		f.reference(&f.sites.refs[i])
	}
	f.names(0)
	for _, i := range f.sites.names {
		f.names(i)
	}
}

// names drops the identities of one place.
func (f *flatten) names(i int32) {
	n := f.sites.list[i].node
	for m := f.sites.doc.First(n); m != rawjson.None; m = f.sites.doc.Next(m) {
		switch f.sites.keyword(m) {
		case kwID, kwAnchor, kwDynamicAnchor:
			f.patches.drop(m)
			f.note(i, m, "left out: clients read it in different ways")
		}
	}
}

func (f *flatten) reference(r *reference) {
	doc := f.sites.doc
	base := f.sites.base(r.site)
	switch {
	case r.kind == refForeign, r.kind == refAnchor && r.target < 0:
		return
	case r.kind == refAnchor:
		f.point(r, f.sites.pointer(r.target))
	case base != 0:
		fragment, _ := unescapeFragment(doc.Str(r.node)[1:])
		f.point(r, f.sites.pointer(base)+fragment)
	}
	// With one resource in the document, the dynamic scope has nothing to
	// choose from (JSON Schema 2020-12, core, 8.2.3.2).
	if r.via == kwDynamicRef && r.target >= 0 && !f.nested && doc.Get(f.sites.list[r.site].node, "$ref") == rawjson.None {
		f.patches.rename(r.node, "$ref")
		f.note(r.site, r.node, "became $ref, which is the same here")
	}
}

func (f *flatten) point(r *reference, pointer string) {
	f.patches.replace(r.node, rawjson.AppendString(nil, fragmentOf(pointer)))
	f.note(r.site, r.node, "became a JSON Pointer")
}

// nested reports whether a part of the document has an $id of its own.
func (x *sites) nested() bool {
	for _, i := range x.names {
		if i != 0 && x.doc.Get(x.list[i].node, "$id") != rawjson.None {
			return true
		}
	}
	return false
}

// needFlattening reports whether references in the document need identities.
func (x *sites) needFlattening() bool {
	for i := range x.refs {
		if x.refs[i].kind == refAnchor || x.refs[i].via == kwDynamicRef {
			return true
		}
	}
	return len(x.names) > 0
}
