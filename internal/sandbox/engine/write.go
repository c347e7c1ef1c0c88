//go:build amd64 || arm64

package engine

import (
	"bytes"
	"math"
	"strconv"
	"time"
	"unsafe"

	lib "modernc.org/libquickjs"
	"modernc.org/quickjs"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// writer writes JSON like the engine's JSON.stringify, several times as fast.
// It accepts only plain objects and lists without accessors or functions:
// reading them runs no code, so nothing changes meanwhile.
type writer struct {
	*Engine

	out     []byte
	depth   int
	seen    int                // values so far
	until   time.Time          // deadline of the call
	layouts map[uintptr]layout // by shape
	scratch uintptr            // out parameters of the engine
}

// layout describes the objects of one shape.
type layout struct {
	names [][]byte // as JSON, with the colon
	atoms []lib.TJSAtom
	slots bool // the values are in the order of the names
}

// AppendJSON appends the JSON of v to dst; false: v is left to JSON.stringify, which
// handles all values and errors.
func (e *Engine) AppendJSON(dst []byte, v quickjs.Value, until time.Time) ([]byte, bool) {
	if e == nil {
		return dst, false
	}
	const buf = int(max(2*unsafe.Sizeof(uintptr(0)), unsafe.Sizeof(lib.TJSPropertyDescriptor{})))
	w := writer{Engine: e, out: dst, until: until, layouts: map[uintptr]layout{}, scratch: e.tls.Alloc(buf)}
	defer e.tls.Free(buf)
	ok := w.value(unwrap(v))
	return w.out, ok
}

// maxLayouts limits the cached layouts.
const maxLayouts = 1024

// checkEvery is the number of values between two checks of the limits.
const checkEvery = 4096

func (w *writer) value(v lib.TJSValue) bool {
	if w.seen++; w.seen%checkEvery == 0 && (len(w.out) > MaxResult || time.Now().After(w.until)) {
		return false
	}
	switch tagOf(v) {
	case lib.EJS_TAG_INT:
		w.out = strconv.AppendInt(w.out, intOf(v), 10)
	case lib.EJS_TAG_FLOAT64:
		w.number(math.Float64frombits(v.Fu.Fuint641))
	case lib.EJS_TAG_BOOL:
		w.out = strconv.AppendBool(w.out, v.Fu.Fuint641 != 0)
	case lib.EJS_TAG_NULL, lib.EJS_TAG_UNDEFINED: // undefined members are skipped by object
		w.out = append(w.out, "null"...)
	case lib.EJS_TAG_STRING, lib.EJS_TAG_STRING_ROPE:
		if tagOf(v) == lib.EJS_TAG_STRING && w.plain(v) {
			return true
		}
		return w.text(lib.XJS_ToCStringLen2(w.tls, w.ctx, w.scratch, v, 0))
	case lib.EJS_TAG_OBJECT:
		w.depth++
		ok := w.depth <= maxNested && w.nested(v)
		w.depth--
		return ok
	default:
		return false
	}
	return true
}

// plain writes an ASCII string without escapes.
func (w *writer) plain(v lib.TJSValue) bool {
	text, ok := latin1(v)
	if !ok || plain(text) < len(text) || len(w.out)+len(text) > MaxResult {
		return false
	}
	w.out = append(append(append(w.out, '"'), text...), '"')
	return true
}

// latin1 returns the bytes of a string with one byte per character.
func latin1(v lib.TJSValue) ([]byte, bool) {
	const wide = 1 << 31
	address := uintptr(v.Fu.Fuint641)
	length := at[lib.TJSString](address, 1)[0].F__ccgo0
	if length&wide != 0 {
		return nil, false
	}
	return at[byte](address+unsafe.Sizeof(lib.TJSString{}), length), true
}

// number formats like ECMAScript's Number::toString.
func (w *writer) number(f float64) {
	switch size := math.Abs(f); {
	case math.IsNaN(f) || math.IsInf(f, 0):
		w.out = append(w.out, "null"...)
	case size == 0:
		w.out = append(w.out, '0')
	case size >= 1e-6 && size < 1e21:
		w.out = strconv.AppendFloat(w.out, f, 'f', -1, 64)
	default:
		w.out = strconv.AppendFloat(w.out, f, 'e', -1, 64)
		if n := len(w.out); w.out[n-4] == 'e' && w.out[n-2] == '0' { // e-7, not e-07
			w.out = append(w.out[:n-2], w.out[n-1])
		}
	}
}

// text writes a C string of the engine and frees it.
func (w *writer) text(text uintptr) bool {
	if text == 0 {
		w.discardException()
		return false
	}
	defer lib.XJS_FreeCString(w.tls, w.ctx, text)
	b := at[byte](text, at[lib.Tsize_t](w.scratch, 1)[0])
	if surrogate(b) || len(w.out)+len(b) > MaxResult {
		return false
	}
	w.out = rawjson.AppendString(w.out, b)
	return true
}

// surrogate reports whether a text of the engine has an unpaired surrogate,
// which JSON must escape.
func surrogate(b []byte) bool {
	for {
		i := bytes.IndexByte(b, 0xED)
		if i < 0 || i+1 == len(b) {
			return false
		}
		if b = b[i+1:]; b[0] >= 0xA0 {
			return true
		}
	}
}

func (w *writer) nested(v lib.TJSValue) bool {
	o := objectOf(v)
	shape := shapeOf(o)
	switch o.Fclass_id {
	case lib.EJS_CLASS_ARRAY:
		return shape.Fproto == w.arrayProto && shape.Fprop_count == 1 && w.array(o)
	case lib.EJS_CLASS_OBJECT:
		return (shape.Fproto == w.objectProto || shape.Fproto == 0) && w.object(v)
	}
	return false
}

// array writes a dense list, which every list without holes is unless it was
// frozen.
func (w *writer) array(o *lib.TJSObject) bool {
	length := slots(o, 1)[0].Fu.Fvalue
	elements := elementsOf(o)
	if tagOf(length) != lib.EJS_TAG_INT || uint64(len(elements)) != length.Fu.Fuint641 {
		return false
	}
	w.out = append(w.out, '[')
	for i, v := range elements {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		if !w.value(v) {
			return false
		}
	}
	w.out = append(w.out, ']')
	return true
}

func (w *writer) object(v lib.TJSValue) bool {
	l, ok := w.layouts[objectOf(v).Fshape]
	if !ok {
		if l, ok = w.layout(v); !ok {
			return false
		}
	}
	values := slots(objectOf(v), len(l.names))
	w.out = append(w.out, '{')
	begin := len(w.out)
	for i, name := range l.names {
		var value lib.TJSValue
		if l.slots {
			value = values[i].Fu.Fvalue
		} else {
			value = lib.XJS_GetPropertyInternal(w.tls, w.ctx, v, l.atoms[i], v, 0)
			w.free(value) // o holds a reference
		}
		if tagOf(value) == lib.EJS_TAG_UNDEFINED {
			continue
		}
		if len(w.out) > begin {
			w.out = append(w.out, ',')
		}
		w.out = append(w.out, name...)
		if !w.value(value) {
			return false
		}
	}
	w.out = append(w.out, '}')
	return true
}

// layout computes and caches the layout of an object. Objects with accessors
// are rejected, because a getter would run code.
func (w *writer) layout(o lib.TJSValue) (l layout, ok bool) {
	list, length := w.scratch, w.scratch+unsafe.Sizeof(uintptr(0))
	if lib.XJS_GetOwnPropertyNames(w.tls, w.ctx, list, length, o, lib.MJS_GPN_STRING_MASK|lib.MJS_GPN_ENUM_ONLY) < 0 {
		w.discardException()
		return l, false
	}
	names, count := at[uintptr](list, 1)[0], at[uint32](length, 1)[0]
	defer lib.XJS_FreePropertyEnum(w.tls, w.ctx, names, count)
	l.slots = int64(shapeOf(objectOf(o)).Fprop_count) == int64(count)
	if !l.slots && lib.XJS_HasProperty(w.tls, w.ctx, o, w.toJSON) != 0 { // it may be inherited or not enumerable
		return l, false
	}
	for _, p := range at[lib.TJSPropertyEnum](names, count) {
		if p.Fatom == w.toJSON || !w.holdsValue(o, p.Fatom) {
			return l, false
		}
		begin := len(w.out)
		if !w.text(lib.XJS_AtomToCStringLen(w.tls, w.ctx, w.scratch, p.Fatom)) {
			return l, false
		}
		name := append(bytes.Clone(w.out[begin:]), ':')
		w.out = w.out[:begin]
		l.slots = l.slots && (name[1] < '0' || name[1] > '9') // integer keys come first
		l.names, l.atoms = append(l.names, name), append(l.atoms, p.Fatom)
	}
	if len(w.layouts) < maxLayouts {
		w.layouts[objectOf(o).Fshape] = l
	}
	return l, true
}

// holdsValue reports whether a member is a value and not an accessor.
func (w *writer) holdsValue(o lib.TJSValue, name lib.TJSAtom) bool {
	if lib.XJS_GetOwnProperty(w.tls, w.ctx, w.scratch, o, name) != 1 {
		return false
	}
	d := at[lib.TJSPropertyDescriptor](w.scratch, 1)[0]
	if d.Fflags&lib.MJS_PROP_GETSET != 0 {
		w.free(d.Fgetter)
		w.free(d.Fsetter)
		return false
	}
	w.free(d.Fvalue)
	return true
}
