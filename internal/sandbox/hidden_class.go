//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"unsafe"

	lib "modernc.org/libquickjs"
)

// form is what an object has so far: the names of its members, in their order.
// Forms are a tree, and every object of a text begins at its root. Most answers
// are lists of objects of a few forms, so the name that comes next is mostly
// known, and so is the shape of the whole: the first object is made as the
// engine would, the others get what it has.
type form struct {
	name   []byte // of the last member
	quoted []byte // the same as it stands in the text
	next   []*form

	said  []byte       // the last text that was this member's value, as it stands there
	value lib.TJSValue // what the engine has for it
	model lib.TJSValue // an object with these members alone, which keeps its shape
}

// maxForms bounds the forms that are remembered, maxNext those that follow one.
const (
	maxForms = 4096
	maxNext  = 8
)

// name reads the name of a member of an object that has the form f until then,
// and returns the form that it has with it; nil: it is not remembered.
func (r *reader) name(f *form) (name []byte, with *form, ok bool) {
	if f != nil {
		for i, n := range f.next {
			if r.skipText(n.quoted) {
				f.next[0], f.next[i] = n, f.next[0] // it is looked for first from now on
				return n.name, n, true
			}
		}
	}
	begin := r.at
	if name, ok = r.token(); !ok {
		return nil, nil, false
	}
	if r.changed {
		name = bytes.Clone(name)
	}
	if f == nil || len(r.forms) == maxForms {
		return name, nil, true
	}
	with = &form{name: name, quoted: r.since(begin)}
	r.forms = append(r.forms, with)
	if len(f.next) == maxNext {
		f.next[maxNext-1] = with
	} else {
		f.next = append(f.next, with)
	}
	return name, with, true
}

// member reads the value of the last member of f. One text that many objects
// have there is made once: it cannot be changed.
func (r *reader) member(f *form) (lib.TJSValue, bool) {
	if r.space() != '"' || f == nil {
		return r.value()
	}
	if len(f.said) > 0 && r.skipText(f.said) {
		hold(f.value)
		return f.value, true
	}
	begin := r.at
	v, ok := r.value()
	if ok {
		r.release(f.value)
		hold(v)
		f.said, f.value = r.since(begin), v
	}
	return v, ok
}

// learn takes an object as the model of its form.
func (r *reader) learn(f *form, o lib.TJSValue, members int) {
	shape := shapeOf(objectOf(o))
	if shape.Fis_hashed == 0 || int(shape.Fprop_count) != members || shape.Fdeleted_prop_count != 0 {
		return // its shape is its own, or has other members: a name stood twice
	}
	hold(o)
	f.model = o
}

// mould gives o, which has no members yet, the shape of a model and values. It
// is what the engine does for one member after the other.
func (r *reader) mould(o, model lib.TJSValue, members []member) bool {
	object, like := objectOf(o), objectOf(model)
	size := lib.Tsize_t(shapeOf(like).Fprop_size) * lib.Tsize_t(unsafe.Sizeof(lib.TJSProperty{})) //nolint:gosec // the engine's own number
	props := lib.Xjs_realloc(r.tls, r.ctx, object.Fprop, size)
	if props == 0 {
		r.drop()
		r.releaseAll(members)
		return false
	}
	object.Fprop = props
	places := slots(object, len(members))
	for i := range members {
		places[i].Fu.Fvalue = members[i].v
	}
	// A shape is counted as a value is. r.empty has the one that o had.
	empty := object.Fshape
	object.Fshape = like.Fshape
	countOf(object.Fshape).Fref_count++
	countOf(empty).Fref_count--
	return true
}
