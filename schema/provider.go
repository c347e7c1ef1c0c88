package schema

import (
	"encoding"
	"encoding/json"
	"math/big"
	"net/url"
	"reflect"
	"time"
)

// Provider is a type that knows its own schema. A type with a MarshalJSON
// method of its own must be one or be registered with [Of], because
// nothing else tells what it writes.
type Provider interface {
	// JSONSchema returns a schema document that stands alone: its references
	// are "#/$defs/…". It is called on the zero value.
	JSONSchema() []byte
}

// Besides Provider, a defined type may have a method
//
//	func (T) EnumValues() []T
//
// which lists all the values that it has. They become its enum.
const enumMethod = "EnumValues"

// interfaces that decide how a type is written or read.
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

// zeroer is what the tag option omitzero asks.
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
