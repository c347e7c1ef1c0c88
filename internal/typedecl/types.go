package typedecl

import (
	"bytes"
	"slices"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Type is a set of JSON values: the union of its alternatives. Without any it is
// empty. Types are shared and must not be changed once they are built.
type Type struct {
	alts  []alternative
	notes []string // what could not be read, for people
}

// form is what an alternative is.
type form uint8

const (
	anyForm form = iota // every value; array and object bind only arrays and objects
	nullForm
	boolForm
	integerForm
	numberForm
	stringForm
	literalForm
	arrayForm
	objectForm
	namedForm
	bothForm
)

// alternative is one member of a union.
type alternative struct {
	form   form
	text   string      // literalForm: a scalar as JSON
	array  *arrayType  // arrayForm, anyForm
	object *objectType // objectForm, anyForm
	named  *named      // namedForm
	parts  []*Type     // bothForm: values that belong to all of them
}

// arrayType is a list: its first elements, at least min, then any number of rest.
type arrayType struct {
	prefix []*Type
	min    int
	rest   *Type // nil: nothing follows the prefix
}

// objectType is an object. Members that are not declared are of type index, if
// there is one, absent if the object is closed, and else unknown.
type objectType struct {
	members []member
	index   *Type
	closed  bool
}

type member struct {
	name     string
	typ      *Type
	required bool
	docs     []rawjson.Node // the schemas that describe it
}

// named is a type that references name.
type named struct {
	wish  string // its name in the schema
	node  rawjson.Node
	typ   *Type // nil: not built yet
	doing bool  // it is being built
}

// anything is the type of every value, nothing that of none.
func anything() *Type { return of(alternative{form: anyForm}) }
func nothing() *Type  { return &Type{} }

func of(a ...alternative) *Type { return &Type{alts: a} }

// unknown is every value, for a reason that people are told.
func unknown(why string) *Type { return &Type{alts: anything().alts, notes: []string{why}} }

func (t *Type) isNever() bool { return len(t.alts) == 0 }

// isWhole reports whether nothing at all was said of the type.
func (t *Type) isWhole() bool {
	a, ok := t.only()
	return ok && a.form == anyForm && !a.binds() && t.notes == nil
}

// isAny reports whether a language can say nothing about the type.
func (t *Type) isAny() bool {
	return slices.ContainsFunc(t.alts, func(a alternative) bool { return a.form == anyForm })
}

// only returns the alternative of a type that has one.
func (t *Type) only() (a alternative, ok bool) {
	if len(t.alts) != 1 {
		return alternative{}, false
	}
	return t.alts[0], true
}

// binds reports whether an alternative of any value says something of some.
func (a *alternative) binds() bool { return a.array != nil || a.object != nil }

// isPlain reports whether an object type accepts all objects.
func (o *objectType) isPlain() bool { return len(o.members) == 0 && o.index == nil && !o.closed }

func (o *objectType) find(name string) int {
	return slices.IndexFunc(o.members, func(m member) bool { return m.name == name })
}

// union joins types; what is said twice is left out.
func union(types ...*Type) *Type {
	if len(types) == 1 {
		return types[0]
	}
	u := &Type{}
	for _, t := range types {
		u.notes = append(u.notes, t.notes...)
		for _, a := range t.alts {
			u.alts = appendAlternative(u.alts, a)
		}
	}
	if slices.ContainsFunc(u.alts, func(a alternative) bool { return a.form == anyForm && !a.binds() }) {
		u.alts = anything().alts
	}
	return u
}

func appendAlternative(all []alternative, a alternative) []alternative {
	for i := range all {
		if includes(&all[i], &a) {
			return all
		}
	}
	all = slices.DeleteFunc(all, func(b alternative) bool { return includes(&a, &b) })
	return append(all, a)
}

// includes reports whether each value of b is one of a. It does not look into
// lists and objects.
func includes(a, b *alternative) bool {
	switch b.form {
	case literalForm:
		return a.form == literalForm && sameScalar(a.text, b.text) || a.form == formOf(b.text) || a.form == numberForm && formOf(b.text) == integerForm
	case integerForm:
		return a.form == integerForm || a.form == numberForm
	case nullForm, boolForm, numberForm, stringForm:
		return a.form == b.form
	case namedForm:
		return a.form == namedForm && a.named == b.named
	case objectForm:
		return a.form == objectForm && (a.object == b.object || a.object.isPlain())
	case arrayForm:
		return a.form == arrayForm && a.array == b.array
	case anyForm, bothForm:
	}
	return false
}

// formOf is the form of a scalar.
func formOf(text string) form {
	switch rawjson.KindOf(text[0]) {
	case rawjson.IsNull:
		return nullForm
	case rawjson.IsBool:
		return boolForm
	case rawjson.IsString:
		return stringForm
	}
	if d := rawjson.ParseDecimal([]byte(text)); d.IsInteger() {
		return integerForm
	}
	return numberForm
}

func sameScalar(a, b string) bool {
	return a == b || bytes.Equal(rawjson.AppendEqualityKey(nil, []byte(a)), rawjson.AppendEqualityKey(nil, []byte(b)))
}
