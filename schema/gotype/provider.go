package gotype

import (
	"encoding"
	"encoding/json"
	"math/big"
	"net/url"
	"reflect"
	"runtime"
	"strings"
	"time"
)

// Provider is a type that provides its schema. A type with a MarshalJSON method
// must be one or be registered with [Of], because what it writes cannot be
// derived.
type Provider interface {
	// JSONSchema returns a self-contained schema document: its references are
	// "#/$defs/…". It is called on the zero value.
	JSONSchema() []byte
}

// Besides Provider, a defined type may have a method
//
//	func (T) EnumValues() []T
//
// which lists all its values. They become its enum.
const enumMethod = "EnumValues"

// interfaces are the interfaces that decide how a type is encoded or decoded.
type interfaces struct {
	provider, marshaler, unmarshaler, textMarshaler, textUnmarshaler, generic, zeroer reflect.Type
}

func newInterfaces() interfaces {
	return interfaces{
		provider:        reflect.TypeFor[Provider](),
		marshaler:       reflect.TypeFor[json.Marshaler](),
		unmarshaler:     reflect.TypeFor[json.Unmarshaler](),
		textMarshaler:   reflect.TypeFor[encoding.TextMarshaler](),
		textUnmarshaler: reflect.TypeFor[encoding.TextUnmarshaler](),
		generic:         reflect.TypeFor[generic](),
		zeroer:          reflect.TypeFor[zeroer](),
	}
}

// zeroer is the interface that the tag option omitzero checks.
type zeroer interface{ IsZero() bool }

// has reports whether t or a pointer to it has the methods of an interface.
func has(t, methods reflect.Type) bool {
	return t.Implements(methods) || t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(methods)
}

// wellKnown returns the plan of a type of the standard library whose JSON is
// known, nil for all others.
func wellKnown(t reflect.Type) *plan {
	switch t {
	case reflect.TypeFor[time.Time]():
		return &plan{kind: planTime, typ: t, write: writeTime}
	case reflect.TypeFor[time.Duration]():
		return &plan{kind: planInt, typ: t, note: "nanoseconds", write: writeInt}
	case reflect.TypeFor[json.Number]():
		return &plan{kind: planFloat, typ: t, write: writeNumber}
	case reflect.TypeFor[json.RawMessage]():
		return &plan{kind: planRaw, typ: t, write: writeRaw}
	case reflect.TypeFor[url.Userinfo](): // of a url.URL, which encoding/json writes as a struct
		return &plan{kind: planStruct, typ: t, write: writeStruct}
	case reflect.TypeFor[big.Int]():
		return &plan{kind: planInt, typ: t, write: writeMarshaler}
	}
	return nil
}

// Docs are descriptions for the schema of T: of its fields by their Go names,
// of T itself under the empty name. A type provides them by a method
//
//	func (T) DocComments() Docs[T]
//
// which the command tenon doc-comments generates, because a running program
// cannot see its comments. The tag doc of a field takes precedence.
type Docs[T any] map[string]string

func (Docs[T]) docs() (of reflect.Type) { return reflect.TypeFor[T]() }

const docsMethod = "DocComments"

// docs returns the descriptions that t itself provides.
func (b *planner) docs(t reflect.Type) map[string]string {
	known, ok := b.described[t]
	if !ok {
		known = docsOf(t)
		b.described[t] = known
	}
	return known
}

// docsOf calls a type's DocComments. A method promoted from an embedded type
// does not count.
func docsOf(t reflect.Type) map[string]string {
	if t.Name() == "" {
		return nil
	}
	if _, there := reflect.PointerTo(t).MethodByName(docsMethod); !there {
		return nil
	}
	method := reflect.New(t).MethodByName(docsMethod)
	if method.Type().NumIn() != 0 || method.Type().NumOut() != 1 {
		return nil
	}
	result := method.Type().Out(0)
	d, ok := reflect.TypeAssert[interface{ docs() reflect.Type }](reflect.Zero(result))
	if !ok || d.docs() != t {
		return nil
	}
	all := map[string]string{}
	for i := method.Call(nil)[0].MapRange(); i.Next(); {
		all[i.Key().String()] = i.Value().String()
	}
	return all
}

// TypeSchema is the schema of a type that cannot provide one. It is made by
// [Of].
type TypeSchema struct {
	typ reflect.Type
	doc []byte
}

// Of defines the schema of T where it cannot be derived: T has methods for JSON
// and is declared in another package, or is an interface. The document is
// self-contained: its references are "#/$defs/…". It takes precedence over what
// T provides.
func Of[T any](doc string) TypeSchema {
	return TypeSchema{reflect.TypeFor[T](), []byte(doc)}
}

