package openapi

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Filtered is a document that was reduced.
type Filtered struct {
	JSON            []byte // the document, as JSON; it refers to the same other files
	Operations      int    // that are left
	TotalOperations int    // that there were
	Components      int    // that are left
	TotalComponents int    // that there were
	Faults          []tenon.Diagnostic
}

// Filter reduces the document of s, with its overlays, to the operations of
// Options.Choose and to what they refer to: components, security schemes and
// tags that nothing needs any more are gone, so are links to operations that
// are and, where Options.Choose.Only says what is wanted, webhooks. Everything else stays as it was written, in its order.
func (s *Source) Filter(ctx context.Context) (*Filtered, error) {
	o, err := s.options.defaults()
	if err != nil {
		return nil, err
	}
	choice, err := o.Choose.read()
	if err != nil {
		return nil, err
	}
	overlays, err := o.overlays(ctx, nil)
	if err != nil {
		return nil, err
	}
	doc, told, err := s.open(ctx, o, overlays)
	if err != nil {
		return nil, err
	}
	f := newFilter(doc, o, choice)
	out := &Filtered{JSON: f.appendRoot(nil), Operations: f.left, TotalOperations: len(f.operations), Faults: append(f.told, told...)}
	for _, e := range f.entries {
		out.TotalComponents++
		if e.kept {
			out.Components++
		}
	}
	for _, rule := range choice.unused() {
		out.Faults = append(out.Faults, doc.fault(doc.root.get("paths"), fmt.Sprintf("the rule %q matches no operation", rule.Text), rule.Meant))
	}
	return out, nil
}

// filter knows what of a document stays.
type filter struct {
	doc        *document
	operations map[value]bool // all of them; true: it stays
	chosen     bool           // only some operations are wanted: then webhooks, which cannot be chosen, are not
	names      map[string]bool
	left       int
	entries    []*entry // components, by their place in the file
	schemes    map[string]bool
	tags       map[string]bool
	seen       map[value]bool     // what was searched for references
	dynamic    bool               // something refers to dynamic anchors
	told       []tenon.Diagnostic // about marks of the document that do nothing
}

// entry is a component.
type entry struct {
	value
	from, to int // its place in the main file
	kept     bool
}

func newFilter(doc *document, o Options, choice *chooser) *filter {
	f := &filter{doc: doc, chosen: len(choice.only) > 0, operations: map[value]bool{}, names: map[string]bool{}, schemes: map[string]bool{}, tags: map[string]bool{}, seen: map[value]bool{}}
	a := &api{doc: doc, options: o, choice: choice}
	for path, v := range doc.root.get("paths").each() {
		item, err := doc.deref(v)
		if err != nil || strings.HasPrefix(path, "x-") {
			continue
		}
		for m, node := range operationsOf(item) {
			op := &operation{api: a, method: m, path: path, item: item, node: node}
			op.changes = a.changesOf(op)
			op.settleSafe()
			if f.operations[node] = choice.takes(op); f.operations[node] {
				f.left++
				f.names[node.strAt("operationId")] = true
			}
		}
	}
	if choice.readOnly {
		f.told = a.unbelievedMarks()
	}
	for _, g := range doc.components() {
		for _, v := range g.all.each() {
			from := v.file.doc.Offset(v.node)
			f.entries = append(f.entries, &entry{value: v, from: from, to: from + len(v.raw())})
		}
	}
	slices.SortFunc(f.entries, func(a, b *entry) int { return a.from - b.from })
	f.mark()
	return f
}

// operationsOf goes over the operations of a path item by their methods.
func operationsOf(item value) func(func(string, value) bool) {
	return func(yield func(string, value) bool) {
		for key, node := range item.each() {
			if m := method(key); m != "" && !yield(m, node) {
				return
			}
		}
		for m, node := range item.get("additionalOperations").each() {
			if !yield(m, node) {
				return
			}
		}
	}
}

// mark finds everything that what stays refers to.
func (f *filter) mark() {
	for key, v := range f.doc.root.each() {
		switch key {
		case "components", "definitions", "parameters", "responses", "securityDefinitions", "tags":
		case "webhooks", "x-webhooks":
			if !f.chosen {
				f.search(v)
			}
		case "security":
			f.secured(v)
		case "paths":
			for path, item := range v.each() {
				f.markPath(path, item)
			}
		default:
			f.search(v)
		}
	}
	for key, v := range f.doc.root.get("components").each() {
		if strings.HasPrefix(key, "x-") {
			f.search(v)
		}
	}
	f.parentTags()
	for _, e := range f.entries {
		if f.dynamic && bytes.Contains(e.raw(), []byte("dynamicAnchor")) {
			f.keep(e)
		}
	}
}

// markPath marks what a path item needs. Where it is a reference and only some
// of what that means stays, that is written in its place.
func (f *filter) markPath(path string, v value) {
	left, gone := f.count(v)
	if left > 0 && gone > 0 {
		v, _ = f.doc.deref(v) // it was counted
	}
	if left > 0 || strings.HasPrefix(path, "x-") {
		f.search(v)
	}
}

// parentTags keeps the tags above those that stay (3.2).
func (f *filter) parentTags() {
	for more := true; more; {
		more = false
		for _, t := range f.doc.root.get("tags").each() {
			if parent := t.strAt("parent"); parent != "" && f.tags[t.strAt("name")] && !f.tags[parent] {
				f.tags[parent], more = true, true
			}
		}
	}
}

// count counts the operations of a path item that stay and that go.
func (f *filter) count(v value) (left, gone int) {
	item, err := f.doc.deref(v)
	if err != nil {
		return 1, 0 // it stays as it is
	}
	for _, node := range operationsOf(item) {
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
		f.search(e.value)
	}
}

func (f *filter) secured(list value) {
	for _, one := range list.each() {
		for name := range one.each() {
			f.schemes[name] = true
		}
	}
}

// search follows the references in v.
func (f *filter) search(v value) {
	if kept, isOperation := f.operations[v]; isOperation {
		if !kept {
			return
		}
		f.secured(v.get("security"))
		for _, t := range v.get("tags").each() {
			f.tags[t.str()] = true
		}
	}
	if k := v.kind(); k != rawjson.Object && k != rawjson.Array || f.seen[v] {
		return
	}
	f.seen[v] = true
	for key, member := range v.each() {
		switch {
		case (key == "$ref" || key == "$dynamicRef" || key == "$recursiveRef") && member.kind() == rawjson.String:
			f.dynamic = f.dynamic || key != "$ref"
			f.follow(member)
		case key == "mapping":
			for _, to := range member.each() {
				f.follow(to)
			}
		}
		f.search(member)
	}
}

// follow keeps what a reference leads to, or a schema of that name.
func (f *filter) follow(ref value) {
	target, err := f.doc.targetOf(ref)
	if err != nil {
		if target = f.doc.root.get("components").get("schemas").get(ref.str()); !target.ok() {
			return
		}
	}
	if e := f.entryOf(target); e != nil {
		f.keep(e)
		return
	}
	f.search(target)
}

// entryOf is the component in which a place of the main file is; nil: none.
func (f *filter) entryOf(v value) *entry {
	if v.file != f.doc.root.file {
		return nil
	}
	at := v.file.doc.Offset(v.node)
	i, found := slices.BinarySearchFunc(f.entries, at, func(e *entry, at int) int { return e.from - at })
	if !found {
		i--
	}
	if i < 0 || at >= f.entries[i].to {
		return nil
	}
	return f.entries[i]
}
