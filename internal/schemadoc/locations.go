package schemadoc

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Locations lists the location of every schema in a document, and every reference.
// It skips const, enum, default and unknown keywords.
type Locations struct {
	Doc     *rawjson.Doc
	List    []schemaLocation // in document order; the first is the root
	Refs    []Reference
	names   []int32 // locations with an $id, $anchor or $dynamicAnchor, except the root's $id
	Defs    rawjson.Node
	anchors map[anchor]int32 // by name; made on first use
	open    []rawjson.Node   // values of unevaluatedItems and unevaluatedProperties
}

// schemaLocation is the location of a schema in its document.
type schemaLocation struct {
	Node   rawjson.Node
	Holder rawjson.Node // value of the parent's keyword that contains it; node itself where that is one schema
	Parent int32
	Head   int32 // the topmost location that applies to the same value
	Def    int32 // ordinal of the root's definition that contains it; -1: none
	Via    Keyword
}

// Reference is a $ref or $dynamicRef.
type Reference struct {
	Node     rawjson.Node // the text
	Location int32        // its location
	Target   int32        // the location of its target; -1: none in this document
	Via      Keyword
	Kind     refKind
}

// refKind is the form of a reference.
type refKind uint8

// The forms of references.
const (
	RefForeign refKind = iota // to another document, or not a string
	RefDefs                   // "#/$defs/…"
	RefPointer                // "#" or any other "#/…"
	refAnchor                 // "#name"
)

// FindLocations lists the locations and references of a document.
func FindLocations(doc *rawjson.Doc) *Locations {
	x := &Locations{Doc: doc, Defs: rawjson.None}
	size := len(doc.Source())/40 + 4
	x.List = make([]schemaLocation, 0, size)
	x.walk(schemaLocation{Node: doc.Root(), Holder: doc.Root(), Parent: -1, Def: -1})
	for i := range x.Refs {
		x.resolve(&x.Refs[i])
	}
	return x
}

// walk lists p and its subschemas.
func (x *Locations) walk(p schemaLocation) {
	me := int32(len(x.List)) //nolint:gosec // fewer than nodes
	x.List = append(x.List, p)
	if x.Doc.Kind(p.Node) != rawjson.Object {
		return
	}
	for m := x.Doc.First(p.Node); m != rawjson.None; m = x.Doc.Next(m) {
		k := x.Keyword(m)
		switch k {
		case NoKeyword, KwType, KwNote:
			continue
		case KwRef, KwDynamicRef:
			x.Refs = append(x.Refs, Reference{Node: m, Location: me, Target: -1, Via: k})
		case KwID, KwAnchor, KwDynamicAnchor:
			if me != 0 || k != KwID {
				x.names = append(x.names, me)
			}
		case KwUnevaluatedItems, KwUnevaluatedProperties:
			x.open = append(x.open, m)
		case KwDefs:
			if me == 0 && x.Doc.Kind(m) == rawjson.Object && m == x.Doc.Get(p.Node, "$defs") {
				x.Defs = m
			}
		}
		x.below(me, m, k)
	}
}

// below lists the schemas in the value m of keyword k of location me.
func (x *Locations) below(me int32, m rawjson.Node, k Keyword) {
	p := schemaLocation{Holder: m, Parent: me, Def: x.List[me].Def, Via: k}
	p.Head = int32(len(x.List)) //nolint:gosec // fewer than nodes
	if k.InPlace() {
		p.Head = x.List[me].Head
	}
	f, kind := k.Form(), x.Doc.Kind(m)
	if f == HoldsOne && k == KwItems && kind == rawjson.Array {
		f = HoldsList
	}
	switch {
	case f == HoldsOne:
		p.Node = m
		x.walk(p)
	case f == HoldsList && kind == rawjson.Array, f == holdsMap && kind == rawjson.Object:
		x.each(p, k)
	}
}

// each lists the schemas in an array or object of them.
func (x *Locations) each(p schemaLocation, k Keyword) {
	for n := x.Doc.First(p.Holder); n != rawjson.None; n = x.Doc.Next(n) {
		if p.Holder == x.Defs {
			p.Def++
		}
		if k == KwDependencies && x.Doc.Kind(n) == rawjson.Array {
			continue
		}
		if !k.InPlace() {
			p.Head = int32(len(x.List)) //nolint:gosec // fewer than nodes
		}
		p.Node = n
		x.walk(p)
	}
}

// Keyword returns the keyword of member m.
func (x *Locations) Keyword(m rawjson.Node) Keyword {
	return KeywordOf(x.Doc.KeyText(m))
}

// At returns the location of node n, -1 if there is none.
func (x *Locations) At(n rawjson.Node) int32 {
	i, ok := slices.BinarySearchFunc(x.List, n, func(p schemaLocation, n rawjson.Node) int {
		return cmp.Compare(p.Node, n)
	})
	if !ok {
		return -1
	}
	return int32(i) //nolint:gosec // fewer than nodes
}

