package gotype

import (
	"reflect"
	"strings"

	"github.com/tenon-mcp/tenon/schema"
)

// planKind is the JSON form of a type.
type planKind uint8

const (
	planBool planKind = iota
	planInt
	planFloat
	planString
	planBytes    // base64
	planTime     // RFC 3339
	planText     // what MarshalText writes
	planRaw      // any JSON
	planNull     // struct{} as the result of a function
	planProvided // what the type's Provider says
	planList     // slice, iter.Seq
	planArray
	planMap
	planStruct
	planNullable // pointer
	planOptional // Optional
	planJSON     // JSON
	planOneOf    // OneOf2, OneOf3
	planTuple    // Tuple2, Tuple3
	planUnion    // interface with known member types
)

// plan describes the JSON of one Go type, and how it is written.
type plan struct {
	kind      planKind
	typ       reflect.Type
	label     string           // the type's name, for definitions and titles; empty: it has none
	shared    bool             // a definition in $defs where it is inside another type
	building  bool             // under construction: a reference to it is recursive
	note      string           // appended to the description
	comment   string           // of the type's declaration: the default description
	key, elem *plan            // key of maps; element of lists, maps and wrappers
	length    int              // of arrays
	of        []*plan          // members of OneOf, tuples and unions
	fits      []*schema.Schema // of OneOf in arguments: the schemas of its members
	union     *Union           // of planUnion
	fields    []planField      // of structs, in the order of their declaration
	defaults  bool             // some field has a default
	doc       []byte           // of planProvided
	enum      []string         // all values, as JSON; nil: not an enum
	write     func(p *plan, w *writer, v reflect.Value) error
}

// value returns p without the JSON wrapper.
func (p *plan) value() *plan {
	for p.kind == planJSON {
		p = p.elem
	}
	return p
}

// nullable reports whether null is one of the values, beside those of elem.
func (p *plan) nullable() bool { return p.kind == planNullable || p.kind == planOptional }

// planner makes the plans of one type and all types inside it.
type planner struct {
	o         ForOptions
	is        interfaces
	named     map[reflect.Type]*plan // named types: only they can be recursive
	provided  []*plan                // kind planProvided
	valued    []valued               // fields whose tags contain values
	described map[reflect.Type]map[string]string
	choices   []*plan // kind planOneOf, of arguments
}

// root plans the type given to For.
func (b *planner) root(t reflect.Type) (*plan, error) {
	if b.o.Arguments {
		for t.Kind() == reflect.Pointer && t.Name() == "" {
			t = t.Elem()
		}
	}
	if !b.o.Arguments && t == reflect.TypeFor[struct{}]() {
		return &plan{kind: planNull, typ: t, write: writeNull}, nil
	}
	return b.plan(t, t.String())
}

// plan plans a type at a path.
func (b *planner) plan(t reflect.Type, path string) (*plan, error) {
	if g, ok := b.genericOf(t); ok {
		p := &plan{typ: t}
		return p, b.generic(p, g, path)
	}
	if t.Name() == "" {
		return b.make(&plan{typ: t}, path)
	}
	if known := b.named[t]; known != nil {
		known.shared = known.shared || known.building
		return known, nil
	}
	p := &plan{typ: t, label: typeLabel(t), building: true}
	b.named[t] = p
	made, err := b.make(p, path)
	if err != nil {
		return nil, err
	}
	made.building = false
	made.comment = b.docs(t)[""]
	if made != p { // an existing plan: nothing refers to p
		b.named[t] = made
	}
	return made, nil
}

// make fills in p, or returns another plan for its type.
func (b *planner) make(p *plan, path string) (*plan, error) {
	t := p.typ
	if b.o.Refuse != nil {
		if why := b.o.Refuse(t); why != "" {
			return nil, typeError(path, "%s", why)
		}
	}
	if p.doc = b.registered(t); p.doc != nil {
		return p, b.provide(p, path)
	}
	if known := wellKnown(t); known != nil {
		return known, nil
	}
	if t.Kind() != reflect.Pointer && has(t, b.is.provider) {
		p.doc = providedBy(t)
		return p, b.provide(p, path)
	}
	if doc := b.common(t); doc != "" {
		p.doc = []byte(doc)
		return p, b.provide(p, path)
	}
	if err := b.written(p, path); err != nil {
		return nil, err
	}
	return p, b.enumerate(p, path)
}

// written plans a type by its methods and its kind.
func (b *planner) written(p *plan, path string) error {
	t := p.typ
	custom, asText, verb := b.is.marshaler, b.is.textMarshaler, "MarshalJSON"
	if b.o.Arguments {
		custom, asText, verb = b.is.unmarshaler, b.is.textUnmarshaler, "UnmarshalJSON"
	}
	switch {
	case t.Kind() == reflect.Pointer:
	case has(t, custom):
		if from := promoted(t, verb); from != nil {
			return b.planPromoted(p, from, path)
		}
		return typeError(path, "a method %s hides what its JSON is: register it with gotype.Of in gofunc.Options.Types, or give %s a method JSONSchema, see gotype.Provider", verb, t)
	case has(t, asText):
		p.kind, p.write = planText, writeText
		return nil
	}
	return b.byKind(p, path)
}

