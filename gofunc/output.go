package gofunc

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/schema/gotype"
)

// Output is a T with all that a result can hold beside it: for functions that
// want more than their value. What it declares is the schema of T.
//
// A function that returns a [tenon.Content] or a []Content, by itself or in an Output,
// declares nothing: the blocks are all that the client gets.
type Output[T any] struct {
	Value   T               // stands in structuredContent; checked against the schema of T
	Content []tenon.Content // what the model reads; nil: a text copy of the value
	Meta    map[string]any  // for _meta, which the model does not see; names that begin with "tenon/" are taken
	Failed  bool            // the blocks tell what went wrong: the result is an error, the value stays here
}

// enriched is an Output of any type.
type enriched interface {
	valueType() reflect.Type
	parts() (value any, r tenon.Response, meta map[string]any) // value is a pointer
}

func (*Output[T]) valueType() reflect.Type { return reflect.TypeFor[T]() }

func (o *Output[T]) parts() (value any, r tenon.Response, meta map[string]any) {
	return &o.Value, tenon.Response{Content: o.Content, Failed: o.Failed}, o.Meta
}

// resultType answers the type of which a result's schema is made; nil: the
// result is blocks, which have none. Pointer: a pointer to it is returned.
func resultType(t reflect.Type) (value reflect.Type, pointer bool) {
	if e := pointed(t); e != nil && (isContent(e) || reflect.PointerTo(e).Implements(reflect.TypeFor[enriched]())) {
		t, pointer = e, true
	}
	if o, ok := reflect.TypeAssert[enriched](reflect.New(t)); ok {
		t = o.valueType()
	}
	if isContent(t) {
		return nil, pointer
	}
	return t, pointer
}

// pointed is what a pointer points to; nil: t is none.
func pointed(t reflect.Type) reflect.Type {
	if t.Kind() != reflect.Pointer || t.Name() != "" {
		return nil
	}
	return t.Elem()
}

func isContent(t reflect.Type) bool {
	return t == reflect.TypeFor[tenon.Content]() || t == reflect.TypeFor[[]tenon.Content]()
}

// noValue says why types that are more than a value stand in none.
func noValue(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[tenon.Content]():
		return "a tenon.Content is content, not a value: return a Content, a []Content, or an Output with the value and its Content"
	case reflect.PointerTo(t).Implements(reflect.TypeFor[enriched]()):
		return "a gofunc.Output is a whole result, not a value inside one: return it by itself"
	}
	return ""
}

// bindOutput makes the codec of the result. A pointer to an object is that
// object, as in encoding/json, where there is one.
func (b *bound) bindOutput(f Function, t reflect.Type) (err error) {
	o := gotype.ForOptions{Foreign: f.options.TextOnly}
	if e := pointed(t); e != nil && f.options.Output == nil {
		if b.output, err = f.bind(e, nil, o); err == nil && b.output.IsObject() {
			b.inner = true
			return nil
		}
	}
	b.output, err = f.bind(t, f.options.Output, o)
	return err
}

var errNil = errors.New("it is nil: return an error, or declare a tenon.Optional if there may be nothing")

// follow answers the pointer that ptr points to.
func follow(ptr any) (any, error) {
	v := reflect.ValueOf(ptr).Elem()
	if v.IsNil() {
		return nil, errNil
	}
	return v.Interface(), nil
}

// unpack takes an Output and blocks apart. Value is a pointer; nil: there is
// none to be written.
func (b *bound) unpack(out any) (value any, r tenon.Response, err error) {
	if b.pointer {
		if out, err = follow(out); err != nil {
			return nil, r, err
		}
	}
	if o, ok := out.(enriched); ok {
		var meta map[string]any
		out, r, meta = o.parts()
		if r.Meta, err = metaJSON(meta); err != nil {
			return nil, r, err
		}
	}
	switch v := out.(type) {
	case *tenon.Content:
		r.Content = append(r.Content, *v)
	case *[]tenon.Content:
		r.Content = append(append([]tenon.Content{}, r.Content...), *v...)
	default:
		if !r.Failed && b.inner {
			out, err = follow(out)
		}
		if !r.Failed {
			return out, r, err
		}
	}
	if r.Content == nil {
		r.Content = []tenon.Content{}
	}
	return nil, r, nil
}

func metaJSON(meta map[string]any) ([]byte, error) {
	if len(meta) == 0 {
		return nil, nil
	}
	for name := range meta {
		if strings.HasPrefix(name, "tenon/") {
			return nil, errors.New("_meta: the name " + name + " is taken")
		}
	}
	return json.Marshal(meta)
}
