package schema

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// sites lists every place of a document where a schema stands, and every
// reference. It reads nothing into const, enum, default and unknown keywords.
type sites struct {
	doc     *rawjson.Doc
	list    []site // as they stand in the document; the first is the root
	refs    []reference
	names   []int32 // places with an $id, $anchor or $dynamicAnchor, the root's $id not counted
	defs    rawjson.Node
	anchors map[anchor]int32 // by name; made on first use
	open    []rawjson.Node   // values of unevaluatedItems and unevaluatedProperties
}

// site is a schema in its document.
type site struct {
	node   rawjson.Node
	holder rawjson.Node // value of the parent's keyword that it stands in; node itself where that holds one schema
	parent int32
	head   int32 // the topmost place that speaks of the same value
	def    int32 // ordinal of the root's definition that it stands in; -1: none
	via    keyword
}

// reference is a $ref or $dynamicRef.
type reference struct {
	node   rawjson.Node // the text
	site   int32        // where it stands
	target int32        // the place that it leads to; -1: none in this document
	via    keyword
	kind   refKind
}

// refKind says how the text of a reference is to be read.
type refKind uint8

const (
	refForeign refKind = iota // another document, or no text at all
	refDefs                   // "#/$defs/…"
	refPointer                // "#" or any other "#/…"
	refAnchor                 // "#name"
)

func findSites(doc *rawjson.Doc) *sites {
	x := &sites{doc: doc, defs: rawjson.None}
	size := len(doc.Source())/40 + 4
	x.list = make([]site, 0, size)
	x.walk(site{node: doc.Root(), holder: doc.Root(), parent: -1, def: -1})
	for i := range x.refs {
		x.resolve(&x.refs[i])
	}
	return x
}

// walk lists p and what is below it.
func (x *sites) walk(p site) {
	me := int32(len(x.list)) //nolint:gosec // fewer than nodes
	x.list = append(x.list, p)
	if x.doc.Kind(p.node) != rawjson.Object {
		return
	}
	for m := x.doc.First(p.node); m != rawjson.None; m = x.doc.Next(m) {
		k := x.keyword(m)
		switch k {
		case noKeyword, kwType, kwNote:
			continue
		case kwRef, kwDynamicRef:
			x.refs = append(x.refs, reference{node: m, site: me, target: -1, via: k})
		case kwID, kwAnchor, kwDynamicAnchor:
			if me != 0 || k != kwID {
				x.names = append(x.names, me)
			}
		case kwUnevaluatedItems, kwUnevaluatedProperties:
			x.open = append(x.open, m)
		case kwDefs:
			if me == 0 && x.doc.Kind(m) == rawjson.Object && m == x.doc.Get(p.node, "$defs") {
				x.defs = m
			}
		}
		x.below(me, m, k)
	}
}

// below lists the schemas in the value m of keyword k of place me.
func (x *sites) below(me int32, m rawjson.Node, k keyword) {
	p := site{holder: m, parent: me, def: x.list[me].def, via: k}
	p.head = int32(len(x.list)) //nolint:gosec // fewer than nodes
	if k.inPlace() {
		p.head = x.list[me].head
	}
	f, kind := k.form(), x.doc.Kind(m)
	if f == holdsOne && k == kwItems && kind == rawjson.Array {
		f = holdsList
	}
	switch {
	case f == holdsOne:
		p.node = m
		x.walk(p)
	case f == holdsList && kind == rawjson.Array, f == holdsMap && kind == rawjson.Object:
		x.each(p, k)
	}
}

// each lists the schemas in an array or object of them.
func (x *sites) each(p site, k keyword) {
	for n := x.doc.First(p.holder); n != rawjson.None; n = x.doc.Next(n) {
		if p.holder == x.defs {
			p.def++
		}
		if k == kwDependencies && x.doc.Kind(n) == rawjson.Array {
			continue
		}
		if !k.inPlace() {
			p.head = int32(len(x.list)) //nolint:gosec // fewer than nodes
		}
		p.node = n
		x.walk(p)
	}
}

// keyword knows the keyword that member m is.
func (x *sites) keyword(m rawjson.Node) keyword {
	return keywordOf(x.doc.KeyText(m))
}

