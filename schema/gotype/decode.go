package gotype

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strconv"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Decode decodes arguments that are valid against the codec's schema into the
// value that ptr points to, a zero value of the codec's type. It follows
// encoding/json, with three exceptions: names of members match only exactly, an
// integer may be written 1.0 or 1e2, and absent members get the defaults of
// their tags. The error is a *[ValueError]: JSON Schema allows numbers and
// strings that a Go type cannot hold.
func (c *Codec) Decode(args []byte, ptr any) error {
	r := reader{Scanner: rawjson.Scanner{B: args}}
	err := r.into(c.plan, reflect.ValueOf(ptr).Elem())
	if err == nil && (r.Next() != 0 || r.I != len(args)) {
		err = r.syntaxError()
	}
	if err != nil {
		return valueError(err)
	}
	return nil
}

// reader decodes values of plans. It reads the bytes once, with the scanner of
// the validator.
type reader struct {
	rawjson.Scanner
	present []uint64 // sets of the fields that the open objects have
}

func (r *reader) syntaxError() error {
	return &ValueError{Message: "not JSON at offset " + strconv.Itoa(r.I)}
}

// mismatch is the error for a value that the schema does not admit.
func (r *reader) mismatch(p *plan) error {
	kind := rawjson.KindOf(r.Next())
	if kind == 0 {
		return r.syntaxError()
	}
	return &ValueError{Message: kind.Words() + " cannot be held by " + p.typ.String()}
}

// into decodes the value at the position into v, which is zero.
func (r *reader) into(p *plan, v reflect.Value) error {
	c := r.Next()
	if c == 'n' && !p.readsNull() { // as encoding/json does; the schema admits null only where it is allowed
		if !r.Word() {
			return r.syntaxError()
		}
		return nil
	}
	switch p.kind {
	case planNullable:
		v.Set(reflect.New(p.elem.typ))
		return r.into(p.elem, v.Elem())
	case planOptional:
		v.Field(1).SetBool(true)
		return r.into(p.elem, v.Field(0))
	case planStruct:
		return r.object(p, v)
	case planMap:
		return r.dict(p, v)
	case planList, planArray:
		return r.list(p, v)
	case planTuple:
		return r.items(p, func(i int) error { return r.into(p.of[i], v.Field(i)) }, len(p.of))
	case planOneOf:
		return r.oneOf(p, v)
	case planUnion:
		return r.union(p, v)
	case planRaw, planJSON, planProvided:
		return r.whole(p, v)
	case planNull:
		return r.mismatch(p)
	default:
		return r.scalar(p, v, c)
	}
}

// readsNull reports whether null is more than the zero value.
func (p *plan) readsNull() bool {
	return p.kind == planProvided || p.kind == planRaw || p.kind == planJSON || p.kind == planOneOf
}

// skip skips the value at the position and returns its text.
func (r *reader) skip() ([]byte, error) {
	r.Next()
	for start, open := r.I, 0; ; {
		ok, between := true, false
		switch c := r.Next(); c {
		case '"':
			_, ok = r.Str()
		case '{', '[':
			open++
			r.I++
		case '}', ']':
			open--
			r.I++
			ok = open >= 0
		case ',', ':':
			r.I++
			ok, between = open > 0, true
		case 't', 'f', 'n':
			ok = r.Word()
		default:
			ok = rawjson.KindOf(c) == rawjson.IsNumber
			if ok {
				_, ok = r.Num()
			}
		}
		if !ok {
			return nil, r.syntaxError()
		}
		if open == 0 && !between {
			return r.B[start:r.I], nil
		}
	}
}

// whole passes the text of a value to a type that stores it or decodes it
// itself.
func (r *reader) whole(p *plan, v reflect.Value) error {
	text, err := r.skip()
	if err != nil {
		return err
	}
	switch p.kind {
	case planRaw:
		if v.Kind() == reflect.Interface {
			return unmarshal(text, v)
		}
		v.SetBytes(append([]byte(nil), text...))
		return nil
	case planJSON:
		v.Field(0).SetBytes(append([]byte(nil), text...))
		return nil
	default:
		return unmarshal(text, v)
	}
}

