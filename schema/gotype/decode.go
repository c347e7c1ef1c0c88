package schema

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strconv"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Decode reads arguments that fit the codec's schema into the value that ptr
// points to, a zero value of the codec's type. Values are read as
// encoding/json reads them, but for three things: names of members are the
// same only if they are written the same, an integer may be written 1.0 or
// 1e2, members that are not there get the defaults of their tags. The error is
// a *[ValueError]: JSON Schema allows numbers and texts that a Go type cannot
// hold.
func (c *Codec) Decode(args []byte, ptr any) error {
	r := reader{run: run{b: args}}
	err := r.into(c.plan, reflect.ValueOf(ptr).Elem())
	if err == nil && (r.next() != 0 || r.i != len(args)) {
		err = r.noJSON()
	}
	if err != nil {
		return valueError(err)
	}
	return nil
}

// reader reads values of plans. It goes over the bytes once, with the scanner
// of the validator.
type reader struct{ run }

func (r *reader) noJSON() error {
	return &ValueError{What: "not JSON at offset " + strconv.Itoa(r.i)}
}

// mismatch is the error of a value that the schema would not have admitted.
func (r *reader) mismatch(p *plan) error {
	kind := kindOf(r.next())
	if kind == 0 {
		return r.noJSON()
	}
	return &ValueError{What: kind.words() + " cannot be held by " + p.typ.String()}
}

// into reads the value at the position into v, which is zero.
func (r *reader) into(p *plan, v reflect.Value) error {
	c := r.next()
	if c == 'n' && !p.readsNull() { // as encoding/json has it; only what may be null gets here
		if !r.word() {
			return r.noJSON()
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

// skip goes over the value at the position and answers its text.
func (r *reader) skip() ([]byte, error) {
	r.next()
	for start, open := r.i, 0; ; {
		ok, between := true, false
		switch c := r.next(); c {
		case '"':
			_, ok = r.str()
		case '{', '[':
			open++
			r.i++
		case '}', ']':
			open--
			r.i++
			ok = open >= 0
		case ',', ':':
			r.i++
			ok, between = open > 0, true
		case 't', 'f', 'n':
			ok = r.word()
		default:
			ok = kindOf(c) == isNumber
			if ok {
				_, ok = r.num()
			}
		}
		if !ok {
			return nil, r.noJSON()
		}
		if open == 0 && !between {
			return r.b[start:r.i], nil
		}
	}
}

// whole hands the text of a value on: to a type that keeps it or reads it
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

// unmarshal leaves the reading to encoding/json.
func unmarshal(text []byte, v reflect.Value) error {
	if err := json.Unmarshal(text, v.Addr().Interface()); err != nil {
		return &ValueError{What: err.Error()}
	}
	return nil
}

// open begins a list or an object, empty or not.
func (r *reader) open(p *plan, with, end byte) (more bool, err error) {
	if r.next() != with {
		return false, r.mismatch(p)
	}
	if !r.enter() {
		return false, errTooDeep()
	}
	if r.next() != end {
		return true, nil
	}
	r.leave()
	return false, nil
}

// more reads what stands behind an item or a member.
func (r *reader) more(end byte) (bool, error) {
	switch r.next() {
	case ',':
		r.i++
		return true, nil
	case end:
		r.leave()
		return false, nil
	}
	return false, r.noJSON()
}

// items reads a list of at most limit items.
func (r *reader) items(p *plan, item func(i int) error, limit int) error {
	more, err := r.open(p, '[', ']')
	for i := 0; more && err == nil; i++ {
		if i >= limit {
			return &ValueError{What: "a list of more than " + strconv.Itoa(limit) + " items cannot be held by " + p.typ.String()}
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

// name reads the name of a member and the colon behind it.
func (r *reader) name() ([]byte, error) {
	_, s, ok := r.key()
	if !ok || !r.colon() {
		return nil, r.noJSON()
	}
	return r.plainText(s), nil
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

// keyOf reads the key of a map from the name of a member.
func keyOf(t reflect.Type, name string) (reflect.Value, error) {
	key := reflect.New(t)
	if m, ok := reflect.TypeAssert[encoding.TextUnmarshaler](key); ok {
		if err := m.UnmarshalText([]byte(name)); err != nil {
			return key, &ValueError{What: err.Error()}
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

// object reads a struct.
func (r *reader) object(p *plan, v reflect.Value) error {
	more, err := r.open(p, '{', '}')
	if err != nil {
		return err
	}
	seen := len(r.seen)
	if p.defaults {
		for range (len(p.fields) + 63) / 64 {
			r.seen = append(r.seen, 0)
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

// complete gives the fields that are not in the set their defaults.
func (r *reader) complete(p *plan, v reflect.Value, seen int) error {
	for i := range p.fields {
		f := &p.fields[i]
		if f.rules.value == "" || !r.mark(seen, i) {
			continue
		}
		inner := reader{run: run{b: []byte(f.rules.value)}}
		if err := inner.member(f, v); err != nil {
			return err
		}
	}
	r.seen = r.seen[:seen]
	return nil
}

// field reads a name and answers the ordinal of its field, -1 if there is
// none. Members mostly come in the order of the fields.
func (r *reader) field(p *plan, next int) (int, error) {
	r.next()
	if next < len(p.fields) {
		if key := p.fields[next].key; len(r.b)-r.i >= len(key) && string(r.b[r.i:r.i+len(key)]) == string(key) {
			r.i += len(key)
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

// member reads the value of a field of the struct v.
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
	if f.quoted && r.next() == '"' {
		err = r.quoted(f.plan, v)
	} else {
		err = r.into(f.plan, v)
	}
	if err != nil {
		return at(err, f.name)
	}
	return nil
}

// quoted reads a value whose JSON stands in a string.
func (r *reader) quoted(p *plan, v reflect.Value) error {
	s, ok := r.str()
	if !ok {
		return r.noJSON()
	}
	inner := reader{run: run{b: append([]byte(nil), r.plainText(s)...)}}
	err := inner.into(p, v)
	if err == nil && inner.i != len(inner.b) {
		err = inner.noJSON()
	}
	if err != nil {
		return &ValueError{What: "the string does not hold the JSON of a value: " + valueError(err).Error()}
	}
	return nil
}

// oneOf reads the first of several types whose schema the value fits.
func (r *reader) oneOf(p *plan, v reflect.Value) error {
	start := r.i
	text, err := r.skip()
	if err != nil {
		return err
	}
	for i, fits := range p.fits {
		if fits.Validate(text) != nil {
			continue
		}
		r.i = start
		part := reflect.New(p.of[i].typ)
		if err := r.into(p.of[i], part.Elem()); err != nil {
			return err
		}
		v.Field(i).Set(part)
		return nil
	}
	return errNoFit
}

// union reads the struct whose name stands in the union's tag.
func (r *reader) union(p *plan, v reflect.Value) error {
	start := r.i
	text, err := r.skip()
	if err != nil {
		return err
	}
	doc, err := rawjson.Parse(text)
	if err != nil {
		return &ValueError{What: err.Error()}
	}
	name := doc.Str(doc.Get(doc.Root(), p.union.tag))
	for i, known := range p.union.names {
		if known != name {
			continue
		}
		r.i = start
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
	return &ValueError{What: strconv.Quote(cut(name, maxGot)) + " is not registered for the union of " + p.typ.String()}
}

// declaresObject reports whether a schema says literally that its values are
// objects.
func declaresObject(doc []byte) bool {
	parsed, err := rawjson.Parse(doc)
	return err == nil && parsed.IsStr(parsed.Get(parsed.Root(), "type"), "object")
}
