package typedecl

import (
	"slices"
)

// Bounds of what is written out where schemas apply together.
const (
	maxProduct = 64   // alternatives
	maxWritten = 2000 // members, of all alternatives together
	maxExpand  = 16   // named types within each other
	maxMeets   = 1e6  // of a whole set
)

// meet is the type of the values that belong to both types, or a larger one
// where that cannot be written.
func (b *builder) meet(x, y *Type) *Type {
	switch {
	case x.isWhole():
		return y
	case y.isWhole():
		return x
	case x.isNever() || y.isNever():
		return &Type{notes: slices.Concat(x.notes, y.notes)}
	}
	t := &Type{notes: slices.Concat(x.notes, y.notes)}
	if b.meets++; b.meets > maxMeets {
		t.alts = x.alts
		return t
	}
	if len(x.alts)*len(y.alts) > 1 && (len(x.alts)*len(y.alts) > maxProduct || size(x)*len(y.alts)+size(y)*len(x.alts) > maxWritten) {
		t.alts = []alternative{{form: bothForm, parts: []*Type{{alts: x.alts}, {alts: y.alts}}}}
		return t
	}
	for i := range x.alts {
		for k := range y.alts {
			for _, a := range b.meetOne(x.alts[i], y.alts[k], 0) {
				t.alts = appendAlternative(t.alts, a)
			}
		}
	}
	return t
}

// size is how many members a type writes out itself.
func size(t *Type) (n int) {
	for _, a := range t.alts {
		if a.object != nil {
			n += len(a.object.members)
		}
		for _, p := range a.parts {
			n += size(p)
		}
	}
	return n
}

// meetOne is meet for alternatives.
func (b *builder) meetOne(x, y alternative, depth int) []alternative {
	if x.form > y.form {
		x, y = y, x
	}
	switch {
	case y.form == bothForm:
		return []alternative{b.join(x, y)}
	case y.form == namedForm:
		return b.meetNamed(x, y, depth)
	case x.form == anyForm:
		return b.meetAny(x, y)
	case includes(&y, &x):
		return []alternative{x}
	case includes(&x, &y):
		return []alternative{y}
	case x.form == arrayForm && y.form == arrayForm:
		if a, ok := b.meetArrays(x.array, y.array); ok {
			return []alternative{{form: arrayForm, array: a}}
		}
	case x.form == objectForm && y.form == objectForm:
		if o, ok := b.meetObjects(x.object, y.object); ok {
			return []alternative{{form: objectForm, object: o}}
		}
	}
	return nil
}

// meetAny joins what binds only arrays and objects with another alternative.
func (b *builder) meetAny(x, y alternative) []alternative {
	switch {
	case y.form == anyForm:
		if x.array == nil {
			x.array = y.array
		} else if y.array != nil {
			a, ok := b.meetArrays(x.array, y.array)
			if !ok {
				a = &arrayType{} // only the empty list
			}
			x.array = a
		}
		if x.object == nil {
			x.object = y.object
		} else if y.object != nil {
			o, ok := b.meetObjects(x.object, y.object)
			if !ok {
				return []alternative{{form: anyForm}} // no object at all, which no type says
			}
			x.object = o
		}
		return []alternative{x}
	case y.form == arrayForm && x.array != nil:
		if a, ok := b.meetArrays(x.array, y.array); ok {
			return []alternative{{form: arrayForm, array: a}}
		}
		return nil
	case y.form == objectForm && x.object != nil:
		if o, ok := b.meetObjects(y.object, x.object); ok { // in this order: branches add to what all have
			return []alternative{{form: objectForm, object: o}}
		}
		return nil
	}
	return []alternative{y}
}

// meetNamed joins a named type with another alternative. The name is kept where
// that is possible.
func (b *builder) meetNamed(x, y alternative, depth int) []alternative {
	if x.form == anyForm && !x.binds() || x.form == namedForm && x.named == y.named {
		return []alternative{y}
	}
	t := b.typeOf(y.named)
	if t == nil || depth > maxExpand { // it refers to itself
		return []alternative{b.join(x, y)}
	}
	if x.form == namedForm {
		other := b.typeOf(x.named)
		pair := [2]*named{x.named, y.named}
		if other == nil || b.meeting[pair] || b.onlyObjects(t, 0) && b.onlyObjects(other, 0) {
			return []alternative{b.join(x, y)}
		}
		b.meeting[pair] = true
		defer delete(b.meeting, pair)
	}
	if x.object != nil && b.onlyObjects(t, 0) {
		if x.object.isPlain() {
			return []alternative{y}
		}
		return []alternative{b.join(alternative{form: objectForm, object: x.object}, y)}
	}
	return b.meetEach(x, y, t.alts, depth)
}