// registered returns the schema of a type in the options; nil: none.
func (b *planner) registered(t reflect.Type) []byte {
	for _, known := range b.o.Types {
		if known.typ == t {
			return known.doc
		}
	}
	return nil
}

// common returns schemas of widely used types whose methods hide their JSON: by
// the path of their package, without its version, and their name.
func (b *planner) common(t reflect.Type) string {
	path := t.PkgPath()
	if i := strings.LastIndex(path, "/v"); i >= 0 && strings.Trim(path[i+2:], "0123456789") == "" {
		path = path[:i]
	}
	switch path + "." + t.Name() {
	case "log/slog.Level":
		return `{"examples":["INFO","ERROR+2"],"type":"string"}`
	case "github.com/google/uuid.UUID", "github.com/gofrs/uuid.UUID":
		return uuidSchema
	case "github.com/google/uuid.NullUUID", "github.com/gofrs/uuid.NullUUID":
		return `{"anyOf":[` + uuidSchema + `,{"type":"null"}]}`
	case "github.com/shopspring/decimal.Decimal":
		return `{"anyOf":[` + b.decimal(t) + `]}`
	case "github.com/shopspring/decimal.NullDecimal":
		return `{"anyOf":[` + b.decimal(t) + `,{"type":"null"}]}`
	}
	return ""
}

const (
	uuidSchema    = `{"format":"uuid","type":"string"}`
	decimalSchema = `{"pattern":"^-?[0-9]+(\\.[0-9]+)?$","type":"string"}`
)

// decimal returns the forms of a decimal number: both are decoded; which one is
// written is a setting of the package that a program can change at any time.
func (*planner) decimal(reflect.Type) string { return decimalSchema + `,{"type":"number"}` }

// promoted returns the embedded type whose method a struct has, nil where the
// struct declares the method itself, or that is unknown.
func promoted(t reflect.Type, method string) reflect.Type {
	if t.Kind() != reflect.Struct || declares(t, method) {
		return nil
	}
	from, _ := origin(t, method, 0)
	return from
}

// maxEmbedded bounds the depth of embedding.
const maxEmbedded = 32

// origin finds the least nested of the embedded types that declare a method:
// there is only one, because t has the method.
func origin(t reflect.Type, method string, depth int) (from reflect.Type, at int) {
	if depth > maxEmbedded {
		return nil, depth
	}
	for field := range t.Fields() {
		if !field.Anonymous {
			continue
		}
		inside, found := plainType(field.Type), depth+1
		if _, has := methodOf(inside, method); !has {
			continue
		}
		if !declares(inside, method) {
			if inside, found = origin(inside, method, depth+1); inside == nil {
				continue
			}
		}
		if from == nil || found < at {
			from, at = inside, found
		}
	}
	return from, at
}

func methodOf(t reflect.Type, name string) (reflect.Method, bool) {
	m, ok := t.MethodByName(name)
	if !ok && t.Kind() != reflect.Interface {
		m, ok = reflect.PointerTo(t).MethodByName(name)
	}
	return m, ok
}

// declares reports whether a type declares a method itself. Reflection does not
// tell, but a promoted method has no source.
func declares(t reflect.Type, name string) bool {
	m, ok := methodOf(t, name)
	if !ok || t.Kind() != reflect.Struct {
		return ok
	}
	frames := runtime.CallersFrames([]uintptr{m.Func.Pointer() + 1})
	for { // the last frame is the method, earlier ones are inlined
		frame, more := frames.Next()
		if !more {
			return frame.File != "<autogenerated>"
		}
	}
}

// planPromoted plans a struct that is encoded and decoded by the methods of an embedded
// type: its JSON is that of the embedded type.
func (b *planner) planPromoted(p *plan, from reflect.Type, path string) error {
	o := b.o
	o.Form, o.Foreign, o.Name = false, false, ""
	c, err := newCodec(from, o)
	if err != nil {
		return typeError(path, "is written by the methods of %s, which it embeds: %v", from, err)
	}
	p.doc = c.Doc()
	return b.provide(p, path)
}

// writeStandard leaves encoding to encoding/json.
func writeStandard(_ *plan, w *writer, v reflect.Value) error {
	text, err := plainJSON(addressable(v).Addr().Interface())
	if err != nil {
		return &ValueError{Message: err.Error()}
	}
	return w.foreign(text)
}

// writeAny writes the dynamic value of an interface.
func writeAny(p *plan, w *writer, v reflect.Value) error {
	if v.IsNil() {
		return writeNull(p, w, v)
	}
	if raw, ok := reflect.TypeAssert[json.RawMessage](v.Elem()); ok {
		return w.foreign(raw)
	}
	return writeStandard(p, w, v.Elem())
}
