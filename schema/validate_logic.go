package schema

import "slices"

// logic applies the schemas that speak of the same value, which begins at
// start. Read says that the value was already gone over to its end.
func (r *run) logic(l *logicRules, start int, read bool) bool {
	end := -1
	if read {
		end = r.i
	}
	ok := true
	for step := range 4 {
		if !r.logicStep(l, step, start) {
			if r.fatal() {
				return false
			}
			ok = false
		}
		end = max(end, r.i)
	}
	if end == start { // nothing read it
		r.i = start
		return r.plain(kindOf(r.b[start]), nil) && ok
	}
	r.i = end
	return ok
}

// logicStep leaves the position at the end of the value, or at its start if
// it did not read all of it.
func (r *run) logicStep(l *logicRules, step, start int) bool {
	r.i = start
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

// try finds out whether a schema fits, without noting why not, and whether that
// is open. The position is behind the value if it may fit.
func (r *run) try(n *node, start int) (ok, open bool) {
	collect, before, depth, frames, keys, seen := r.collect, r.open, r.depth, r.frames, len(r.keys), len(r.seen)
	r.collect, r.open = false, false
	r.i = start
	ok = r.value(n)
	open = r.open && ok
	r.collect, r.open = collect, before
	if !ok {
		r.depth, r.frames, r.keys, r.seen = depth, frames, r.keys[:keys], r.seen[:seen]
		r.i = start
	}
	return ok, open
}

func (r *run) allOf(list []*node, start int) bool {
	ok := true
	for _, n := range list {
		r.i = start
		if !r.value(n) {
			if r.fatal() {
				return false
			}
			ok = false
		}
	}
	return ok
}

func (r *run) anyOf(l *logicRules, start int) bool {
	ok := true
	for _, list := range l.any {
		if !r.someOf(list, start) {
			if r.fatal() {
				return false
			}
			ok = r.allOf(r.telling(r.meant(l.meant.any(), list, start), start), start) && ok // none fits: note what is wrong with each
		}
	}
	return ok
}

func (r *run) someOf(list []*node, start int) bool {
	end, perhaps := start, false
	for _, n := range list {
		ok, open := r.try(n, start)
		switch {
		case ok && !open:
			return true
		case ok:
			end, perhaps = r.i, true
		}
		if r.stop != 0 {
			return false
		}
	}
	if perhaps {
		r.i = end
		r.doubt(start, "anyOf", hangsOnPattern)
	}
	return perhaps
}

func (r *run) oneOf(l *logicRules, start int) bool {
	list := l.one
	fit, perhaps, end := 0, 0, start
	for _, n := range list {
		ok, open := r.try(n, start)
		switch {
		case ok && open:
			perhaps++
			end = r.i
		case ok:
			fit++
			end = r.i
		}
		if r.stop != 0 {
			return false
		}
		if fit == 2 {
			break
		}
	}
	r.i = end
	switch {
	case fit < 2 && perhaps > 0:
		r.doubt(start, "oneOf", hangsOnPattern)
		return true
	case len(list) == 0 || fit == 1:
		return true
	case fit == 2:
		return r.note(start, "oneOf", "only one of the schemas under oneOf to fit")
	case r.fatal():
		return false
	}
	return r.allOf(r.telling(r.meant(l.meant.one(), list, start), start), start)
}

// telling are the branches of a union that say what is wrong with a value: one
// that is for null alone does not where another takes values of this type.
func (r *run) telling(list []*node, start int) []*node {
	kind := kindOf(r.b[start])
	if kind == isNull || !slices.ContainsFunc(list, func(n *node) bool { return n.admits()&kind != 0 }) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(n *node) bool { return n.admits() == isNull })
}

// admits is what can fit at all.
func (n *node) admits() types {
	for n != nil && n.alias != nil {
		n = n.alias
	}
	if n == nil {
		return isAny
	}
	return n.accepts
}

// condition is not, and if with then and else.
func (r *run) condition(l *logicRules, start int) bool {
	ok := true
	if l.notTold {
		switch fits, open := r.try(l.not, start); {
		case fits && open:
			r.doubt(start, "not", hangsOnPattern)
		case fits:
			ok = r.note(start, "not", "a value that the schema under not refuses")
		}
		if r.stop != 0 || !ok && r.fatal() {
			return false
		}
		r.i = start
	}
	if !l.condTold {
		return ok
	}
	branch := l.then
	fits, open := r.try(l.cond, start)
	if !fits {
		branch = l.alt
	}
	if r.stop != 0 {
		return false
	}
	if open {
		return r.either(l, start) && ok
	}
	if branch != nil {
		r.i = start
		ok = r.value(branch) && ok
	}
	return ok
}

// either is if, where it is open which branch counts.
func (r *run) either(l *logicRules, start int) bool {
	then, perhapsThen := r.try(l.then, start)
	alt, perhapsAlt := r.try(l.alt, start)
	switch {
	case r.stop != 0:
		return false
	case !then && !alt:
		r.i = start
		return r.value(l.then) // and notes why not
	case !then || !alt || perhapsThen || perhapsAlt:
		r.doubt(start, "if", hangsOnPattern)
	}
	r.i = start
	return r.plain(kindOf(r.b[start]), nil)
}
