//go:build amd64 || arm64

package engine

import (
	"bytes"
	"strconv"
	"unsafe"

	lib "modernc.org/libquickjs"
	"modernc.org/quickjs"
)

// maxPending and maxNames limit the memory outside the engine while a text is
// read: elements and members not stored yet, and distinct names. Larger texts
// are left to the engine.
const (
	maxPending = 1 << 20
	maxNames   = 1 << 16
)

// keptElements and keptMembers limit the buffers that an engine reuses for its
// next text.
const (
	keptElements = 1 << 15
	keptMembers  = 1 << 10
)

// maxNested limits the nesting of a text that is read here.
const maxNested = 500

// reader builds the value of a JSON text, several times as fast as the engine's
// own parser.
type reader struct {
	*Engine
	lexer

	depth int
	atoms map[string]lib.TJSAtom

	pending
	empty   lib.TJSValue   // an empty object
	root    hiddenClass    // form of the empty object
	classes []*hiddenClass // all other forms
}

// pending holds what has been read and is not stored yet.
type pending struct {
	members  []member       // of unfinished objects
	elements []lib.TJSValue // of unfinished arrays
}

type member struct {
	name []byte
	v    lib.TJSValue
}

// Parse returns the value of a text, to be freed by the caller; false: the text
// is left to JSON.parse, which reports its errors.
func (e *Engine) Parse(text []byte) (v quickjs.Value, ok bool) {
	if e == nil {
		return v, false
	}
	r := reader{Engine: e, lexer: lexer{text: text}, atoms: map[string]lib.TJSAtom{}, pending: e.spare}
	if r.empty, ok = r.checked(lib.XJS_NewObject(e.tls, e.ctx)); !ok {
		return v, false
	}
	defer r.end()
	made, ok := r.value()
	if !ok {
		return v, false
	}
	if r.space(); r.at < len(text) {
		e.free(made)
		return v, false
	}
	return e.wrap(made), true
}

// ParseString is read for a string of the engine.
func (e *Engine) ParseString(of quickjs.Value) (v quickjs.Value, ok bool) {
	const size = int(unsafe.Sizeof(lib.Tsize_t(0)))
	buf := e.tls.Alloc(size)
	defer e.tls.Free(size)
	text := lib.XJS_ToCStringLen2(e.tls, e.ctx, buf, unwrap(of), 0)
	if text == 0 {
		e.discardException()
		return v, false
	}
	defer lib.XJS_FreeCString(e.tls, e.ctx, text)
	return e.Parse(at[byte](text, at[lib.Tsize_t](buf, 1)[0]))
}

// end frees temporary values.
func (r *reader) end() {
	for _, a := range r.atoms {
		lib.XJS_FreeAtom(r.tls, r.ctx, a)
	}
	for _, f := range r.classes {
		r.release(f.lastValue)
		r.release(f.model)
	}
	r.free(r.empty)
	r.saveBuffers()
}

// saveBuffers saves the buffers for the next text: garbage of a long list would be
// collected while other calls wait.
func (r *reader) saveBuffers() {
	r.spare = pending{}
	if cap(r.elements) <= keptElements {
		r.spare.elements = r.elements[:0]
	}
	if cap(r.members) <= keptMembers {
		clear(r.members[:cap(r.members)]) // drops references to the text
		r.spare.members = r.members[:0]
	}
}

func (r *reader) value() (lib.TJSValue, bool) {
	switch r.space() {
	case '"':
		token, ok := r.token()
		if !ok {
			return lib.TJSValue{}, false
		}
		return r.checked(r.str(token))
	case '{':
		return r.nested(lib.XJS_NewObject(r.tls, r.ctx), r.object)
	case '[':
		return r.nested(lib.XJS_NewArray(r.tls, r.ctx), r.array)
	case 't':
		return tagged(lib.EJS_TAG_BOOL, 1), r.word("true")
	case 'f':
		return tagged(lib.EJS_TAG_BOOL, 0), r.word("false")
	case 'n':
		return tagged(lib.EJS_TAG_NULL, 0), r.word("null")
	}
	token, integer, ok := r.number()
	if !ok {
		return lib.TJSValue{}, false
	}
	if integer {
		return newInt(smallInt(token)), true
	}
	f, _ := strconv.ParseFloat(string(token), 64) // a range error has the same result as in JavaScript
	return newNumber(f), true
}