// meetEach joins an alternative with those of a named type.
func (b *builder) meetEach(x, named alternative, of []alternative, depth int) []alternative {
	var all []alternative
	kept := true
	for _, a := range of {
		met := b.meetOne(x, a, depth+1)
		kept = kept && len(met) == 1 && includes(&met[0], &a)
		for _, m := range met {
			all = appendAlternative(all, m)
		}
	}
	if kept {
		return []alternative{named}
	}
	return all
}

// join makes an alternative of the values that belong to both.
func (b *builder) join(x, y alternative) alternative {
	if x.form == anyForm {
		return y
	}
	joined := alternative{form: bothForm}
	for _, p := range append(partsOf(x), partsOf(y)...) {
		if !b.joinPart(joined.parts, p) {
			joined.parts = append(joined.parts, p)
		}
	}
	if len(joined.parts) == 1 {
		if a, ok := joined.parts[0].only(); ok {
			return a
		}
	}
	return joined
}

// partsOf are the types to which all values of an alternative belong.
func partsOf(a alternative) []*Type {
	if a.form == bothForm {
		return slices.Clone(a.parts)
	}
	return []*Type{of(a)}
}

// joinPart joins p with one of the parts: named types are mentioned once, objects are
// made one. It is false where p is a part of its own.
func (b *builder) joinPart(parts []*Type, p *Type) bool {
	a, single := p.only()
	for i, q := range parts {
		known, same := q.only()
		switch {
		case !single || !same || known.form != a.form:
		case a.form == namedForm && known.named == a.named:
			return true
		case a.form == objectForm:
			parts[i] = nothing()
			if o, ok := b.meetObjects(known.object, a.object); ok {
				parts[i] = of(alternative{form: objectForm, object: o})
			}
			return true
		}
	}
	return false
}

// onlyObjects reports whether a type is known to have nothing but objects.
func (b *builder) onlyObjects(t *Type, depth int) bool {
	if t.isNever() || depth > maxExpand {
		return false
	}
	for _, a := range t.alts {
		switch a.form {
		case objectForm:
		case namedForm:
			n := b.typeOf(a.named)
			if n == nil || !b.onlyObjects(n, depth+1) {
				return false
			}
		case bothForm:
			if !slices.ContainsFunc(a.parts, func(p *Type) bool { return b.onlyObjects(p, depth+1) }) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func (b *builder) meetArrays(x, y *arrayType) (*arrayType, bool) {
	z := &arrayType{min: max(x.min, y.min)}
	for i := range max(len(x.prefix), len(y.prefix)) {
		p, q := x.at(i), y.at(i)
		if p == nil || q == nil { // one of them ends here
			return z, i >= z.min
		}
		z.prefix = append(z.prefix, b.meet(p, q))
	}
	if x.rest != nil && y.rest != nil {
		z.rest = b.meet(x.rest, y.rest)
	}
	return z, true
}

// at is the type of an element; nil: there is none.
func (a *arrayType) at(i int) *Type {
	if i < len(a.prefix) {
		return a.prefix[i]
	}
	return a.rest
}

// meetObjects is false where no object belongs to both.
func (b *builder) meetObjects(x, y *objectType) (*objectType, bool) {
	z := &objectType{closed: x.closed || y.closed}
	switch {
	case z.closed:
	case x.index == nil:
		z.index = y.index
	case y.index == nil:
		z.index = x.index
	default:
		z.index = b.meet(x.index, y.index)
	}
	known := make(map[string]int, len(y.members))
	for i, m := range y.members {
		known[m.name] = i
	}
	for _, m := range x.members {
		if i, ok := known[m.name]; ok {
			other := y.members[i]
			m.typ, m.required = b.meet(m.typ, other.typ), m.required || other.required
			m.docs = slices.Concat(m.docs, other.docs)
			delete(known, m.name)
		} else {
			m.typ = b.beside(m.typ, y)
		}
		z.members = append(z.members, m)
	}
	for _, m := range y.members {
		if _, alone := known[m.name]; alone {
			m.typ = b.beside(m.typ, x)
			z.members = append(z.members, m)
		}
	}
	for _, m := range z.members {
		if m.required && m.typ.isNever() {
			return nil, false
		}
	}
	return z, true
}

// beside is the type of a member that the object o does not declare.
func (b *builder) beside(t *Type, o *objectType) *Type {
	switch {
	case o.closed:
		return nothing()
	case o.index != nil:
		return b.meet(t, o.index)
	}
	return t
}
