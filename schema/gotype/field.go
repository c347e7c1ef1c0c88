package gotype

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// planField is a field of a struct as a member of an object.
type planField struct {
	name     string // of the member
	index    []int  // of the field, through embedded structs
	plan     *plan
	quoted   bool                     // the tag option string: the value's JSON is encoded in a string
	omit     func(reflect.Value) bool // whether a value is left out; nil: none is
	optional bool                     // not required
	rules    *rules
	key      []byte // `"name":`
}

// candidate is a field that may become a member.
type candidate struct {
	name       string
	tagged     bool
	index      []int
	field      reflect.StructField
	viaPointer bool // inside an embedded pointer, which can be nil
	unsettable bool // inside a pointer to an unexported struct, which cannot be set
	owner      reflect.Type
}

// structure plans a struct as encoding/json sees it.
func (b *planner) structure(p *plan, path string) error {
	p.kind, p.write, p.shared = planStruct, writeStruct, p.typ.Name() != ""
	fields := b.members(p.typ)
	if len(fields) == 0 && p.typ.NumField() > 0 {
		return typeError(path, "no exported fields, so nothing of it would be written")
	}
	for _, c := range fields {
		f, err := b.field(c, path+"."+c.field.Name)
		if err != nil {
			return err
		}
		p.fields = append(p.fields, f)
		p.defaults = p.defaults || b.o.Arguments && f.rules.value != ""
	}
	return nil
}

func (b *planner) field(c *candidate, path string) (planField, error) {
	f := planField{name: c.name, index: c.index}
	if c.unsettable && b.o.Arguments {
		return f, typeError(path, "is in an embedded pointer to an unexported struct, which cannot be set")
	}
	if c.field.Anonymous && !c.field.IsExported() && has(c.field.Type, b.is.marshaler) {
		return f, typeError(path, "an unexported embedded type with methods for JSON cannot be written under a name")
	}
	var err error
	if f.plan, err = b.plan(c.field.Type, path); err != nil {
		return f, err
	}
	_, options, _ := strings.Cut(c.field.Tag.Get("json"), ",")
	var omits bool
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "string":
			f.quoted = quotable(f.plan)
		case "omitempty":
			if empty := emptyTest(c.field.Type); empty != nil {
				f.omit = orTest(f.omit, empty)
			}
			omits = true
		case "omitzero":
			f.omit = orTest(f.omit, b.zeroTest(c.field.Type))
			omits = true
		}
	}
	if f.rules, err = b.readRules(&f, c.field.Tag, path); err != nil {
		return f, err
	}
	if f.rules.doc == "" {
		f.rules.doc = b.docs(c.owner)[c.field.Name]
	}
	f.optional = f.omit != nil || c.viaPointer
	if b.o.Arguments {
		f.optional = omits || c.viaPointer || f.plan.nullable() || f.rules.value != "" || f.rules.optional
	}
	f.optional = f.optional && !f.rules.required
	f.key = append(rawjson.AppendString(nil, f.name), ':')
	return f, nil
}

// droppable reports whether a nil pointer is omitted instead of written as
// null.
func (f *planField) droppable() bool { return f.omit != nil && f.plan.kind == planNullable }

// quotable reports whether the tag option string applies to a type.
func quotable(p *plan) bool {
	if p.kind == planNullable && p.typ.Name() == "" {
		p = p.elem
	}
	return p.kind <= planString && (p.write != nil) && p.typ.Kind() != reflect.Struct
}

func orTest(a, b func(reflect.Value) bool) func(reflect.Value) bool {
	if a == nil {
		return b
	}
	return func(v reflect.Value) bool { return a(v) || b(v) }
}

// emptyTest returns the test of omitempty; nil: values of the type are never
// empty.
func emptyTest(t reflect.Type) func(reflect.Value) bool {
	switch t.Kind() { //nolint:exhaustive // all others are empty when they are zero
	case reflect.Map, reflect.Slice, reflect.String:
		return func(v reflect.Value) bool { return v.Len() == 0 }
	case reflect.Array:
		if t.Len() == 0 {
			return func(reflect.Value) bool { return true }
		}
		return nil
	case reflect.Struct, reflect.Func, reflect.Chan:
		return nil
	}
	return reflect.Value.IsZero
}

// zeroTest returns the test of omitzero.
func (b *planner) zeroTest(t reflect.Type) func(reflect.Value) bool {
	if !has(t, b.is.zeroer) {
		return reflect.Value.IsZero
	}
	nilable := t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface
	onValue := t.Implements(b.is.zeroer)
	return func(v reflect.Value) bool {
		if nilable && v.IsNil() {
			return true
		}
		if !onValue {
			v = addressable(v).Addr()
		}
		z, ok := reflect.TypeAssert[zeroer](v)
		return ok && z.IsZero()
	}
}

