package schemadoc

import "github.com/tenon-mcp/tenon/internal/rawjson"

// Flatten removes the identities ($id, $anchor, $dynamicAnchor) from a document
// and turns the references that need them into pointers from the root. The
// document keeps its meaning, except for references by URI.
type Flatten struct {
	Locations *Locations
	Edits     Edits
	Note      func(site int32, m rawjson.Node, what string)
	nested    bool // the document embeds documents with an $id
}

// Run adds the edits.
func (f *Flatten) Run() {
	f.nested = f.Locations.nested()
	for i := range f.Locations.Refs {
		f.reference(&f.Locations.Refs[i])
	}
	f.names(0)
	for _, i := range f.Locations.names {
		f.names(i)
	}
}

// names drops the identities of one location.
func (f *Flatten) names(i int32) {
	n := f.Locations.List[i].Node
	for m := f.Locations.Doc.First(n); m != rawjson.None; m = f.Locations.Doc.Next(m) {
		switch f.Locations.Keyword(m) {
		case KwID, KwAnchor, KwDynamicAnchor:
			f.Edits.Drop(m)
			f.Note(i, m, "left out: clients read it in different ways")
		}
	}
}

func (f *Flatten) reference(r *Reference) {
	doc := f.Locations.Doc
	base := f.Locations.base(r.Location)
	switch {
	case r.Kind == RefForeign, r.Kind == refAnchor && r.Target < 0:
		return
	case r.Kind == refAnchor:
		f.point(r, f.Locations.Pointer(r.Target))
	case base != 0:
		fragment, _ := UnescapeFragment(doc.Str(r.Node)[1:])
		f.point(r, f.Locations.Pointer(base)+fragment)
	}
	// With one resource in the document, the dynamic scope offers no
	// alternatives (JSON Schema 2020-12, core, 8.2.3.2).
	if r.Via == KwDynamicRef && r.Target >= 0 && !f.nested && doc.Get(f.Locations.List[r.Location].Node, "$ref") == rawjson.None {
		f.Edits.Rename(r.Node, "$ref")
		f.Note(r.Location, r.Node, "became $ref, which is the same here")
	}
}

func (f *Flatten) point(r *Reference, pointer string) {
	f.Edits.Replace(r.Node, rawjson.AppendString(nil, FragmentOf(pointer)))
	f.Note(r.Location, r.Node, "became a JSON Pointer")
}

// nested reports whether the document embeds a document with an $id.
func (x *Locations) nested() bool {
	for _, i := range x.names {
		if i != 0 && x.Doc.Get(x.List[i].Node, "$id") != rawjson.None {
			return true
		}
	}
	return false
}

// NeedFlattening reports whether references in the document need identities.
func (x *Locations) NeedFlattening() bool {
	for i := range x.Refs {
		if x.Refs[i].Kind == refAnchor || x.Refs[i].Via == KwDynamicRef {
			return true
		}
	}
	return len(x.names) > 0
}
