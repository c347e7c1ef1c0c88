package review

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
)

// Filtered is a reduced document.
type Filtered struct {
	JSON            []byte // the document as JSON; it refers to the same other files
	Operations      int    // operations that are kept
	TotalOperations int    // operations of the original
	Components      int    // components that are kept
	TotalComponents int    // components of the original
	Diagnostics     []tenon.Diagnostic
}

// Operation is an operation of a document that a filter keeps or drops.
type Operation struct {
	Method, Path string
	Item, Node   document.Value // path item and operation object
}

// Filter reduces a document to the operations for which keep returns true and to
// what they refer to. With all, nothing was selected, and webhooks, which cannot
// be selected, are kept.
func Filter(doc *document.Document, all bool, keep func(Operation) bool) *Filtered {
	f := newFilter(doc, !all, keep)
	out := &Filtered{JSON: f.appendRoot(nil), Operations: f.left, TotalOperations: len(f.operations)}
	for _, e := range f.entries {
		out.TotalComponents++
		if e.kept {
			out.Components++
		}
	}
	return out
}

// filter determines which parts of a document are kept.
type filter struct {
	doc        *document.Document
	operations map[document.Value]bool // all of them; true: it is kept
	chosen     bool                    // only some operations are selected: webhooks, which cannot be selected, are dropped
	names      map[string]bool
	left       int
	entries    []*entry // components, by their offset in the file
	schemes    map[string]bool
	tags       map[string]bool
	seen       map[document.Value]bool // values that were searched for references
	dynamic    bool                    // something refers to dynamic anchors
}

// entry is a component.
type entry struct {
	document.Value
	from, to int // its range in the main file
	kept     bool
}

func newFilter(doc *document.Document, chosen bool, keep func(Operation) bool) *filter {
	f := &filter{doc: doc, chosen: chosen, operations: map[document.Value]bool{}, names: map[string]bool{}, schemes: map[string]bool{}, tags: map[string]bool{}, seen: map[document.Value]bool{}}
	for path, v := range doc.Root.Get("paths").Each() {
		item, err := doc.Deref(v)
		if err != nil || strings.HasPrefix(path, "x-") {
			continue
		}
		for m, node := range document.Operations(item) {
			if f.operations[node] = keep(Operation{Method: m, Path: path, Item: item, Node: node}); f.operations[node] {
				f.left++
				f.names[node.StrAt("operationId")] = true
			}
		}
	}
	for _, g := range componentsOf(doc) {
		for _, v := range g.all.Each() {
			from := v.File.Doc.Offset(v.Node)
			f.entries = append(f.entries, &entry{Value: v, from: from, to: from + len(v.Raw())})
		}
	}
	slices.SortFunc(f.entries, func(a, b *entry) int { return a.from - b.from })
	f.mark()
	return f
}

// mark finds everything that the kept parts refer to.
func (f *filter) mark() {
	for key, v := range f.doc.Root.Each() {
		switch key {
		case "components", "definitions", "parameters", "responses", "securityDefinitions", "tags":
		case "webhooks", "x-webhooks":
			if !f.chosen {
				f.search(v)
			}
		case "security":
			f.secured(v)
		case "paths":
			for path, item := range v.Each() {
				f.markPath(path, item)
			}
		default:
			f.search(v)
		}
	}
	for key, v := range f.doc.Root.Get("components").Each() {
		if strings.HasPrefix(key, "x-") {
			f.search(v)
		}
	}
	f.parentTags()
	for _, e := range f.entries {
		if f.dynamic && bytes.Contains(e.Raw(), []byte("dynamicAnchor")) {
			f.keep(e)
		}
	}
}

// markPath marks what a path item needs. If it is a reference and only some of
// its operations are kept, the target is written in its place.
func (f *filter) markPath(path string, v document.Value) {
	left, gone := f.count(v)
	if left > 0 && gone > 0 {
		v, _ = f.doc.Deref(v) // it was counted
	}
	if left > 0 || strings.HasPrefix(path, "x-") {
		f.search(v)
	}
}

// parentTags keeps the parents of kept tags (3.2).
func (f *filter) parentTags() {
	for more := true; more; {
		more = false
		for _, t := range f.doc.Root.Get("tags").Each() {
			if parent := t.StrAt("parent"); parent != "" && f.tags[t.StrAt("name")] && !f.tags[parent] {
				f.tags[parent], more = true, true
			}
		}
	}
}

// count counts the kept and the dropped operations of a path item.
func (f *filter) count(v document.Value) (left, gone int) {
	item, err := f.doc.Deref(v)
	if err != nil {
		return 1, 0 // a broken reference is kept as it is
	}
	for _, node := range document.Operations(item) {
		if f.operations[node] {
			left++
		} else {
			gone++
		}
	}
	return left, gone
}

func (f *filter) keep(e *entry) {
	if !e.kept {
		e.kept = true
		f.search(e.Value)
	}
}

func (f *filter) secured(list document.Value) {
	for _, one := range list.Each() {
		for name := range one.Each() {
			f.schemes[name] = true
		}
	}
}

// search follows the references in v.
func (f *filter) search(v document.Value) {
	if kept, isOperation := f.operations[v]; isOperation {
		if !kept {
			return
		}
		f.secured(v.Get("security"))
		for _, t := range v.Get("tags").Each() {
			f.tags[t.Str()] = true
		}
	}
	if k := v.Kind(); k != rawjson.Object && k != rawjson.Array || f.seen[v] {
		return
	}
	f.seen[v] = true
	for key, member := range v.Each() {
		switch {
		case (key == "$ref" || key == "$dynamicRef" || key == "$recursiveRef") && member.Kind() == rawjson.String:
			f.dynamic = f.dynamic || key != "$ref"
			f.follow(member)
		case key == "mapping":
			for _, to := range member.Each() {
				f.follow(to)
			}
		}
		f.search(member)
	}
}

// follow keeps the target of a reference, or a schema of that name.
func (f *filter) follow(ref document.Value) {
	target, err := f.doc.Target(ref)
	if err != nil {
		if target = f.doc.Root.Get("components").Get("schemas").Get(ref.Str()); !target.OK() {
			return
		}
	}
	if e := f.entryOf(target); e != nil {
		f.keep(e)
		return
	}
	f.search(target)
}

// entryOf returns the component that contains a value of the main file, or nil.
func (f *filter) entryOf(v document.Value) *entry {
	if v.File != f.doc.Root.File {
		return nil
	}
	at := v.File.Doc.Offset(v.Node)
	i, found := slices.BinarySearchFunc(f.entries, at, func(e *entry, at int) int { return e.from - at })
	if !found {
		i--
	}
	if i < 0 || at >= f.entries[i].to {
		return nil
	}
	return f.entries[i]
}
