package gotype

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// writer appends the JSON of values.
type writer struct {
	buf   []byte
	depth int // open lists and objects
	hops  int // pointers followed
}

// pathError is an error whose path is built from the end while it is
// returned.
type pathError struct {
	tokens []string
	err    error
}

func (e *pathError) Error() string { return e.err.Error() }

// at adds a member or an index to the path of err.
func at(err error, token string) error {
	deep, ok := err.(*pathError) //nolint:errorlint // made here, never wrapped
	if !ok {
		deep = &pathError{err: err}
	}
	if len(deep.tokens) <= maxPath { // a value that contains itself has an endless path
		deep.tokens = append(deep.tokens, token)
	}
	return deep
}

const maxPath = 32

func valueError(err error) error {
	var path []byte
	if deep, ok := err.(*pathError); ok { //nolint:errorlint // made here, never wrapped
		for _, token := range slices.Backward(deep.tokens) {
			path = rawjson.AppendToken(path, token)
		}
		err = deep.err
	}
	v := &ValueError{Message: err.Error()}
	if known, ok := errors.AsType[*ValueError](err); ok {
		v.Message = known.Message
	}
	v.Path = string(path)
	return v
}

// enter counts the open containers.
func (w *writer) enter() error {
	if w.depth++; w.depth > rawjson.MaxDepth {
		return errTooDeep()
	}
	return nil
}

func errTooDeep() error {
	return &ValueError{Message: "nested more than " + strconv.Itoa(rawjson.MaxDepth) + " deep; does the value contain itself?"}
}

// addressable returns v, or a copy that has an address.
func addressable(v reflect.Value) reflect.Value {
	if v.CanAddr() {
		return v
	}
	boxed := reflect.New(v.Type()).Elem()
	boxed.Set(v)
	return boxed
}

// methods returns v as an interface value with the methods of T, declared on
// the value or on a pointer to it.
func methods[T any](v reflect.Value) (T, bool) {
	if m, ok := reflect.TypeAssert[T](v); ok {
		return m, true
	}
	return reflect.TypeAssert[T](addressable(v).Addr())
}

func writeNull(_ *plan, w *writer, _ reflect.Value) error {
	w.buf = append(w.buf, "null"...)
	return nil
}

func writeBool(_ *plan, w *writer, v reflect.Value) error {
	w.buf = strconv.AppendBool(w.buf, v.Bool())
	return nil
}

func writeInt(_ *plan, w *writer, v reflect.Value) error {
	w.buf = strconv.AppendInt(w.buf, v.Int(), 10)
	return nil
}

func writeUint(_ *plan, w *writer, v reflect.Value) error {
	w.buf = strconv.AppendUint(w.buf, v.Uint(), 10)
	return nil
}

func writeFloat(p *plan, w *writer, v reflect.Value) error {
	f, bits := v.Float(), p.typ.Bits()
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return &ValueError{Message: strconv.FormatFloat(f, 'g', -1, 64) + " is not a number that JSON has"}
	}
	size, format := math.Abs(f), byte('f')
	if size != 0 && (bits == 64 && (size < 1e-6 || size >= 1e21) || bits == 32 && (float32(size) < 1e-6 || float32(size) >= 1e21)) {
		format = 'e'
	}
	w.buf = strconv.AppendFloat(w.buf, f, format, -1, bits)
	if n := len(w.buf); format == 'e' && n >= 4 && w.buf[n-4] == 'e' && w.buf[n-2] == '0' { // e-09 is e-9
		w.buf[n-2] = w.buf[n-1]
		w.buf = w.buf[:n-1]
	}
	return nil
}

func writeNumber(_ *plan, w *writer, v reflect.Value) error {
	s := v.String()
	if s == "" { // as encoding/json does
		s = "0"
	}
	if s[0] != '-' && s[0]-'0' > 9 || strings.ContainsAny(s, " \t\r\n") || !json.Valid([]byte(s)) {
		return &ValueError{Message: "the json.Number " + strconv.Quote(rawjson.Truncate(s, rawjson.MaxGot)) + " is not a number"}
	}
	if rawjson.Check([]byte(s)) != nil {
		return &ValueError{Message: "the json.Number " + rawjson.Truncate(s, rawjson.MaxGot) + " is beyond the range of a double, which most JSON parsers use"}
	}
	w.buf = append(w.buf, s...)
	return nil
}

