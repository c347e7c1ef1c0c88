//go:build amd64 || arm64

package sandbox

import (
	"strconv"
	"unsafe"

	lib "modernc.org/libquickjs"
	"modernc.org/quickjs"
)

// maxPending and maxNames bound what is held outside of the engine's memory
// while a text is read: elements and members that have no place yet, and
// different names. What has more is left to the engine.
const (
	maxPending = 1 << 20
	maxNames   = 1 << 16
)

// keptElements and keptMembers bound the room for them that an engine keeps for
// its next text.
const (
	keptElements = 1 << 15
	keptMembers  = 1 << 10
)

// maxNested bounds how deep a text nests that is read here.
const maxNested = 500

// reader makes the value that a JSON text is, several times as fast as the
// engine's own parser.
type reader struct {
	*engine
	lexer

	depth int
	atoms map[string]lib.TJSAtom

	pending
	empty lib.TJSValue // an object without members
	root  form         // of an object that was only begun
	forms []*form      // all others
}

// pending is what has been read and has no place yet.
type pending struct {
	members  []member       // of the objects that are being read
	elements []lib.TJSValue // of the arrays that are being read
}

type member struct {
	name []byte
	v    lib.TJSValue
}

// read makes a value of a text, which the caller frees; false: the text is left
// to the engine's own JSON.parse, which knows what is wrong with it.
func (e *engine) read(text []byte) (v quickjs.Value, ok bool) {
	if e == nil {
		return v, false
	}
	r := reader{engine: e, lexer: lexer{text: text}, atoms: map[string]lib.TJSAtom{}, pending: e.spare}
	if r.empty, ok = r.made(lib.XJS_NewObject(e.tls, e.ctx)); !ok {
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

// readText is read for a text that the engine has.
func (e *engine) readText(of quickjs.Value) (v quickjs.Value, ok bool) {
	const size = int(unsafe.Sizeof(lib.Tsize_t(0)))
	room := e.tls.Alloc(size)
	defer e.tls.Free(size)
	text := lib.XJS_ToCStringLen2(e.tls, e.ctx, room, unwrap(of), 0)
	if text == 0 {
		e.drop()
		return v, false
	}
	defer lib.XJS_FreeCString(e.tls, e.ctx, text)
	return e.read(at[byte](text, at[lib.Tsize_t](room, 1)[0]))
}

// end frees what was needed for reading alone.
func (r *reader) end() {
	for _, a := range r.atoms {
		lib.XJS_FreeAtom(r.tls, r.ctx, a)
	}
	for _, f := range r.forms {
		r.release(f.value)
		r.release(f.model)
	}
	r.free(r.empty)
	r.keep()
}

// keep leaves the room of what was pending to the next text: a long list would
// make a heap of garbage otherwise, which is collected while others wait.
func (r *reader) keep() {
	r.spare = pending{}
	if cap(r.elements) <= keptElements {
		r.spare.elements = r.elements[:0]
	}
	if cap(r.members) <= keptMembers {
		clear(r.members[:cap(r.members)]) // their names are parts of the text
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
		return r.made(r.str(token))
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
	f, _ := strconv.ParseFloat(string(token), 64) // its one possible error, the range, gives what JavaScript has
	return newNumber(f), true
}

// made tells whether the engine made a value.
func (r *reader) made(v lib.TJSValue) (lib.TJSValue, bool) {
	if tagOf(v) == lib.EJS_TAG_EXCEPTION {
		r.drop()
		return v, false
	}
	return v, true
}

func (r *reader) nested(made lib.TJSValue, fill func(lib.TJSValue) bool) (lib.TJSValue, bool) {
	v, ok := r.made(made)
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

// fill gives a, which is empty, its elements.
func (r *reader) fill(a lib.TJSValue, elements []lib.TJSValue) bool {
	size := lib.Tsize_t(len(elements)) * lib.Tsize_t(unsafe.Sizeof(lib.TJSValue{}))
	values := lib.Xjs_malloc(r.tls, r.ctx, size)
	if values == 0 {
		r.drop()
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

// object reads the members of an object and gives them to it.
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
		return r.mould(o, f.model, members)
	}
	for i, m := range members {
		if !r.define(o, m) {
			r.releaseAll(members[i+1:])
			return false
		}
	}
	if f != nil {
		r.learn(f, o, len(members))
	}
	return true
}

// collect reads members and returns the form of an object that has them.
func (r *reader) collect() (*form, bool) {
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
		r.drop()
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
	room := r.lend(key)
	if room == 0 {
		r.drop()
		return 0, false
	}
	defer r.take(room)
	a := lib.XJS_NewAtomLen(r.tls, r.ctx, room, lib.Tsize_t(len(key)))
	if a == 0 {
		r.drop()
		return 0, false
	}
	r.atoms[string(key)] = a
	return a, true
}

func (r *reader) str(token []byte) lib.TJSValue {
	if r.ascii && len(token) > 0 {
		return r.characters(token)
	}
	return r.engine.text(token)
}