// unmarshal leaves decoding to encoding/json.
func unmarshal(text []byte, v reflect.Value) error {
	if err := json.Unmarshal(text, v.Addr().Interface()); err != nil {
		return &ValueError{Message: err.Error()}
	}
	return nil
}

// open reads the opening bracket of a list or an object.
func (r *reader) open(p *plan, with, end byte) (more bool, err error) {
	if r.Next() != with {
		return false, r.mismatch(p)
	}
	if !r.Enter() {
		return false, errTooDeep()
	}
	if r.Next() != end {
		return true, nil
	}
	r.Leave()
	return false, nil
}

// more reads the comma or closing bracket after an item or a member.
func (r *reader) more(end byte) (bool, error) {
	switch r.Next() {
	case ',':
		r.I++
		return true, nil
	case end:
		r.Leave()
		return false, nil
	}
	return false, r.syntaxError()
}

// items reads a list of at most limit items.
func (r *reader) items(p *plan, item func(i int) error, limit int) error {
	more, err := r.open(p, '[', ']')
	for i := 0; more && err == nil; i++ {
		if i >= limit {
			return &ValueError{Message: "a list of more than " + strconv.Itoa(limit) + " items cannot be held by " + p.typ.String()}
		}
		if err = item(i); err != nil {
			return at(err, strconv.Itoa(i))
		}
		more, err = r.more(']')
	}
	return err
}

func (r *reader) list(p *plan, v reflect.Value) error {
	if p.kind == planArray {
		return r.items(p, func(i int) error { return r.into(p.elem, v.Index(i)) }, p.length)
	}
	more, err := r.open(p, '[', ']')
	if !more && err == nil {
		v.Set(reflect.MakeSlice(p.typ, 0, 0))
	}
	for i := 0; more && err == nil; i++ {
		if i >= v.Cap() {
			v.Grow(1)
		}
		v.SetLen(i + 1)
		if err = r.into(p.elem, v.Index(i)); err != nil {
			return at(err, strconv.Itoa(i))
		}
		more, err = r.more(']')
	}
	return err
}

// name reads the name of a member and its colon.
func (r *reader) name() ([]byte, error) {
	_, s, ok := r.Key()
	if !ok || !r.Colon() {
		return nil, r.syntaxError()
	}
	return r.PlainText(s), nil
}

func (r *reader) dict(p *plan, v reflect.Value) error {
	more, err := r.open(p, '{', '}')
	if err != nil {
		return err
	}
	v.Set(reflect.MakeMap(p.typ))
	elem := reflect.New(p.typ.Elem()).Elem()
	for more {
		name, err := r.name()
		if err != nil {
			return err
		}
		text := string(name)
		key, err := keyOf(p.typ.Key(), text)
		if err != nil {
			return at(err, text)
		}
		elem.SetZero()
		if err := r.into(p.elem, elem); err != nil {
			return at(err, text)
		}
		v.SetMapIndex(key, elem)
		if more, err = r.more('}'); err != nil {
			return err
		}
	}
	return nil
}

// keyOf decodes the key of a map from the name of a member.
func keyOf(t reflect.Type, name string) (reflect.Value, error) {
	key := reflect.New(t)
	if m, ok := reflect.TypeAssert[encoding.TextUnmarshaler](key); ok {
		if err := m.UnmarshalText([]byte(name)); err != nil {
			return key, &ValueError{Message: err.Error()}
		}
		return key.Elem(), nil
	}
	key = key.Elem()
	if t.Kind() == reflect.String {
		key.SetString(name)
		return key, nil
	}
	return key, setInteger(key, []byte(name))
}

// object decodes a struct.
func (r *reader) object(p *plan, v reflect.Value) error {
	more, err := r.open(p, '{', '}')
	if err != nil {
		return err
	}
	seen := len(r.present)
	if p.defaults {
		for range (len(p.fields) + 63) / 64 {
			r.present = append(r.present, 0)
		}
	}
	for next := 0; more; {
		i, err := r.field(p, next)
		switch {
		case err != nil:
			return err
		case i < 0: // the tag of a union
			_, err = r.skip()
		default:
			next = i + 1
			if p.defaults {
				r.mark(seen, i)
			}
			err = r.member(&p.fields[i], v)
		}
		if err != nil {
			return err
		}
		if more, err = r.more('}'); err != nil {
			return err
		}
	}
	if p.defaults {
		return r.complete(p, v, seen)
	}
	return nil
}