// checked reports whether the engine made a value.
func (r *reader) checked(v lib.TJSValue) (lib.TJSValue, bool) {
	if tagOf(v) == lib.EJS_TAG_EXCEPTION {
		r.discardException()
		return v, false
	}
	return v, true
}

func (r *reader) nested(made lib.TJSValue, fill func(lib.TJSValue) bool) (lib.TJSValue, bool) {
	v, ok := r.checked(made)
	if !ok {
		return v, false
	}
	r.at++
	if r.depth++; r.depth > maxNested || !fill(v) {
		r.release(v)
		return v, false
	}
	r.depth--
	return v, true
}

func (r *reader) array(a lib.TJSValue) bool {
	if r.space() == ']' {
		r.at++
		return true
	}
	begin := len(r.elements)
	ok := r.list()
	elements := r.elements[begin:]
	r.elements = r.elements[:begin]
	if ok {
		ok = r.fill(a, elements)
	}
	if !ok {
		for _, v := range elements {
			r.release(v)
		}
	}
	return ok
}

// list reads the elements of an array.
func (r *reader) list() bool {
	for {
		v, ok := r.value()
		if !ok {
			return false
		}
		r.elements = append(r.elements, v)
		if len(r.elements) > maxPending {
			return false
		}
		if ends, ok := r.separator(']'); ends || !ok {
			return ok
		}
	}
}

// fill stores the elements of a, which is empty.
func (r *reader) fill(a lib.TJSValue, elements []lib.TJSValue) bool {
	size := lib.Tsize_t(len(elements)) * lib.Tsize_t(unsafe.Sizeof(lib.TJSValue{}))
	values := lib.Xjs_malloc(r.tls, r.ctx, size)
	if values == 0 {
		r.discardException()
		return false
	}
	object := objectOf(a)
	list := union(&object.Fu.Farray)
	list.Fu.Fvalues, list.Fcount = values, uint32(len(elements)) //nolint:gosec // fewer than the bytes of a frame
	list.Fu1.Fsize = list.Fcount
	copy(elementsOf(object), elements)
	slots(object, 1)[0].Fu.Fvalue = newInt(int32(len(elements))) //nolint:gosec // as above
	return true
}

// object reads the members of an object and stores them.
func (r *reader) object(o lib.TJSValue) bool {
	if r.space() == '}' {
		r.at++
		return true
	}
	begin := len(r.members)
	f, ok := r.collect()
	members := r.members[begin:]
	r.members = r.members[:begin]
	switch {
	case !ok:
		r.releaseAll(members)
		return false
	case f != nil && tagOf(f.model) == lib.EJS_TAG_OBJECT:
		return r.applyShape(o, f.model, members)
	}
	for i, m := range members {
		if !r.define(o, m) {
			r.releaseAll(members[i+1:])
			return false
		}
	}
	if f != nil {
		r.setModel(f, o, len(members))
	}
	return true
}

// collect reads members and returns their form.
func (r *reader) collect() (*hiddenClass, bool) {
	f := &r.root
	for {
		if r.space() != '"' {
			return nil, false
		}
		name, with, ok := r.name(f)
		if !ok || r.space() != ':' {
			return nil, false
		}
		f = with
		r.at++
		v, ok := r.member(f)
		if !ok {
			return nil, false
		}
		r.members = append(r.members, member{name, v})
		if len(r.members) > maxPending {
			return nil, false
		}
		if ends, ok := r.separator('}'); ends || !ok {
			return f, ok
		}
	}
}

func (r *reader) releaseAll(members []member) {
	for _, m := range members {
		r.release(m.v)
	}
}

func (r *reader) define(o lib.TJSValue, m member) bool {
	atom, ok := r.atom(m.name)
	if !ok {
		r.release(m.v)
		return false
	}
	if lib.XJS_DefinePropertyValue(r.tls, r.ctx, o, atom, m.v, lib.MJS_PROP_C_W_E) < 0 {
		r.discardException()
		return false
	}
	return true
}