func (b *planner) byKind(p *plan, path string) error {
	switch t := p.typ; t.Kind() {
	case reflect.Bool:
		p.kind, p.write = planBool, writeBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		p.kind, p.write = planInt, writeInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		p.kind, p.write = planInt, writeUint
	case reflect.Float32, reflect.Float64:
		p.kind, p.write = planFloat, writeFloat
	case reflect.String:
		p.kind, p.write = planString, writeString
	case reflect.Interface:
		return b.interfaced(p, path)
	case reflect.Pointer:
		p.kind, p.write = planNullable, writePointer
		return b.inside(p, t.Elem(), path)
	case reflect.Slice:
		if e := t.Elem(); e.Kind() == reflect.Uint8 && !has(e, b.is.marshaler) && !has(e, b.is.textMarshaler) {
			p.kind, p.write = planBytes, writeBytes
			return nil
		}
		p.kind, p.write = planList, writeList
		return b.inside(p, t.Elem(), path+"[]")
	case reflect.Array:
		p.kind, p.write, p.length = planArray, writeList, t.Len()
		return b.inside(p, t.Elem(), path+"[]")
	case reflect.Map:
		return b.mapped(p, path)
	case reflect.Struct:
		return b.structure(p, path)
	case reflect.Func:
		if t.CanSeq() && !b.o.Arguments {
			p.kind, p.write = planList, writeSeq
			return b.inside(p, t.In(0).In(0), path+"[]")
		}
		return typeError(path, "a function has no JSON")
	default:
		return typeError(path, "a %s has no JSON", t.Kind())
	}
	return nil
}

// inside plans the element of p.
func (b *planner) inside(p *plan, t reflect.Type, path string) (err error) {
	p.elem, err = b.plan(t, path)
	return err
}

func (b *planner) mapped(p *plan, path string) error {
	p.kind, p.write = planMap, writeMap
	t := p.typ.Key()
	p.key = &plan{kind: planInt, typ: t, label: t.Name()}
	switch kind := t.Kind(); { // in the order of encoding/json, which does not call methods of a pointer to a key
	case kind == reflect.String && !b.o.Arguments:
		p.key.kind = planString
	case !b.o.Arguments && t.Implements(b.is.textMarshaler), b.o.Arguments && reflect.PointerTo(t).Implements(b.is.textUnmarshaler):
		p.key.kind = planText
	case kind == reflect.String:
		p.key.kind = planString
	case kind < reflect.Int || kind > reflect.Uintptr:
		return typeError(path, "a key of %s has no JSON", t)
	}
	if p.key.kind != planText || has(t, b.is.textMarshaler) {
		if err := b.enumerate(p.key, path+"[key]"); err != nil {
			return err
		}
	}
	return b.inside(p, p.typ.Elem(), path+"[]")
}

// genericOf returns a value of t if t is one of the generic types of this
// package. They have no plan to share: only their type arguments can be
// recursive.
func (b *planner) genericOf(t reflect.Type) (generic, bool) {
	if t.Kind() != reflect.Struct || t.PkgPath() != reflect.TypeFor[plan]().PkgPath() || !t.Implements(b.is.generic) {
		return nil, false
	}
	g, ok := reflect.TypeAssert[generic](reflect.Zero(t))
	return g, ok
}

func (b *planner) generic(p *plan, g generic, path string) error {
	kind, of := g.parts()
	p.kind = kind
	for i, t := range of {
		at := path
		if kind == planTuple {
			at += "." + string(rune('A'+i))
		}
		part, err := b.plan(t, at)
		if err != nil {
			return err
		}
		p.of = append(p.of, part)
	}
	switch kind {
	case planTuple:
		p.write = writeTuple
	case planOneOf:
		p.write = writeOneOf
		if b.o.Arguments {
			b.choices = append(b.choices, p)
		}
	case planOptional:
		p.write, p.elem = writeOptional, p.of[0]
	default:
		p.write, p.elem = writeJSON, p.of[0]
	}
	return nil
}

// provide uses the schema that the type provides or that is registered for it.
func (b *planner) provide(p *plan, path string) error {
	p.kind = planProvided
	if _, err := schema.Compile(p.doc, schema.Options{}); err != nil {
		return typeError(path, "the schema that %s provides, or that is registered for it, does not compile: %v", p.typ, err)
	}
	if b.o.Arguments && p.typ.Kind() == reflect.Interface && p.typ.NumMethod() > 0 {
		return typeError(path, "%s is an interface with methods: nothing can be read into it", p.typ)
	}
	b.provided = append(b.provided, p)
	switch {
	case has(p.typ, b.is.marshaler):
		p.write = writeMarshaler
	case has(p.typ, b.is.textMarshaler):
		p.write = writeText
	case !b.o.Arguments:
		plain := &plan{typ: p.typ}
		if err := b.byKind(plain, path); err == nil {
			p.elem, p.write = plain, writeElem
		} else if b.registered(p.typ) != nil {
			p.write = writeStandard
		} else {
			return err
		}
	}
	return nil
}

// providedBy calls JSONSchema on the zero value of a type; nil where that
// panics: a method of an embedded nil pointer may.
func providedBy(t reflect.Type) (doc []byte) {
	defer func() {
		if recover() != nil {
			doc = nil
		}
	}()
	if provider, ok := reflect.TypeAssert[Provider](reflect.New(t)); ok {
		return provider.JSONSchema()
	}
	return nil
}

// typeLabel derives a name for people and for $defs from a type's name: without
// the paths of packages, Page[example.org/x.Item] is Page_Item.
func typeLabel(t reflect.Type) string {
	name := t.Name()
	if !strings.ContainsFunc(name, func(r rune) bool { return !labelRune(r) }) {
		return name
	}
	words := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("[],* {};", r) })
	for i, w := range words {
		w = w[strings.LastIndexAny(w, "./")+1:]
		if dot := strings.IndexRune(w, '·'); dot >= 0 { // a type that is local to a function
			w = w[:dot]
		}
		words[i] = strings.Map(func(r rune) rune {
			if labelRune(r) {
				return r
			}
			return '_'
		}, w)
	}
	return strings.Join(words, "_")
}

func labelRune(r rune) bool {
	return r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
}
