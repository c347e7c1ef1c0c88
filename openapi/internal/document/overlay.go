package openapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/jsonpath"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Bounds of an overlay.
const (
	maxOverlay = 16 << 20
	maxActions = 1000
)

// overlay is a document of the Overlay Specification 1.0 or 1.1: actions that
// change a description before it is read.
type overlay struct {
	name    string
	actions []action
}

// action changes every place that its target selects.
type action struct {
	at     value // for reports
	target *jsonpath.Path
	remove bool
	update value          // not ok: none
	copy   *jsonpath.Path // of the place whose value is the update; nil: none
}

// overlays reads the overlays that the operator named, in their order.
func (o Options) overlays(ctx context.Context, seen *seen) ([]overlay, error) {
	var list []overlay
	for _, spec := range o.Overlays {
		raw, err := readOverlay(ctx, o, spec, seen)
		if err != nil {
			return nil, badSource("read overlay "+spec, err)
		}
		v, err := parseOverlay(spec, raw)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

func readOverlay(ctx context.Context, o Options, spec string, seen *seen) ([]byte, error) {
	if remote(spec) == nil {
		raw, err := readFile(spec)
		seen.file(spec, raw, err)
		return raw, err
	}
	raw, _, _, err := egress.Fetch(ctx, o.Client, spec, maxOverlay)
	seen.address(spec, raw)
	return raw, err
}

func parseOverlay(name string, raw []byte) (overlay, error) {
	f, err := parseFile(name, raw)
	if err != nil {
		return overlay{}, err
	}
	root := value{f, f.doc.Root()}
	if v := root.strAt("overlay"); v != "1.0" && v != "1.1" && !strings.HasPrefix(v, "1.0.") && !strings.HasPrefix(v, "1.1.") {
		return overlay{}, sourceError(name, root.line(), fmt.Sprintf("not an overlay of version 1.0 or 1.1: its member overlay is %.40q", v))
	}
	actions := root.get("actions")
	if n := actions.len(); actions.kind() != rawjson.Array || n == 0 || n > maxActions {
		return overlay{}, sourceError(name, root.line(), fmt.Sprintf("an overlay has a list of 1 to %d actions", maxActions))
	}
	o := overlay{name: name}
	for _, v := range actions.each() {
		a, err := parseAction(v)
		if err != nil {
			return overlay{}, sourceError(name, v.line(), err.Error())
		}
		o.actions = append(o.actions, a)
	}
	return o, nil
}

func parseAction(v value) (a action, err error) {
	a = action{at: v, remove: v.isTrue("remove"), update: v.get("update")}
	target := v.strAt("target")
	if target == "" {
		return a, errors.New("the action has no target")
	}
	if a.target, err = jsonpath.Parse(target); err != nil {
		return a, err
	}
	if from := v.strAt("copy"); from != "" {
		a.copy, err = jsonpath.Parse(from)
	}
	return a, err
}

// overlaid is the main file of a document after all overlays. What is in it has
// no line any more: the text that is read is nowhere to be seen.
func overlaid(name string, raw []byte, overlays []overlay) (*file, []tenon.Diagnostic, error) {
	f, err := parseFile(name, raw)
	if err != nil || len(overlays) == 0 {
		return f, nil, err
	}
	raw = f.doc.Source()
	var told []tenon.Diagnostic
	for i := range overlays {
		var faults []tenon.Diagnostic
		if raw, faults, err = overlays[i].apply(raw); err != nil {
			return nil, nil, err
		}
		told = append(told, faults...)
	}
	doc, err := rawjson.Parse(raw)
	if err != nil {
		return nil, nil, sourceError(name, 0, "not JSON after its overlays: "+err.Error())
	}
	return newFile(&file{name: name, doc: doc}), told, nil
}

// apply returns the document after all actions. What an action does not find
// is told and changes nothing.
func (o *overlay) apply(raw []byte) ([]byte, []tenon.Diagnostic, error) {
	var faults []tenon.Diagnostic
	for i := range o.actions {
		a := &o.actions[i]
		doc, err := rawjson.Parse(raw)
		if err != nil {
			return nil, nil, sourceError(o.name, a.at.line(), "the document is not JSON any more: "+err.Error())
		}
		changed, what, err := a.apply(doc)
		if err != nil {
			return nil, nil, sourceError(o.name, a.at.line(), err.Error())
		}
		if what != "" {
			faults = append(faults, tenon.Diagnostic{File: o.name, Line: a.at.line(), Message: what})
			continue
		}
		raw = changed
	}
	return raw, faults, nil
}

// apply returns the changed document, or why nothing is changed.
func (a *action) apply(doc *rawjson.Doc) (changed []byte, what string, err error) {
	nodes, err := a.target.Select(doc)
	if err != nil {
		return nil, "", err
	}
	slices.Sort(nodes)
	e := editor{doc: doc, nodes: slices.Compact(nodes), remove: a.remove}
	switch {
	case len(nodes) == 0:
		return nil, "the target " + a.target.String() + " selects nothing", nil
	case a.remove && e.nodes[0] == doc.Root():
		return nil, "", errors.New("the action removes the whole document")
	case a.remove:
	case a.update.ok():
		e.update = a.update
	case a.copy != nil:
		from, err := a.copy.Select(doc)
		if err != nil {
			return nil, "", err
		}
		if len(from) != 1 {
			return nil, fmt.Sprintf("copy %s selects %d places, not one", a.copy, len(from)), nil
		}
		e.update = value{&file{doc: doc}, from[0]}
	default:
		return nil, "the action has neither update nor remove nor copy", nil
	}
	return e.append(make([]byte, 0, len(doc.Source())+1024), doc.Root()), "", nil
}

// editor writes a document with changed places.
type editor struct {
	doc    *rawjson.Doc
	nodes  []rawjson.Node // in the order of the source
	remove bool
	update value
}

// inside tells whether some changed place lies in n, itself included, and
// whether n is one.
func (e *editor) inside(n rawjson.Node) (some, itself bool) {
	i, itself := slices.BinarySearch(e.nodes, n)
	if itself {
		return true, true
	}
	if i == len(e.nodes) {
		return false, false
	}
	return e.doc.Offset(e.nodes[i]) < e.doc.Offset(n)+len(e.doc.Raw(n)), false
}

func (e *editor) append(dst []byte, n rawjson.Node) []byte {
	some, itself := e.inside(n)
	if !some {
		return append(dst, e.doc.Raw(n)...)
	}
	if !itself {
		return e.children(dst, n)
	}
	inner, err := rawjson.Parse(e.children(nil, n))
	if err != nil { // cannot be: it was written from a document
		return append(dst, e.doc.Raw(n)...)
	}
	if inner.Kind(inner.Root()) == rawjson.Array {
		return appendEntry(dst, inner, e.update.raw())
	}
	return appendMerged(dst, spot{inner, inner.Root()}, spot{e.update.file.doc, e.update.node})
}

// children writes n with the changes below it.
func (e *editor) children(dst []byte, n rawjson.Node) []byte {
	kind := e.doc.Kind(n)
	if kind != rawjson.Object && kind != rawjson.Array {
		return append(dst, e.doc.Raw(n)...)
	}
	w := joiner{dst: append(dst, bracket(kind, true))}
	for c := e.doc.First(n); c != rawjson.None; c = e.doc.Next(c) {
		if _, itself := e.inside(c); itself && e.remove {
			continue
		}
		w.key(e.doc, c, kind)
		w.dst = e.append(w.dst, c)
	}
	return append(w.dst, bracket(kind, false))
}

// spot is a value in any document.
type spot struct {
	doc  *rawjson.Doc
	node rawjson.Node
}

// appendMerged writes a with b merged into it: objects member by member, arrays
// one behind the other, anything else replaced (Overlay 1.1 §4.4.3).
func appendMerged(dst []byte, a, b spot) []byte {
	kind := a.doc.Kind(a.node)
	switch {
	case kind != b.doc.Kind(b.node) || kind != rawjson.Object && kind != rawjson.Array:
		return append(dst, b.doc.Raw(b.node)...)
	case kind == rawjson.Array:
		w := joiner{dst: append(dst, '[')}
		for _, p := range []spot{a, b} {
			for c := p.doc.First(p.node); c != rawjson.None; c = p.doc.Next(c) {
				w.key(p.doc, c, kind)
				w.dst = append(w.dst, p.doc.Raw(c)...)
			}
		}
		return append(w.dst, ']')
	}
	w := joiner{dst: append(dst, '{')}
	for c := a.doc.First(a.node); c != rawjson.None; c = a.doc.Next(c) {
		w.key(a.doc, c, kind)
		if m := b.doc.Get(b.node, a.doc.Key(c)); m != rawjson.None {
			w.dst = appendMerged(w.dst, spot{a.doc, c}, spot{b.doc, m})
		} else {
			w.dst = append(w.dst, a.doc.Raw(c)...)
		}
	}
	for m := b.doc.First(b.node); m != rawjson.None; m = b.doc.Next(m) {
		if a.doc.Get(a.node, b.doc.Key(m)) == rawjson.None {
			w.key(b.doc, m, kind)
			w.dst = append(w.dst, b.doc.Raw(m)...)
		}
	}
	return append(w.dst, '}')
}

// appendEntry writes an array with one more element.
func appendEntry(dst []byte, doc *rawjson.Doc, entry []byte) []byte {
	raw := doc.Raw(doc.Root())
	dst = append(dst, raw[:len(raw)-1]...)
	if doc.Len(doc.Root()) > 0 {
		dst = append(dst, ',')
	}
	return append(append(dst, entry...), ']')
}

// joiner writes the commas and keys of an object or array.
type joiner struct {
	dst  []byte
	some bool
}

func (w *joiner) key(doc *rawjson.Doc, n rawjson.Node, kind rawjson.Kind) {
	if w.some {
		w.dst = append(w.dst, ',')
	}
	w.some = true
	if kind == rawjson.Object {
		w.dst = append(append(append(w.dst, '"'), doc.RawKey(n)...), '"', ':')
	}
}

func bracket(kind rawjson.Kind, open bool) byte {
	switch {
	case kind == rawjson.Array && open:
		return '['
	case kind == rawjson.Array:
		return ']'
	case open:
		return '{'
	}
	return '}'
}
