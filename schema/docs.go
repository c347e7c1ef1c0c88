package schema

import "reflect"

// Docs are descriptions for the schema of T: of its fields by their names in
// Go, of T itself under the empty name. A type has them by a method
//
//	func (T) DocComments() Docs[T]
//
// which the command tenon doc-comments writes, because a running program
// cannot see its comments. The tag doc of a field goes before.
type Docs[T any] map[string]string

func (Docs[T]) docs() (of reflect.Type) { return reflect.TypeFor[T]() }

const docsMethod = "DocComments"

// docs answers the descriptions that t itself brings.
func (b *planner) docs(t reflect.Type) map[string]string {
	known, ok := b.described[t]
	if !ok {
		known = docsOf(t)
		b.described[t] = known
	}
	return known
}

// docsOf asks a type. A method of a type that it embeds does not count.
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
