package gotype

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
)

// Union has the member types of an interface. It is made by [UnionOf].
type Union struct {
	typ   reflect.Type
	tag   string
	names []string // of the members, sorted
	types []reflect.Type

	pointers []bool // whether a pointer to the type was given: arguments are read as that
}

// UnionOf defines the schema of an interface: its values are the objects of the
// member types, each with one more member, the tag, whose value is the type's
// key in the map. The members are structs or pointers to structs; only the
// types of the values given here matter. Both are encoded; an argument is
// decoded as the given type.
func UnionOf[I any](tag string, members map[string]I) Union {
	u := Union{typ: reflect.TypeFor[I](), tag: tag}
	for name := range members {
		u.names = append(u.names, name)
	}
	slices.Sort(u.names)
	for _, name := range u.names {
		t := reflect.TypeOf(members[name])
		u.types = append(u.types, plainType(t))
		u.pointers = append(u.pointers, t != nil && t.Kind() == reflect.Pointer)
	}
	return u
}

// plainType returns what a pointer points to.
func plainType(t reflect.Type) reflect.Type {
	if t != nil && t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// interfaced plans an interface.
func (b *planner) interfaced(p *plan, path string) error {
	i := slices.IndexFunc(b.o.Unions, func(u Union) bool { return u.typ == p.typ })
	if i < 0 && p.typ.NumMethod() == 0 { // encoding/json writes the dynamic value
		p.kind, p.write = planRaw, writeAny
		return nil
	}
	if i < 0 {
		return typeError(path, "%s is an interface with methods, so its JSON is unknown: register its types with gotype.UnionOf in gofunc.Options.Unions, or its schema with gotype.Of in gofunc.Options.Types", p.typ)
	}
	p.kind, p.write, p.union, p.shared = planUnion, writeUnion, &b.o.Unions[i], p.label != ""
	for i, t := range p.union.types {
		name := p.union.names[i]
		if t == nil {
			return typeError(path, "the member %q of the union is nil", name)
		}
		member, err := b.plan(t, path+"("+t.String()+")")
		if err != nil {
			return err
		}
		if member.kind != planStruct {
			return typeError(path, "the member %q of the union is not a struct", name)
		}
		if slices.ContainsFunc(member.fields, func(f planField) bool { return f.name == p.union.tag }) {
			return typeError(path, "the member %q of the union has a field %q itself, which is the union's tag", name, p.union.tag)
		}
		p.of = append(p.of, member)
	}
	if len(p.of) == 0 {
		return typeError(path, "the union of %s has no members", p.typ)
	}
	return nil
}

// members writes the schemas of a union's members.
func (d *describer) members(p *plan) string {
	dst := []byte{'['}
	for i, member := range p.of {
		if i > 0 {
			dst = append(dst, ',')
		}
		tag := keywords{{"const", quote(p.union.names[i])}}
		if title := d.title(memberTitle(p.union.tag)); title != "" {
			tag.set("title", quote(title))
		}
		tag.set("type", `"string"`)
		var k keywords
		d.object(&k, member, &keywordText{p.union.tag, tag.text()})
		if title := d.title(member.label); title != "" {
			k.set("title", quote(title))
		}
		dst = append(dst, k.text()...)
	}
	return string(append(dst, ']'))
}

// writeUnion writes the interface's value, its tag first.
func writeUnion(p *plan, w *writer, v reflect.Value) error {
	inside := v.Elem()
	for inside.IsValid() && inside.Kind() == reflect.Pointer {
		inside = inside.Elem()
	}
	if !inside.IsValid() {
		return &ValueError{Message: "nil where a " + p.typ.String() + " is required"}
	}
	i := slices.Index(p.union.types, inside.Type())
	if i < 0 {
		return &ValueError{Message: inside.Type().String() + " is not registered for the union of " + p.typ.String()}
	}
	tag := append([]byte(quote(p.union.tag)), ':')
	tag = append(tag, quote(p.union.names[i])...)
	return writeMembers(p.of[i], w, addressable(inside), tag)
}

// enumerate calls a type's EnumValues.
func (b *planner) enumerate(p *plan, path string) error {
	if p.label == "" || p.kind == planUnion {
		return nil
	}
	method := reflect.New(p.typ).MethodByName(enumMethod)
	if !method.IsValid() || method.Type().NumIn() != 0 || method.Type().NumOut() != 1 || method.Type().Out(0) != reflect.SliceOf(p.typ) {
		return nil
	}
	values := method.Call(nil)[0]
	for i := range values.Len() {
		text, err := p.enumText(values.Index(i))
		if err != nil {
			return typeError(path, "%s: %v", enumMethod, err)
		}
		p.enum = append(p.enum, text)
	}
	if len(p.enum) == 0 {
		return typeError(path, "%s lists no values", enumMethod)
	}
	p.shared = true
	return nil
}

// plainJSON is encoding/json without the escapes for HTML.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// enumText encodes a value of an enum as JSON, as the key of a map where p is
// one.
func (p *plan) enumText(v reflect.Value) (string, error) {
	if p.write == nil { // keys are not written on their own
		name, err := keyText(p, v)
		return quote(name), err
	}
	text, err := plainJSON(v.Interface())
	return string(text), err
}