func writeString(_ *plan, w *writer, v reflect.Value) error {
	w.buf = rawjson.AppendString(w.buf, v.String())
	return nil
}

func writeBytes(_ *plan, w *writer, v reflect.Value) error {
	w.buf = append(w.buf, '"')
	w.buf = base64.StdEncoding.AppendEncode(w.buf, v.Bytes())
	w.buf = append(w.buf, '"')
	return nil
}

func writeTime(_ *plan, w *writer, v reflect.Value) error {
	t, ok := reflect.TypeAssert[time.Time](v)
	if !ok {
		return &ValueError{Message: "no time"}
	}
	text, err := t.MarshalText()
	if err != nil {
		return &ValueError{Message: "a time that RFC 3339 cannot represent: " + err.Error()}
	}
	w.buf = append(append(append(w.buf, '"'), text...), '"')
	return nil
}

func writeText(_ *plan, w *writer, v reflect.Value) error {
	text, err := marshalText(v)
	if err == nil {
		w.buf = rawjson.AppendString(w.buf, text)
	}
	return err
}

func marshalText(v reflect.Value) ([]byte, error) {
	m, ok := methods[encoding.TextMarshaler](v)
	if !ok {
		return nil, &ValueError{Message: v.Type().String() + " has no MarshalText"}
	}
	text, err := m.MarshalText()
	if err != nil {
		return nil, &ValueError{Message: "MarshalText: " + err.Error()}
	}
	return text, nil
}

func writeMarshaler(_ *plan, w *writer, v reflect.Value) error {
	m, ok := methods[json.Marshaler](v)
	if !ok {
		return &ValueError{Message: v.Type().String() + " has no MarshalJSON"}
	}
	text, err := m.MarshalJSON()
	if err != nil {
		return &ValueError{Message: "MarshalJSON: " + err.Error()}
	}
	return w.foreign(text)
}

func writeRaw(_ *plan, w *writer, v reflect.Value) error { return w.foreign(v.Bytes()) }

func writeJSON(_ *plan, w *writer, v reflect.Value) error { return w.foreign(v.Field(0).Bytes()) }

// writeForeign leaves encoding to encoding/json.
func writeForeign(_ *plan, w *writer, v reflect.Value) error {
	text, err := plainJSON(v.Interface())
	if err != nil {
		return &ValueError{Message: err.Error()}
	}
	return w.foreign(text)
}

// writable reports whether encoding/json can write values of a type that has
// no schema.
func writable(t reflect.Type) bool {
	_, err := plainJSON(reflect.Zero(t).Interface())
	_, no := errors.AsType[*json.UnsupportedTypeError](err)
	return !no
}

// foreign appends JSON from elsewhere. Empty text is null, as in encoding/json.
func (w *writer) foreign(text []byte) error {
	if len(text) == 0 {
		w.buf = append(w.buf, "null"...)
		return nil
	}
	buf, err := rawjson.AppendCompact(w.buf, text)
	if err != nil {
		return &ValueError{Message: "not JSON: " + err.Error()}
	}
	w.buf = buf
	return nil
}

func writeElem(p *plan, w *writer, v reflect.Value) error { return p.elem.write(p.elem, w, v) }

func writePointer(p *plan, w *writer, v reflect.Value) error {
	if v.IsNil() {
		return writeNull(p, w, v)
	}
	if w.hops++; w.hops > 8*rawjson.MaxDepth { // a pointer to itself never opens a list or object
		return errTooDeep()
	}
	err := p.elem.write(p.elem, w, v.Elem())
	w.hops--
	return err
}

func writeOptional(p *plan, w *writer, v reflect.Value) error {
	if !v.Field(1).Bool() {
		return writeNull(p, w, v)
	}
	return p.elem.write(p.elem, w, v.Field(0))
}

func writeOneOf(p *plan, w *writer, v reflect.Value) error {
	set := -1
	for i := range p.of {
		if v.Field(i).IsNil() {
			continue
		}
		if set >= 0 {
			return &ValueError{Message: errNotOne.Error()}
		}
		set = i
	}
	if set < 0 {
		return &ValueError{Message: errNotOne.Error()}
	}
	return p.of[set].write(p.of[set], w, v.Field(set).Elem())
}
