package document

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

// Limits of an overlay.
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

// action changes every node that its target selects.
type action struct {
	at     Value // for reports
	target *jsonpath.Path
	remove bool
	update Value          // not ok: none
	copy   *jsonpath.Path // the node whose value is the update; nil: none
}

// readOverlays reads the operator's overlays, in order.
func readOverlays(ctx context.Context, o Options, read *Inputs) ([]overlay, error) {
	var list []overlay
	for _, spec := range o.Overlays {
		raw, err := readOverlay(ctx, o, spec, read)
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

func readOverlay(ctx context.Context, o Options, spec string, read *Inputs) ([]byte, error) {
	if parseRemote(spec) == nil {
		raw, err := ReadFile(spec)
		read.AddFile(spec, raw, err)
		return raw, err
	}
	raw, _, _, err := egress.Fetch(ctx, o.Client, spec, maxOverlay)
	read.AddAddress(spec, raw)
	return raw, err
}

func parseOverlay(name string, raw []byte) (overlay, error) {
	f, err := parseFile(name, raw)
	if err != nil {
		return overlay{}, err
	}
	root := Value{f, f.Doc.Root()}
	if v := root.StrAt("overlay"); v != "1.0" && v != "1.1" && !strings.HasPrefix(v, "1.0.") && !strings.HasPrefix(v, "1.1.") {
		return overlay{}, sourceError(name, root.Line(), fmt.Sprintf("not an overlay of version 1.0 or 1.1: overlay is %.40q", v))
	}
	actions := root.Get("actions")
	if n := actions.Len(); actions.Kind() != rawjson.Array || n == 0 || n > maxActions {
		return overlay{}, sourceError(name, root.Line(), fmt.Sprintf("actions must be a list of 1 to %d actions", maxActions))
	}
	o := overlay{name: name}
	for _, v := range actions.Each() {
		a, err := parseAction(v)
		if err != nil {
			return overlay{}, sourceError(name, v.Line(), err.Error())
		}
		o.actions = append(o.actions, a)
	}
	return o, nil
}

func parseAction(v Value) (a action, err error) {
	a = action{at: v, remove: v.IsTrue("remove"), update: v.Get("update")}
	target := v.StrAt("target")
	if target == "" {
		return a, errors.New("the action has no target")
	}
	if a.target, err = jsonpath.Parse(target); err != nil {
		return a, err
	}
	if from := v.StrAt("copy"); from != "" {
		a.copy, err = jsonpath.Parse(from)
	}
	return a, err
}

// applyOverlays is the main file of a document after all overlays. Its values have
// no lines, because the changed text is not in any file.
func applyOverlays(name string, raw []byte, overlays []overlay) (*File, []tenon.Diagnostic, error) {
	f, err := parseFile(name, raw)
	if err != nil || len(overlays) == 0 {
		return f, nil, err
	}
	raw = f.Doc.Source()
	var told []tenon.Diagnostic
	for i := range overlays {
		var diagnostics []tenon.Diagnostic
		if raw, diagnostics, err = overlays[i].apply(raw); err != nil {
			return nil, nil, err
		}
		told = append(told, diagnostics...)
	}
	doc, err := rawjson.Parse(raw)
	if err != nil {
		return nil, nil, sourceError(name, 0, "not JSON after its overlays were applied: "+err.Error())
	}
	return newFile(&File{name: name, Doc: doc}), told, nil
}

// apply returns the document after all actions. An action that selects nothing
// is reported and changes nothing.
func (o *overlay) apply(raw []byte) ([]byte, []tenon.Diagnostic, error) {
	var diagnostics []tenon.Diagnostic
	for i := range o.actions {
		a := &o.actions[i]
		doc, err := rawjson.Parse(raw)
		if err != nil {
			return nil, nil, sourceError(o.name, a.at.Line(), "the changed document is not JSON: "+err.Error())
		}
		changed, what, err := a.apply(doc)
		if err != nil {
			return nil, nil, sourceError(o.name, a.at.Line(), err.Error())
		}
		if what != "" {
			diagnostics = append(diagnostics, tenon.Diagnostic{File: o.name, Line: a.at.Line(), Message: what})
			continue
		}
		raw = changed
	}
	return raw, diagnostics, nil
}

// apply returns the changed document, or the reason why nothing was changed.
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
	case a.update.OK():
		e.update = a.update
	case a.copy != nil:
		from, err := a.copy.Select(doc)
		if err != nil {
			return nil, "", err
		}
		if len(from) != 1 {
			return nil, fmt.Sprintf("copy %s selects %d places, not one", a.copy, len(from)), nil
		}
		e.update = Value{&File{Doc: doc}, from[0]}
	default:
		return nil, "the action has neither update nor remove nor copy", nil
	}
	return e.append(make([]byte, 0, len(doc.Source())+1024), doc.Root()), "", nil
}

// editor writes a document with changed nodes.
type editor struct {
	doc    *rawjson.Doc
	nodes  []rawjson.Node // in the order of the source
	remove bool
	update Value
}

// inside reports whether a changed node is in n or n itself, and whether n is
// one.
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
	if err != nil { // not possible: it was written from a document
		return append(dst, e.doc.Raw(n)...)
	}
	if inner.Kind(inner.Root()) == rawjson.Array {
		return appendEntry(dst, inner, e.update.Raw())
	}
	return appendMerged(dst, docNode{inner, inner.Root()}, docNode{e.update.File.Doc, e.update.Node})
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

// docNode is a node of any document.
type docNode struct {
	doc  *rawjson.Doc
	node rawjson.Node
}

// appendMerged writes a with b merged into it: objects member by member, arrays
// concatenated, anything else replaced (Overlay 1.1 §4.4.3).
func appendMerged(dst []byte, a, b docNode) []byte {
	kind := a.doc.Kind(a.node)
	switch {
	case kind != b.doc.Kind(b.node) || kind != rawjson.Object && kind != rawjson.Array:
		return append(dst, b.doc.Raw(b.node)...)
	case kind == rawjson.Array:
		w := joiner{dst: append(dst, '[')}
		for _, p := range []docNode{a, b} {
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
			w.dst = appendMerged(w.dst, docNode{a.doc, c}, docNode{b.doc, m})
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
