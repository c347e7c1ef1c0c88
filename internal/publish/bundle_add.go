package schema

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// addition is one document on its way into a bundle.
type addition struct {
	bundle  *Bundle
	sites   *sites
	patches patches
	members []rawjson.Node // the document's definitions
	names   []string
	chosen  []*definition // what each becomes
	spans   [][]reference // the references in each
}

// unname takes away what names the document as a whole, because it is about
// to become a part of another.
func (a *addition) unname() {
	for _, key := range []string{"$id", "$schema"} {
		if m := a.sites.doc.Get(0, key); m != rawjson.None {
			a.patches.drop(m)
		}
	}
}

// whole makes the document itself a definition and answers a reference to it.
func (a *addition) whole(doc []byte) []byte {
	var d *definition
	for _, known := range a.bundle.origin[wholeDocument] {
		if bytes.Equal(known.raw, doc) {
			d = known
		}
	}
	if d == nil {
		d = a.bundle.keep("Root", wholeDocument, doc, nil)
		for _, r := range a.sites.refs {
			if r.kind == refDefs || r.kind == refPointer {
				a.lead(r, d.pointer(), 0)
			}
		}
		d.text = a.patches.apply(0)
	}
	ref := rawjson.AppendString([]byte(`{"$ref":`), fragmentOf(d.pointer()))
	return append(ref, '}')
}

// pointer answers where d stands in a document that has the bundle's $defs.
func (d *definition) pointer() string { return "/$defs/" + escapeToken(d.name) }

// lead makes a reference lead to prefix instead of the first skip bytes of
// its pointer.
func (a *addition) lead(r reference, prefix string, skip int) {
	text := fragmentOf(prefix + a.fragment(r)[skip:])
	a.patches.replace(r.node, rawjson.AppendString(nil, text))
}

// fragment answers the JSON Pointer that a reference is.
func (a *addition) fragment(r reference) string {
	text := a.sites.doc.Str(r.node)[1:]
	if plain, ok := unescapeFragment(text); ok {
		return plain
	}
	return text
}

// parts takes the document's definitions one by one.
func (a *addition) parts() {
	if a.list(); len(a.members) > 0 {
		a.patches.drop(a.sites.defs)
	}
	for i := range a.members {
		a.share(i)
	}
	fresh := a.invent()
	a.redirect()
	for _, i := range fresh {
		d := a.chosen[i]
		d.text = a.patches.apply(a.members[i])
		d.links = make([]*definition, len(a.spans[i]))
		for k, r := range a.spans[i] {
			if def := a.target(r); def >= 0 {
				d.links[k] = a.chosen[def]
			}
		}
	}
}

// list finds the definitions and the references in each.
func (a *addition) list() {
	doc := a.sites.doc
	n := doc.Len(a.sites.defs)
	if n == 0 {
		return
	}
	a.members, a.names = make([]rawjson.Node, 0, n), make([]string, 0, n)
	a.chosen, a.spans = make([]*definition, n), make([][]reference, n)
	for m := doc.First(a.sites.defs); m != rawjson.None; m = doc.Next(m) {
		a.members = append(a.members, m)
		a.names = append(a.names, doc.Key(m))
	}
	refs := a.sites.refs
	for i := 0; i < len(refs); {
		def, start := a.sites.list[refs[i].site].def, i
		for i < len(refs) && a.sites.list[refs[i].site].def == def {
			i++
		}
		if def >= 0 {
			a.spans[def] = refs[start:i]
		}
	}
}

// target answers the ordinal of the definition that a reference leads to, -1
// if it leads to none.
func (a *addition) target(r reference) int32 {
	if r.target < 0 {
		return -1
	}
	return a.sites.list[r.target].def
}

// share looks for definition i in the bundle.
func (a *addition) share(i int) {
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

// match reports whether definition i is d, and notes that it is, as well as
// all that follows from it. Definitions that refer to each other in a circle
// are the same if nothing speaks against it.
func (a *addition) match(i int, d *definition, tried *[]int) bool {
	if a.chosen[i] != nil {
		return a.chosen[i] == d
	}
	if len(d.links) != len(a.spans[i]) || !bytes.Equal(d.raw, a.sites.doc.Raw(a.members[i])) {
		return false
	}
	a.chosen[i] = d
	*tried = append(*tried, i)
	for k, r := range a.spans[i] {
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

// invent makes definitions of those that the bundle does not have, and
// answers their ordinals.
func (a *addition) invent() (fresh []int) {
	var others map[string]bool
	if len(a.bundle.taken) > 0 {
		others = make(map[string]bool, len(a.names))
		for _, name := range a.names {
			others[name] = true
		}
	}
	for i, d := range a.chosen {
		if d == nil {
			a.chosen[i] = a.bundle.keep(a.names[i], a.names[i], a.sites.doc.Raw(a.members[i]), others)
			fresh = append(fresh, i)
		}
	}
	return fresh
}

// redirect makes the references lead to the names that the definitions have
// in the bundle.
func (a *addition) redirect() {
	for _, r := range a.sites.refs {
		if r.kind != refDefs {
			continue
		}
		if def := a.target(r); def >= 0 {
			a.follow(r, int(def))
			continue
		}
		a.dangle(r)
	}
}

// follow gives a reference the new name of the definition that it is about.
func (a *addition) follow(r reference, def int) {
	if a.chosen[def].name != a.names[def] {
		a.lead(r, a.chosen[def].pointer(), len("/$defs/")+len(escapeToken(a.names[def])))
	}
}

// dangle keeps a reference that leads nowhere from leading to a definition of
// another document.
func (a *addition) dangle(r reference) {
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
		name = b.free(name, nil)
		a.lead(r, "/$defs/"+escapeToken(name), len("/$defs/")+len(token))
	}
	b.taken[name] = true
}