func (r *reader) atom(key []byte) (lib.TJSAtom, bool) {
	if a, ok := r.atoms[string(key)]; ok {
		return a, true
	}
	if len(r.atoms) == maxNames {
		return 0, false
	}
	buf := r.copyIn(key)
	if buf == 0 {
		r.discardException()
		return 0, false
	}
	defer r.freeCopy(buf)
	a := lib.XJS_NewAtomLen(r.tls, r.ctx, buf, lib.Tsize_t(len(key)))
	if a == 0 {
		r.discardException()
		return 0, false
	}
	r.atoms[string(key)] = a
	return a, true
}

func (r *reader) str(token []byte) lib.TJSValue {
	if r.ascii && len(token) > 0 {
		return r.newASCII(token)
	}
	return r.newString(token)
}

// hiddenClass is a hidden class: the names of an object's members so far, in order.
// Forms are a tree whose root is the empty object. Most responses are lists of
// objects of a few forms, so the next name is usually known, and so is the
// engine's shape of the complete object: the first object is built by the
// engine, the others copy its shape.
type hiddenClass struct {
	name   []byte // of the last member
	quoted []byte // as written in the text
	next   []*hiddenClass

	lastText  []byte       // the last JSON text of this member's value
	lastValue lib.TJSValue // the engine's value for it
	model     lib.TJSValue // an object with exactly these members, which keeps its shape alive
}

// maxClasses limits the forms, maxNext the successors of one form.
const (
	maxClasses = 4096
	maxNext    = 8
)

// name reads the name of the next member of an object with the form f, and
// returns the form with it, or nil where it is not cached.
func (r *reader) name(f *hiddenClass) (name []byte, with *hiddenClass, ok bool) {
	if f != nil {
		for i, n := range f.next {
			if r.skipText(n.quoted) {
				f.next[0], f.next[i] = n, f.next[0] // tried first from now on
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
	if f == nil || len(r.classes) == maxClasses {
		return name, nil, true
	}
	with = &hiddenClass{name: name, quoted: r.since(begin)}
	r.classes = append(r.classes, with)
	if len(f.next) == maxNext {
		f.next[maxNext-1] = with
	} else {
		f.next = append(f.next, with)
	}
	return name, with, true
}

// member reads the value of the last member of f. A string that repeats is made
// once, because strings are immutable.
func (r *reader) member(f *hiddenClass) (lib.TJSValue, bool) {
	if r.space() != '"' || f == nil {
		return r.value()
	}
	if len(f.lastText) > 0 && r.skipText(f.lastText) {
		addRef(f.lastValue)
		return f.lastValue, true
	}
	begin := r.at
	v, ok := r.value()
	if ok {
		r.release(f.lastValue)
		addRef(v)
		f.lastText, f.lastValue = r.since(begin), v
	}
	return v, ok
}

// setModel stores an object as the model of its form.
func (r *reader) setModel(f *hiddenClass, o lib.TJSValue, members int) {
	shape := shapeOf(objectOf(o))
	if shape.Fis_hashed == 0 || int(shape.Fprop_count) != members || shape.Fdeleted_prop_count != 0 {
		return // a shape of its own, or with a duplicate name
	}
	addRef(o)
	f.model = o
}

// applyShape gives o, which is empty, the shape of a model and values. The engine
// would add one member after the other.
func (r *reader) applyShape(o, model lib.TJSValue, members []member) bool {
	object, like := objectOf(o), objectOf(model)
	size := lib.Tsize_t(shapeOf(like).Fprop_size) * lib.Tsize_t(unsafe.Sizeof(lib.TJSProperty{})) //nolint:gosec // the engine's own number
	props := lib.Xjs_realloc(r.tls, r.ctx, object.Fprop, size)
	if props == 0 {
		r.discardException()
		r.releaseAll(members)
		return false
	}
	object.Fprop = props
	places := slots(object, len(members))
	for i := range members {
		places[i].Fu.Fvalue = members[i].v
	}
	// Shapes are reference counted. r.empty shares the one that o had.
	empty := object.Fshape
	object.Fshape = like.Fshape
	headerOf(object.Fshape).Fref_count++
	headerOf(empty).Fref_count--
	return true
}