// members lists the fields of a struct that encoding/json writes: fields of
// embedded structs are promoted; of several with one name the least nested one
// wins, then the one with a tag; where none wins all are dropped.
func (b *planner) members(t reflect.Type) []*candidate {
	var found []*candidate
	visited := map[reflect.Type]bool{}
	for level := []embedded{{typ: t}}; len(level) > 0; {
		times := map[reflect.Type]int{}
		for _, e := range level {
			times[e.typ]++
		}
		var next []embedded
		for _, e := range level {
			if visited[e.typ] {
				continue
			}
			visited[e.typ] = true
			fields, inside := e.fields()
			found, next = append(found, fields...), append(next, inside...)
			if times[e.typ] > 1 { // twice on one level: its fields cancel each other
				found = append(found, fields...)
			}
		}
		level = next
	}
	return dominant(found)
}

// embedded is a struct whose fields are promoted to another.
type embedded struct {
	typ                    reflect.Type
	index                  []int
	viaPointer, unsettable bool // see candidate
}

// fields returns the fields of a struct, and the structs embedded in it.
func (e *embedded) fields() (fields []*candidate, inside []embedded) {
	for i := range e.typ.NumField() {
		sf := e.typ.Field(i)
		c, use, descend := candidateOf(sf)
		if !use {
			continue
		}
		c.index = append(slices.Clone(e.index), i)
		c.viaPointer, c.unsettable, c.owner = e.viaPointer, e.unsettable, e.typ
		if descend == nil {
			fields = append(fields, &c)
			continue
		}
		pointer := sf.Type.Kind() == reflect.Pointer
		inside = append(inside, embedded{descend, c.index, c.viaPointer || pointer, c.unsettable || pointer && !sf.IsExported()})
	}
	return fields, inside
}

// candidateOf examines one field. Descend is the embedded struct whose fields
// replace it.
func candidateOf(sf reflect.StructField) (c candidate, use bool, descend reflect.Type) {
	t := sf.Type
	if sf.Anonymous && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if !sf.IsExported() && (!sf.Anonymous || t.Kind() != reflect.Struct) {
		return c, false, nil
	}
	tag := sf.Tag.Get("json")
	if tag == "-" {
		return c, false, nil
	}
	name, _, _ := strings.Cut(tag, ",")
	if !legalMember(name) {
		name = ""
	}
	c = candidate{name: name, tagged: name != "", field: sf}
	if name == "" && sf.Anonymous && t.Kind() == reflect.Struct {
		return c, true, t
	}
	if name == "" {
		c.name = sf.Name
	}
	return c, true, nil
}

func legalMember(name string) bool {
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) {
			return false
		}
	}
	return name != ""
}

// dominant keeps the winning field of each name, in the order of declaration.
func dominant(found []*candidate) []*candidate {
	slices.SortStableFunc(found, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(len(a.index), len(b.index)), -cmp.Compare(boolToInt(a.tagged), boolToInt(b.tagged)))
	})
	var kept []*candidate
	for i := 0; i < len(found); {
		end := i + 1
		for end < len(found) && found[end].name == found[i].name {
			end++
		}
		if end == i+1 || len(found[i].index) != len(found[i+1].index) || found[i].tagged != found[i+1].tagged {
			kept = append(kept, found[i])
		}
		i = end
	}
	slices.SortFunc(kept, func(a, b *candidate) int { return slices.Compare(a.index, b.index) })
	return kept
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// flat checks that a plan can be a form: clients show fields of one level, for
// strings, numbers, booleans and choices.
func (p *plan) flat() error {
	if p.kind != planStruct {
		return typeError(p.typ.String(), "a form is a struct")
	}
	for i := range p.fields {
		f := &p.fields[i]
		field := target(f.plan)
		if field.kind == planList {
			field = target(field.elem)
			if field.enum == nil && (f.rules.each == nil || f.rules.each.enum == nil) {
				return typeError(p.typ.String()+"."+f.name, "a list in a form is a choice: its items need an enum")
			}
		}
		if field.kind > planString && field.kind != planTime && field.kind != planText || f.quoted {
			return typeError(p.typ.String()+"."+f.name, "not a field of a form: those are strings, numbers, booleans, enums and lists of enums")
		}
	}
	return nil
}
