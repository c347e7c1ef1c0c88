package functionapp

import (
	"fmt"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// reader reads the members of an object and collects problems: the first error
// and every diagnostic. Readers of nested objects share them.
type reader struct {
	o    Object
	doc  *rawjson.Doc // source of o; nil: down is not used
	at   rawjson.Node
	path string // prefix of keys in errors
	*findings
}

type findings struct {
	notes []Diagnostic
	err   error
}

func newReader(o Object) *reader { return &reader{o: o, findings: &findings{}} }

func newDocReader(doc *rawjson.Doc) *reader {
	return &reader{o: objectAt(doc, doc.Root()), doc: doc, at: doc.Root(), findings: &findings{}}
}

// down reads the object under key. A missing one has no members.
func (r *reader) down(key string) *reader {
	inner := &reader{doc: r.doc, at: childAt(r.doc, r.at, key), path: r.path + key + ".", findings: r.findings}
	switch r.doc.Kind(inner.at) {
	case rawjson.Object:
		inner.o = objectAt(r.doc, inner.at)
	case rawjson.Null, rawjson.Invalid:
	default:
		r.fail(r.o.bad(key, "must be an object"))
	}
	return inner
}

func (r *reader) fail(err error) {
	if r.err != nil || err == nil {
		return
	}
	if e, ok := err.(*Error); ok && r.path != "" { //nolint:errorlint // the error of this object, not one that it wraps
		err = &Error{Key: r.path + e.Key, Offset: e.Offset, What: e.What, Err: e.Err}
	}
	r.err = err
}

func (r *reader) note(key, what string) {
	r.notes = append(r.notes, Diagnostic{Key: r.path + key, What: what})
}

// check adds the position of key to an error of read.
func (r *reader) check(key string, read func() error) {
	if err := read(); err != nil {
		r.fail(r.o.wrap(key, err))
	}
}

func (r *reader) need(key string) string {
	s, err := r.o.need(key)
	r.fail(err)
	return s
}

func (r *reader) text(key string) string {
	s, err := r.o.Text(key)
	r.fail(err)
	return s
}

func (r *reader) flag(key string) bool {
	b, err := r.o.flag(key)
	r.fail(err)
	return b
}

// nested returns JSON in a string; JSON that is not in one is reported.
func (r *reader) nested(key string) string {
	text, wrapped, err := r.o.nested(key)
	r.fail(err)
	if !wrapped {
		r.note(key, "is JSON itself; Azure's host wants a string that contains it")
	}
	return text
}

// meta parses an object, or returns nil.
func (r *reader) meta(key string) []byte {
	text := r.nested(key)
	if strings.TrimSpace(text) == "" {
		return nil
	}
	doc, err := parse([]byte(text), "the value")
	switch {
	case err != nil:
		r.fail(r.o.wrap(key, err))
		return nil
	case depth(text) > maxMetaDepth:
		r.fail(r.o.bad(key, fmt.Sprintf("must not nest deeper than %d", maxMetaDepth)))
		return nil
	}
	return doc.AppendCompact(nil, doc.Root())
}