// at answers the place that begins at n, -1 if none does.
func (x *sites) at(n rawjson.Node) int32 {
	i, ok := slices.BinarySearchFunc(x.list, n, func(p site, n rawjson.Node) int {
		return cmp.Compare(p.node, n)
	})
	if !ok {
		return -1
	}
	return int32(i) //nolint:gosec // fewer than nodes
}

// resolve finds out where a reference leads.
func (x *sites) resolve(r *reference) {
	text, local := bytes.CutPrefix(x.doc.Text(r.node), []byte("#"))
	if !local {
		return
	}
	if name, ok := bytes.CutPrefix(text, []byte("/$defs/")); ok && len(x.names) == 0 && !bytes.ContainsAny(name, "/~%") {
		r.kind = refDefs // as nearly all are
		if n := x.doc.Get(x.defs, string(name)); n != rawjson.None {
			r.target = x.at(n)
		}
		return
	}
	fragment := string(text)
	if strings.IndexByte(fragment, '%') >= 0 {
		var ok bool
		if fragment, ok = unescapeFragment(fragment); !ok {
			return
		}
	}
	switch {
	case fragment != "" && fragment[0] != '/':
		r.kind = refAnchor
		r.target = x.anchor(r.site, fragment)
		return
	case strings.HasPrefix(fragment, "/$defs/"):
		r.kind = refDefs
	default:
		r.kind = refPointer
	}
	if base := x.base(r.site); base != 0 {
		r.kind = refPointer
		fragment = x.pointer(base) + fragment
	}
	if n := x.doc.Pointer(fragment); n != rawjson.None {
		r.target = x.at(n)
	}
}

// base answers the place whose $id is the base of references in place i.
func (x *sites) base(i int32) int32 {
	if len(x.names) == 0 {
		return 0
	}
	for ; i > 0; i = x.list[i].parent {
		if x.doc.Kind(x.doc.Get(x.list[i].node, "$id")) == rawjson.String {
			return i
		}
	}
	return 0
}

// anchor answers the place with an anchor, as seen from place from.
func (x *sites) anchor(from int32, name string) int32 {
	if x.anchors == nil {
		x.anchors = map[anchor]int32{}
		for _, i := range slices.Backward(x.names) {
			for _, key := range []string{"$anchor", "$dynamicAnchor"} {
				if m := x.doc.Get(x.list[i].node, key); x.doc.Kind(m) == rawjson.String {
					x.anchors[anchor{x.base(i), x.doc.Str(m)}] = i
				}
			}
		}
	}
	if i, ok := x.anchors[anchor{x.base(from), name}]; ok {
		return i
	}
	return -1
}

// anchor is a name, known below the place that is its base.
type anchor struct {
	base int32
	name string
}

// pointer answers the JSON Pointer of place i.
func (x *sites) pointer(i int32) string {
	var tokens []string
	for ; i > 0; i = x.list[i].parent {
		p := &x.list[i]
		if p.holder != p.node {
			tokens = append(tokens, x.token(p.holder, p.node))
		}
		tokens = append(tokens, escapeToken(x.doc.Key(p.holder)))
	}
	slices.Reverse(tokens)
	var b strings.Builder
	for _, t := range tokens {
		b.WriteString("/" + t)
	}
	return b.String()
}

// token answers the token of a pointer that leads from container to n.
func (x *sites) token(container, n rawjson.Node) string {
	if x.doc.Kind(container) == rawjson.Object {
		return escapeToken(x.doc.Key(n))
	}
	i := 0
	for c := x.doc.First(container); c != n; c = x.doc.Next(c) {
		i++
	}
	return strconv.Itoa(i)
}

func escapeToken(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "~", "~0"), "/", "~1")
}

// refAt answers the reference whose text is m, nil if none is.
func (x *sites) refAt(m rawjson.Node) *reference {
	i, ok := slices.BinarySearchFunc(x.refs, m, func(r reference, m rawjson.Node) int { return cmp.Compare(r.node, m) })
	if !ok {
		return nil
	}
	return &x.refs[i]
}