// complete sets the fields that are not in the set to their defaults.
func (r *reader) complete(p *plan, v reflect.Value, seen int) error {
	for i := range p.fields {
		f := &p.fields[i]
		if f.rules.value == "" || !r.mark(seen, i) {
			continue
		}
		inner := reader{Scanner: rawjson.Scanner{B: []byte(f.rules.value)}}
		if err := inner.member(f, v); err != nil {
			return err
		}
	}
	r.present = r.present[:seen]
	return nil
}

// mark adds an index to the set and reports whether it is new.
func (r *reader) mark(seen, index int) bool {
	word, bit := &r.present[seen+index/64], uint64(1)<<(index%64)
	fresh := *word&bit == 0
	*word |= bit
	return fresh
}

// field reads a name and returns the ordinal of its field, -1 if there is none.
// Members mostly are in the order of the fields.
func (r *reader) field(p *plan, next int) (int, error) {
	r.Next()
	if next < len(p.fields) {
		if key := p.fields[next].key; len(r.B)-r.I >= len(key) && string(r.B[r.I:r.I+len(key)]) == string(key) {
			r.I += len(key)
			return next, nil
		}
	}
	name, err := r.name()
	if err != nil {
		return -1, err
	}
	for i := range p.fields {
		if p.fields[i].name == string(name) {
			return i, nil
		}
	}
	return -1, nil
}

// member decodes the value of a field of the struct v.
func (r *reader) member(f *planField, v reflect.Value) error {
	for i, n := range f.index {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(n)
	}
	var err error
	if f.quoted && r.Next() == '"' {
		err = r.quoted(f.plan, v)
	} else {
		err = r.into(f.plan, v)
	}
	if err != nil {
		return at(err, f.name)
	}
	return nil
}

// quoted decodes a value whose JSON is encoded in a string.
func (r *reader) quoted(p *plan, v reflect.Value) error {
	s, ok := r.Str()
	if !ok {
		return r.syntaxError()
	}
	inner := reader{Scanner: rawjson.Scanner{B: append([]byte(nil), r.PlainText(s)...)}}
	err := inner.into(p, v)
	if err == nil && inner.I != len(inner.B) {
		err = inner.syntaxError()
	}
	if err != nil {
		return &ValueError{Message: "the string does not contain the JSON of a value: " + valueError(err).Error()}
	}
	return nil
}

// oneOf decodes the first of several types whose schema accepts the value.
func (r *reader) oneOf(p *plan, v reflect.Value) error {
	start := r.I
	text, err := r.skip()
	if err != nil {
		return err
	}
	for i, fits := range p.fits {
		if fits.Validate(text) != nil {
			continue
		}
		r.I = start
		part := reflect.New(p.of[i].typ)
		if err := r.into(p.of[i], part.Elem()); err != nil {
			return err
		}
		v.Field(i).Set(part)
		return nil
	}
	return errNoFit
}

// union decodes the struct that the union's tag names.
func (r *reader) union(p *plan, v reflect.Value) error {
	start := r.I
	text, err := r.skip()
	if err != nil {
		return err
	}
	doc, err := rawjson.Parse(text)
	if err != nil {
		return &ValueError{Message: err.Error()}
	}
	name := doc.Str(doc.Get(doc.Root(), p.union.tag))
	for i, known := range p.union.names {
		if known != name {
			continue
		}
		r.I = start
		part := reflect.New(p.union.types[i])
		if err := r.object(p.of[i], part.Elem()); err != nil { // the tag is skipped
			return err
		}
		if !p.union.pointers[i] {
			part = part.Elem()
		}
		v.Set(part)
		return nil
	}
	return &ValueError{Message: strconv.Quote(rawjson.Truncate(name, rawjson.MaxGot)) + " is not registered for the union of " + p.typ.String()}
}

// declaresObject reports whether a schema has the type "object", literally.
func declaresObject(doc []byte) bool {
	parsed, err := rawjson.Parse(doc)
	return err == nil && parsed.IsStr(parsed.Get(parsed.Root(), "type"), "object")
}
