package gotype

import (
	"bytes"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// writeList writes slices and arrays. A nil slice is an empty list.
func writeList(p *plan, w *writer, v reflect.Value) error {
	if err := w.enter(); err != nil {
		return err
	}
	w.buf = append(w.buf, '[')
	for i := range v.Len() {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		if err := p.elem.write(p.elem, w, v.Index(i)); err != nil {
			return at(err, strconv.Itoa(i))
		}
	}
	w.buf = append(w.buf, ']')
	w.depth--
	return nil
}

func writeTuple(p *plan, w *writer, v reflect.Value) error {
	if err := w.enter(); err != nil {
		return err
	}
	w.buf = append(w.buf, '[')
	for i, part := range p.of {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		if err := part.write(part, w, v.Field(i)); err != nil {
			return at(err, strconv.Itoa(i))
		}
	}
	w.buf = append(w.buf, ']')
	w.depth--
	return nil
}

// writeSeq collects what an iterator yields.
func writeSeq(p *plan, w *writer, v reflect.Value) error {
	if err := w.enter(); err != nil {
		return err
	}
	w.buf = append(w.buf, '[')
	if !v.IsNil() {
		i := 0
		for e := range v.Seq() {
			if i > 0 {
				w.buf = append(w.buf, ',')
			}
			if err := p.elem.write(p.elem, w, e); err != nil {
				return at(err, strconv.Itoa(i))
			}
			i++
		}
	}
	w.buf = append(w.buf, ']')
	w.depth--
	return nil
}

func writeStruct(p *plan, w *writer, v reflect.Value) error { return writeMembers(p, w, v, nil) }

// writeMembers writes an object. First is a member written before those of the
// struct; empty: none.
func writeMembers(p *plan, w *writer, v reflect.Value, first []byte) error {
	if err := w.enter(); err != nil {
		return err
	}
	w.buf = append(append(w.buf, '{'), first...)
	empty := len(first) == 0
	for i := range p.fields {
		f := &p.fields[i]
		member, there := f.of(v)
		if !there {
			continue
		}
		if !empty {
			w.buf = append(w.buf, ',')
		}
		empty = false
		w.buf = append(w.buf, f.key...)
		if err := f.write(w, member); err != nil {
			return at(err, f.name)
		}
	}
	w.buf = append(w.buf, '}')
	w.depth--
	return nil
}

// of returns the field's value in a struct; there is false where it is omitted
// or inside an embedded nil pointer.
func (f *planField) of(v reflect.Value) (member reflect.Value, there bool) {
	if len(f.index) == 1 {
		v = v.Field(f.index[0])
		return v, f.omit == nil || !f.omit(v)
	}
	for i, n := range f.index {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return v, false
			}
			v = v.Elem()
		}
		v = v.Field(n)
	}
	return v, f.omit == nil || !f.omit(v)
}

func (f *planField) write(w *writer, v reflect.Value) error {
	if !f.quoted {
		return f.plan.write(f.plan, w, v)
	}
	if f.plan.kind == planNullable && v.IsNil() {
		return writeNull(f.plan, w, v)
	}
	inner := writer{}
	if err := f.plan.write(f.plan, &inner, v); err != nil {
		return err
	}
	if p := target(f.plan); p.kind == planString { // escaped as encoding/json does
		inner.buf = bytes.ReplaceAll(inner.buf, []byte("\u2028"), []byte(`\u2028`))
		inner.buf = bytes.ReplaceAll(inner.buf, []byte("\u2029"), []byte(`\u2029`))
	}
	w.buf = rawjson.AppendString(w.buf, inner.buf)
	return nil
}

// entry is a member of a map.
type entry struct {
	key   string
	value reflect.Value
}

// writeMap writes the members in the order of their keys. A nil map is an
// empty object.
func writeMap(p *plan, w *writer, v reflect.Value) error {
	if err := w.enter(); err != nil {
		return err
	}
	entries := make([]entry, 0, v.Len())
	for i := v.MapRange(); i.Next(); {
		key, err := keyText(p.key, i.Key())
		if err != nil {
			return err
		}
		entries = append(entries, entry{key, i.Value()})
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.key, b.key) })
	w.buf = append(w.buf, '{')
	for i, e := range entries {
		if i > 0 {
			if e.key == entries[i-1].key {
				return at(&ValueError{Message: "two keys of the map have this text"}, e.key)
			}
			w.buf = append(w.buf, ',')
		}
		w.buf = append(rawjson.AppendString(w.buf, e.key), ':')
		if err := p.elem.write(p.elem, w, e.value); err != nil {
			return at(err, e.key)
		}
	}
	w.buf = append(w.buf, '}')
	w.depth--
	return nil
}

// keyText formats a key of a map as the name of a member.
func keyText(p *plan, key reflect.Value) (string, error) {
	switch {
	case p.kind == planString:
		return strings.ToValidUTF8(key.String(), "\uFFFD"), nil
	case p.kind == planText:
		if key.Kind() == reflect.Pointer && key.IsNil() {
			return "", nil
		}
		text, err := marshalText(key)
		return strings.ToValidUTF8(string(text), "\uFFFD"), err
	case key.CanInt():
		return strconv.FormatInt(key.Int(), 10), nil
	}
	return strconv.FormatUint(key.Uint(), 10), nil
}
