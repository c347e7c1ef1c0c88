package gotype

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/tenon-mcp/tenon/schema"
)

// generic is a type of this file. Its plan is made from its type arguments.
type generic interface {
	// parts returns its kind and its type arguments.
	parts() (kind planKind, of []reflect.Type)
}

// JSON is JSON text that must be valid against the schema of T: bytes of an
// upstream, passed on unchanged after validation. The zero value is null.
type JSON[T any] struct{ Raw json.RawMessage }

func (JSON[T]) parts() (planKind, []reflect.Type) {
	return planJSON, []reflect.Type{reflect.TypeFor[T]()}
}

// MarshalJSON writes the text.
func (j JSON[T]) MarshalJSON() ([]byte, error) { return j.Raw.MarshalJSON() }

// UnmarshalJSON keeps the text.
func (j *JSON[T]) UnmarshalJSON(text []byte) error { return j.Raw.UnmarshalJSON(text) }

// Value decodes the text.
func (j JSON[T]) Value() (T, error) {
	var v T
	err := json.Unmarshal(j.Raw, &v)
	return v, err
}

// Optional is a T or null. The zero value is null.
type Optional[T any] struct {
	Value T
	Valid bool // false: null
}

// Some returns an Optional that holds v.
func Some[T any](v T) Optional[T] { return Optional[T]{Value: v, Valid: true} }

func (Optional[T]) parts() (planKind, []reflect.Type) {
	return planOptional, []reflect.Type{reflect.TypeFor[T]()}
}

// MarshalJSON writes the value, or null.
func (o Optional[T]) MarshalJSON() ([]byte, error) {
	if !o.Valid {
		return []byte("null"), nil
	}
	return json.Marshal(o.Value)
}

// UnmarshalJSON reads a value, or null.
func (o *Optional[T]) UnmarshalJSON(text []byte) error {
	*o = Optional[T]{Valid: !bytes.Equal(text, []byte("null"))}
	if !o.Valid {
		return nil
	}
	return json.Unmarshal(text, &o.Value)
}

// OneOf2 is an A or a B: exactly one of its members is set.
type OneOf2[A, B any] struct {
	A *A
	B *B
}

func (OneOf2[A, B]) parts() (planKind, []reflect.Type) {
	return planOneOf, []reflect.Type{reflect.TypeFor[A](), reflect.TypeFor[B]()}
}

// MarshalJSON writes the member that is set.
func (o OneOf2[A, B]) MarshalJSON() ([]byte, error) { return marshalOne(o.A, o.B) }

// UnmarshalJSON sets the first member whose schema accepts the text.
func (o *OneOf2[A, B]) UnmarshalJSON(text []byte) error {
	*o = OneOf2[A, B]{}
	return firstFit(text, try(&o.A), try(&o.B))
}

// OneOf3 is an A, a B or a C: exactly one of its members is set.
type OneOf3[A, B, C any] struct {
	A *A
	B *B
	C *C
}

func (OneOf3[A, B, C]) parts() (planKind, []reflect.Type) {
	return planOneOf, []reflect.Type{reflect.TypeFor[A](), reflect.TypeFor[B](), reflect.TypeFor[C]()}
}

// MarshalJSON writes the member that is set.
func (o OneOf3[A, B, C]) MarshalJSON() ([]byte, error) { return marshalOne(o.A, o.B, o.C) }

// UnmarshalJSON sets the first member whose schema accepts the text.
func (o *OneOf3[A, B, C]) UnmarshalJSON(text []byte) error {
	*o = OneOf3[A, B, C]{}
	return firstFit(text, try(&o.A), try(&o.B), try(&o.C))
}

// Tuple2 is a list of an A and a B.
type Tuple2[A, B any] struct {
	A A
	B B
}

func (Tuple2[A, B]) parts() (planKind, []reflect.Type) {
	return planTuple, []reflect.Type{reflect.TypeFor[A](), reflect.TypeFor[B]()}
}

// MarshalJSON writes the list.
func (t Tuple2[A, B]) MarshalJSON() ([]byte, error) { return json.Marshal([]any{t.A, t.B}) }

// UnmarshalJSON reads the list.
func (t *Tuple2[A, B]) UnmarshalJSON(text []byte) error { return unmarshalTuple(text, &t.A, &t.B) }

// Tuple3 is a list of an A, a B and a C.
type Tuple3[A, B, C any] struct {
	A A
	B B
	C C
}

func (Tuple3[A, B, C]) parts() (planKind, []reflect.Type) {
	return planTuple, []reflect.Type{reflect.TypeFor[A](), reflect.TypeFor[B](), reflect.TypeFor[C]()}
}

// MarshalJSON writes the list.
func (t Tuple3[A, B, C]) MarshalJSON() ([]byte, error) { return json.Marshal([]any{t.A, t.B, t.C}) }

// UnmarshalJSON reads the list.
func (t *Tuple3[A, B, C]) UnmarshalJSON(text []byte) error {
	return unmarshalTuple(text, &t.A, &t.B, &t.C)
}

func unmarshalTuple(text []byte, into ...any) error {
	var items []json.RawMessage
	if err := json.Unmarshal(text, &items); err != nil {
		return err
	}
	if len(items) != len(into) {
		return fmt.Errorf("a list of %d items where one of %d is required", len(items), len(into))
	}
	for i, item := range items {
		if err := json.Unmarshal(item, into[i]); err != nil {
			return fmt.Errorf("item %d: %w", i, err)
		}
	}
	return nil
}

// errNoFit is the error of JSON that matches none of the types of a OneOf.
var errNoFit = errors.New("matches none of the types that it may have")

// errNotOne is the error of a OneOf with no or several members set.
var errNotOne = errors.New("exactly one member of a OneOf must be set")

func marshalOne(members ...any) ([]byte, error) {
	var set any
	for _, m := range members {
		if reflect.ValueOf(m).IsNil() {
			continue
		}
		if set != nil {
			return nil, errNotOne
		}
		set = m
	}
	if set == nil {
		return nil, errNotOne
	}
	return json.Marshal(set)
}

// try returns a function that decodes text into *p if it is valid against the
// schema of T. The schema is made anew each time: such arguments are rare, and
// a cache would have to be global.
func try[T any](p **T) func(text []byte) (bool, error) {
	return func(text []byte) (bool, error) {
		c, err := newCodec(reflect.TypeFor[T](), ForOptions{Arguments: true})
		if err != nil {
			return false, err
		}
		s, err := schema.Compile(c.Doc(), schema.Options{AssertFormat: true})
		if err != nil || s.Validate(text) != nil {
			return false, err
		}
		v := new(T)
		if err := c.Decode(text, v); err != nil {
			return false, err
		}
		*p = v
		return true, nil
	}
}

func firstFit(text []byte, tries ...func([]byte) (bool, error)) error {
	for _, f := range tries {
		if ok, err := f(text); ok || err != nil {
			return err
		}
	}
	return errNoFit
}