// resolve finds the target of a reference.
func (x *Locations) resolve(r *Reference) {
	text, local := bytes.CutPrefix(x.Doc.Text(r.Node), []byte("#"))
	if !local {
		return
	}
	if name, ok := bytes.CutPrefix(text, []byte("/$defs/")); ok && len(x.names) == 0 && !bytes.ContainsAny(name, "/~%") {
		r.Kind = RefDefs // nearly all references
		if n := x.Doc.Get(x.Defs, string(name)); n != rawjson.None {
			r.Target = x.At(n)
		}
		return
	}
	fragment := string(text)
	if strings.IndexByte(fragment, '%') >= 0 {
		var ok bool
		if fragment, ok = UnescapeFragment(fragment); !ok {
			return
		}
	}
	switch {
	case fragment != "" && fragment[0] != '/':
		r.Kind = refAnchor
		r.Target = x.anchor(r.Location, fragment)
		return
	case strings.HasPrefix(fragment, "/$defs/"):
		r.Kind = RefDefs
	default:
		r.Kind = RefPointer
	}
	if base := x.base(r.Location); base != 0 {
		r.Kind = RefPointer
		fragment = x.Pointer(base) + fragment
	}
	if n := x.Doc.Pointer(fragment); n != rawjson.None {
		r.Target = x.At(n)
	}
}

// base returns the location whose $id is the base of references in location i.
func (x *Locations) base(i int32) int32 {
	if len(x.names) == 0 {
		return 0
	}
	for ; i > 0; i = x.List[i].Parent {
		if x.Doc.Kind(x.Doc.Get(x.List[i].Node, "$id")) == rawjson.String {
			return i
		}
	}
	return 0
}

// anchor returns the location of an anchor, as seen from location from.
func (x *Locations) anchor(from int32, name string) int32 {
	if x.anchors == nil {
		x.anchors = map[anchor]int32{}
		for _, i := range slices.Backward(x.names) {
			for _, key := range []string{"$anchor", "$dynamicAnchor"} {
				if m := x.Doc.Get(x.List[i].Node, key); x.Doc.Kind(m) == rawjson.String {
					x.anchors[anchor{x.base(i), x.Doc.Str(m)}] = i
				}
			}
		}
	}
	if i, ok := x.anchors[anchor{x.base(from), name}]; ok {
		return i
	}
	return -1
}

// anchor is a name in the scope of a base location.
type anchor struct {
	base int32
	name string
}

// Pointer returns the JSON Pointer of location i.
func (x *Locations) Pointer(i int32) string {
	var tokens []string
	for ; i > 0; i = x.List[i].Parent {
		p := &x.List[i]
		if p.Holder != p.Node {
			tokens = append(tokens, x.token(p.Holder, p.Node))
		}
		tokens = append(tokens, rawjson.EscapeToken(x.Doc.Key(p.Holder)))
	}
	slices.Reverse(tokens)
	var b strings.Builder
	for _, t := range tokens {
		b.WriteString("/" + t)
	}
	return b.String()
}

// token returns the reference token of n in a container.
func (x *Locations) token(container, n rawjson.Node) string {
	if x.Doc.Kind(container) == rawjson.Object {
		return rawjson.EscapeToken(x.Doc.Key(n))
	}
	i := 0
	for c := x.Doc.First(container); c != n; c = x.Doc.Next(c) {
		i++
	}
	return strconv.Itoa(i)
}

// RefAt returns the reference with the text m, or nil.
func (x *Locations) RefAt(m rawjson.Node) *Reference {
	i, ok := slices.BinarySearchFunc(x.Refs, m, func(r Reference, m rawjson.Node) int { return cmp.Compare(r.Node, m) })
	if !ok {
		return nil
	}
	return &x.Refs[i]
}

// UnescapeFragment decodes percent-encoding; not ok where the result is not
// valid UTF-8.
func UnescapeFragment(s string) (text string, ok bool) {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", false
		}
		high, low := hexDigit(s[i+1]), hexDigit(s[i+2])
		if high < 0 || low < 0 {
			return "", false
		}
		b.WriteByte(byte(high<<4 | low)) //nolint:gosec // two digits
		i += 2
	}
	return b.String(), utf8.ValidString(b.String())
}

func hexDigit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// FragmentOf returns a JSON Pointer as the fragment of a URI (RFC 6901 §6),
// with its "#".
func FragmentOf(pointer string) []byte {
	dst := make([]byte, 0, len(pointer)+8)
	dst = append(dst, '#')
	for i := range len(pointer) {
		if c := pointer[i]; InFragment(c) {
			dst = append(dst, c)
		} else {
			const digits = "0123456789ABCDEF"
			dst = append(dst, '%', digits[c>>4], digits[c&15])
		}
	}
	return dst
}

// InFragment reports whether c needs no encoding in a fragment (RFC 3986 §3.5).
func InFragment(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return strings.IndexByte("-._~!$&'()*+,;=:@/?", c) >= 0
}
