package publish

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/schemadoc"
)

// addition adds one document to a bundle.
type addition struct {
	bundle    *Bundle
	locations *schemadoc.Locations
	edits     schemadoc.Edits
	members   []rawjson.Node // the document's definitions
	names     []string
	chosen    []*definition           // the bundle's definition for each
	refs      [][]schemadoc.Reference // the references in each
}

// dropIdentity removes what identifies the document as a whole, because it becomes a
// part of another.
func (a *addition) dropIdentity() {
	for _, key := range []string{"$id", "$schema"} {
		if m := a.locations.Doc.Get(0, key); m != rawjson.None {
			a.edits.Drop(m)
		}
	}
}

// addWhole makes the document itself a definition and returns a reference to it.
func (a *addition) addWhole(doc []byte) []byte {
	var d *definition
	for _, known := range a.bundle.origin[WholeDocument] {
		if bytes.Equal(known.raw, doc) {
			d = known
		}
	}
	if d == nil {
		d = a.bundle.addDefinition("Root", WholeDocument, doc, nil)
		for _, r := range a.locations.Refs {
			if r.Kind == schemadoc.RefDefs || r.Kind == schemadoc.RefPointer {
				a.retarget(r, d.pointer(), 0)
			}
		}
		d.Text = a.edits.Apply(0)
	}
	ref := rawjson.AppendString([]byte(`{"$ref":`), schemadoc.FragmentOf(d.pointer()))
	return append(ref, '}')
}

// pointer returns the location of d in a document that has the bundle's $defs.
func (d *definition) pointer() string { return "/$defs/" + rawjson.EscapeToken(d.Name) }

// retarget points a reference to prefix instead of the first skip bytes of its
// pointer.
func (a *addition) retarget(r schemadoc.Reference, prefix string, skip int) {
	text := schemadoc.FragmentOf(prefix + a.fragment(r)[skip:])
	a.edits.Replace(r.Node, rawjson.AppendString(nil, text))
}

// fragment returns a reference's JSON Pointer.
func (a *addition) fragment(r schemadoc.Reference) string {
	text := a.locations.Doc.Str(r.Node)[1:]
	if plain, ok := schemadoc.UnescapeFragment(text); ok {
		return plain
	}
	return text
}

// addDefinitions adds the document's definitions one by one.
func (a *addition) addDefinitions() {
	if a.list(); len(a.members) > 0 {
		a.edits.Drop(a.locations.Defs)
	}
	for i := range a.members {
		a.reuse(i)
	}
	fresh := a.addNew()
	a.redirect()
	for _, i := range fresh {
		d := a.chosen[i]
		d.Text = a.edits.Apply(a.members[i])
		d.links = make([]*definition, len(a.refs[i]))
		for k, r := range a.refs[i] {
			if def := a.target(r); def >= 0 {
				d.links[k] = a.chosen[def]
			}
		}
	}
}

// list finds the definitions and the references in each.
func (a *addition) list() {
	doc := a.locations.Doc
	n := doc.Len(a.locations.Defs)
	if n == 0 {
		return
	}
	a.members, a.names = make([]rawjson.Node, 0, n), make([]string, 0, n)
	a.chosen, a.refs = make([]*definition, n), make([][]schemadoc.Reference, n)
	for m := doc.First(a.locations.Defs); m != rawjson.None; m = doc.Next(m) {
		a.members = append(a.members, m)
		a.names = append(a.names, doc.Key(m))
	}
	refs := a.locations.Refs
	for i := 0; i < len(refs); {
		def, start := a.locations.List[refs[i].Location].Def, i
		for i < len(refs) && a.locations.List[refs[i].Location].Def == def {
			i++
		}
		if def >= 0 {
			a.refs[def] = refs[start:i]
		}
	}
}

// target returns the ordinal of the definition that a reference targets, -1 if
// there is none.
func (a *addition) target(r schemadoc.Reference) int32 {
	if r.Target < 0 {
		return -1
	}
	return a.locations.List[r.Target].Def
}

// reuse looks for definition i in the bundle.
func (a *addition) reuse(i int) {
	for _, d := range a.bundle.origin[a.names[i]] {
		if a.chosen[i] != nil {
			return
		}
		var tried []int
		if !a.match(i, d, &tried) {
			for _, j := range tried {
				a.chosen[j] = nil
			}
		}
	}
}

// match reports whether definition i equals d, and records that and all that
// follows from it. Definitions that refer to each other in a cycle are equal if
// nothing tells them apart.
func (a *addition) match(i int, d *definition, tried *[]int) bool {
	if a.chosen[i] != nil {
		return a.chosen[i] == d
	}
	if len(d.links) != len(a.refs[i]) || !bytes.Equal(d.raw, a.locations.Doc.Raw(a.members[i])) {
		return false
	}
	a.chosen[i] = d
	*tried = append(*tried, i)
	for k, r := range a.refs[i] {
		def, link := a.target(r), d.links[k]
		if def < 0 || link == nil {
			if def < 0 && link == nil {
				continue
			}
			return false
		}
		if !a.match(int(def), link, tried) {
			return false
		}
	}
	return true
}

// addNew adds the definitions that the bundle does not have, and returns their
// ordinals.
func (a *addition) addNew() (fresh []int) {
	var others map[string]bool
	if len(a.bundle.taken) > 0 {
		others = make(map[string]bool, len(a.names))
		for _, name := range a.names {
			others[name] = true
		}
	}
	for i, d := range a.chosen {
		if d == nil {
			a.chosen[i] = a.bundle.addDefinition(a.names[i], a.names[i], a.locations.Doc.Raw(a.members[i]), others)
			fresh = append(fresh, i)
		}
	}
	return fresh
}

// redirect points the references to the names that the definitions have in the
// bundle.
func (a *addition) redirect() {
	for _, r := range a.locations.Refs {
		if r.Kind != schemadoc.RefDefs {
			continue
		}
		if def := a.target(r); def >= 0 {
			a.follow(r, int(def))
			continue
		}
		a.keepDangling(r)
	}
}

// follow updates a reference to the new name of its definition.
func (a *addition) follow(r schemadoc.Reference, def int) {
	if a.chosen[def].Name != a.names[def] {
		a.retarget(r, a.chosen[def].pointer(), len("/$defs/")+len(rawjson.EscapeToken(a.names[def])))
	}
}

// keepDangling keeps an unresolvable reference from resolving to a definition of
// another document.
func (a *addition) keepDangling(r schemadoc.Reference) {
	token := a.fragment(r)[len("/$defs/"):]
	if end := strings.IndexByte(token, '/'); end >= 0 {
		token = token[:end]
	}
	name := strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
	if def := slices.Index(a.names, name); def >= 0 {
		a.follow(r, def)
		return
	}
	b := a.bundle
	if b.taken == nil {
		b.taken, b.origin = map[string]bool{}, map[string][]*definition{}
	}
	if b.taken[name] {
		name = b.freeName(name, nil)
		a.retarget(r, "/$defs/"+rawjson.EscapeToken(name), len("/$defs/")+len(token))
	}
	b.taken[name] = true
}
