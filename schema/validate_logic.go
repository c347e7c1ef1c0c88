package schema

import (
	"slices"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// logic applies the schemas for the same value, which begins at start. Read
// reports that the value was already read to its end.
func (r *validation) logic(l *logicRules, start int, read bool) bool {
	end := -1
	if read {
		end = r.I
	}
	ok := true
	for step := range 4 {
		if !r.logicStep(l, step, start) {
			if r.fatal() {
				return false
			}
			ok = false
		}
		end = max(end, r.I)
	}
	if end == start { // nothing read it
		r.I = start
		return r.plain(rawjson.KindOf(r.B[start]), nil) && ok
	}
	r.I = end
	return ok
}

// logicStep leaves the position at the end of the value, or at its start if it
// did not read all of it.
func (r *validation) logicStep(l *logicRules, step, start int) bool {
	r.I = start
	switch step {
	case 0:
		return r.allOf(l.all, start)
	case 1:
		return r.anyOf(l, start)
	case 2:
		return r.oneOf(l, start)
	}
	return r.condition(l, start)
}

// try reports whether a schema matches, without recording violations, and
// whether that is unknown. The position is after the value if it may match.
func (r *validation) try(n *node, start int) (ok, open bool) {
	collect, before, depth, frames, keys, seen := r.collect, r.open, r.Depth, r.frames, len(r.keys), len(r.seen)
	r.collect, r.open = false, false
	r.I = start
	ok = r.value(n)
	open = r.open && ok
	r.collect, r.open = collect, before
	if !ok {
		r.Depth, r.frames, r.keys, r.seen = depth, frames, r.keys[:keys], r.seen[:seen]
		r.I = start
	}
	return ok, open
}

func (r *validation) allOf(list []*node, start int) bool {
	ok := true
	for _, n := range list {
		r.I = start
		if !r.value(n) {
			if r.fatal() {
				return false
			}
			ok = false
		}
	}
	return ok
}

func (r *validation) anyOf(l *logicRules, start int) bool {
	ok := true
	for _, list := range l.any {
		if !r.someOf(list, start) {
			if r.fatal() {
				return false
			}
			ok = r.allOf(r.relevantBranches(r.selectedBranch(l.discriminator.any(), list, start), start), start) && ok // none matches: record the violations of each
		}
	}
	return ok
}

func (r *validation) someOf(list []*node, start int) bool {
	end, perhaps := start, false
	for _, n := range list {
		ok, open := r.try(n, start)
		switch {
		case ok && !open:
			return true
		case ok:
			end, perhaps = r.I, true
		}
		if r.Stop != 0 {
			return false
		}
	}
	if perhaps {
		r.I = end
		r.noteOpen(start, "anyOf", dependsOnPattern)
	}
	return perhaps
}

func (r *validation) oneOf(l *logicRules, start int) bool {
	list := l.one
	fit, perhaps, end := 0, 0, start
	for _, n := range list {
		ok, open := r.try(n, start)
		switch {
		case ok && open:
			perhaps++
			end = r.I
		case ok:
			fit++
			end = r.I
		}
		if r.Stop != 0 {
			return false
		}
		if fit == 2 {
			break
		}
	}
	r.I = end
	switch {
	case fit < 2 && perhaps > 0:
		r.noteOpen(start, "oneOf", dependsOnPattern)
		return true
	case len(list) == 0 || fit == 1:
		return true
	case fit == 2:
		return r.note(start, "oneOf", "exactly one matching schema under oneOf")
	case r.fatal():
		return false
	}
	return r.allOf(r.relevantBranches(r.selectedBranch(l.discriminator.one(), list, start), start), start)
}

// relevantBranches returns the branches of a union whose violations are relevant: not
// one for null alone where another accepts values of this type.
func (r *validation) relevantBranches(list []*node, start int) []*node {
	kind := rawjson.KindOf(r.B[start])
	if kind == rawjson.IsNull || !slices.ContainsFunc(list, func(n *node) bool { return n.admits()&kind != 0 }) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(n *node) bool { return n.admits() == rawjson.IsNull })
}

// admits returns the types of valid values.
func (n *node) admits() rawjson.Types {
	for n != nil && n.alias != nil {
		n = n.alias
	}
	if n == nil {
		return rawjson.IsAny
	}
	return n.accepts
}

// condition checks not, and if with then and else.
func (r *validation) condition(l *logicRules, start int) bool {
	ok := true
	if l.hasNot {
		switch fits, open := r.try(l.not, start); {
		case fits && open:
			r.noteOpen(start, "not", dependsOnPattern)
		case fits:
			ok = r.note(start, "not", "a value that does not match the schema under not")
		}
		if r.Stop != 0 || !ok && r.fatal() {
			return false
		}
		r.I = start
	}
	if !l.hasIf {
		return ok
	}
	branch := l.then
	fits, open := r.try(l.cond, start)
	if !fits {
		branch = l.alt
	}
	if r.Stop != 0 {
		return false
	}
	if open {
		return r.thenOrElse(l, start) && ok
	}
	if branch != nil {
		r.I = start
		ok = r.value(branch) && ok
	}
	return ok
}

// thenOrElse checks then and else where it is unknown which of them applies.
func (r *validation) thenOrElse(l *logicRules, start int) bool {
	then, perhapsThen := r.try(l.then, start)
	alt, perhapsAlt := r.try(l.alt, start)
	switch {
	case r.Stop != 0:
		return false
	case !then && !alt:
		r.I = start
		return r.value(l.then) // and records the violations
	case !then || !alt || perhapsThen || perhapsAlt:
		r.noteOpen(start, "if", dependsOnPattern)
	}
	r.I = start
	return r.plain(rawjson.KindOf(r.B[start]), nil)
}
