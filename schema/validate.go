package schema

import "hash/maphash"

// run is one check of one value. It goes over the bytes from left to right
// and needs the value decoded nowhere. A fault ends it at once; what is wrong
// in all is found by a second run with collect set, which goes on behind a
// fault and always stands at the end of a value when it leaves it.
type run struct {
	b       []byte
	i       int // the position
	depth   int // of containers
	frames  int // of schemas that apply to one value
	left    int // what the run may still cost: a value or eight bytes are one
	floor   int // where left is looked at
	stop    stop
	collect bool
	open    bool // whether the value fits hangs on a pattern that cannot be run
	found   []finding
	doubts  []finding
	seed    maphash.Seed
	keys    []hashed // keys of the open objects, items of the open uniqueItems arrays
	seen    []uint64 // sets of the declared members that the open objects have
	scratch []byte
	memo    map[visit]ending
}

// stop says why a run ended before its time.
type stop uint8

const (
	notJSON stop = iota + 1
	limit
	full
)

const (
	maxDepth  = 1000  // as in rawjson
	maxFrames = 20000 // bounds the stack
	maxMemo   = 1 << 18
	maxKept   = 1 << 14 // of a scratch space, from one run to the next
)

// visit is one schema at one place.
type visit struct {
	node *node
	at   int
}

// ending is what became of a visit.
type ending struct {
	at   int // where the value ends; -1: it does not fit
	open bool
}

func (r *run) reset(value []byte, collect bool) {
	r.b, r.i, r.depth, r.frames, r.stop, r.collect, r.open = value, 0, 0, 0, 0, collect, false
	r.keys, r.seen, r.memo = r.keys[:0], r.seen[:0], nil
	r.left = 1<<20 + 16*len(value)
	r.floor = r.left - 1<<18 - 4*len(value)
}

// release forgets the value, so that the run can be kept for the next one.
func (r *run) release() {
	r.b, r.memo, r.found, r.doubts = nil, nil, nil, nil
	if cap(r.keys)+cap(r.seen)+cap(r.scratch) > maxKept {
		r.keys, r.seen, r.scratch = nil, nil, nil
	}
}

// fits checks the whole input.
func (r *run) fits(root *node) bool {
	if !r.value(root) {
		return false
	}
	r.next()
	return r.i == len(r.b)
}

// broken ends the run because the input is not JSON.
func (r *run) broken() bool {
	r.stop = notJSON
	return false
}

// fatal reports whether a fault that was found ends the run.
func (r *run) fatal() bool { return !r.collect || r.stop != 0 }

// tick is called when the run has cost much. First it begins to remember what
// it did already, which makes all but the worst schemas cheap; then it ends.
func (r *run) tick() bool {
	if r.memo == nil && r.left >= 0 {
		r.memo = make(map[visit]ending)
		r.floor = 0
	}
	if r.left < 0 {
		r.stop = limit
		return false
	}
	return true
}

// value checks the value at the position.
func (r *run) value(n *node) bool {
	kind := kindOf(r.next())
	if kind == 0 {
		return r.broken()
	}
	if r.left--; r.left < r.floor && !r.tick() {
		return false
	}
	if n == nil {
		return r.plain(kind, n)
	}
	for n.alias != nil {
		n = n.alias
	}
	admitted := n.types
	if !r.collect {
		admitted = n.accepts
	}
	switch {
	case kind&admitted == 0:
		return r.wrongType(kind, n)
	case r.memo != nil && !r.collect && (kind&isContainer != 0 || n.logic != nil):
		return r.remembered(kind, n)
	case n.exact == nil && n.logic == nil:
		return r.plain(kind, n)
	}
	return r.whole(kind, n)
}

// remembered is whole for a run that keeps what it found out.
func (r *run) remembered(kind types, n *node) bool {
	r.left -= 8 // what it costs to look
	key := visit{n, r.i}
	if end, ok := r.memo[key]; ok {
		r.i = end.at
		r.open = r.open || end.open
		return end.at >= 0
	}
	before := r.open
	r.open = false
	ok := r.whole(kind, n)
	end := ending{r.i, r.open}
	r.open = r.open || before
	if r.stop != 0 || len(r.memo) >= maxMemo {
		return ok
	}
	if !ok {
		end.at = -1
	}
	r.memo[key] = end
	return ok
}

// plain reads a value and applies the rules for its kind.
func (r *run) plain(kind types, n *node) bool {
	switch kind {
	case isString:
		if n == nil {
			return r.text(nil)
		}
		return r.text(n.text)
	case isNumber:
		return r.number(n)
	case isArray:
		if n == nil {
			return r.array(nil)
		}
		return r.array(n.array)
	case isObject:
		if n == nil || n.object == nil {
			return r.anyObject()
		}
		return r.object(n.object)
	}
	return r.word()
}

// rules reports whether n has rules for values of a kind.
func (n *node) rules(kind types) bool {
	switch kind {
	case isString:
		return n.text != nil
	case isNumber:
		return n.number != nil
	case isArray:
		return n.array != nil
	case isObject:
		return n.object != nil
	}
	return false
}

// whole applies all that a schema says about a value.
func (r *run) whole(kind types, n *node) bool {
	start := r.i
	if kind == isNumber && n.types&isFraction == 0 {
		if v, ok := r.num(); !ok || !r.integer(v) {
			return ok && r.collect && r.note(start, "type", n.types.words())
		}
		r.i = start
	}
	if n.exact != nil {
		if !r.exact(kind, n.exact) {
			return false
		}
		if n.logic == nil && !n.rules(kind) {
			return true
		}
		r.i = start
	}
	if n.logic == nil {
		return r.plain(kind, n)
	}
	ok, read := true, n.rules(kind)
	if read {
		if ok = r.plain(kind, n); !ok && r.fatal() {
			return false
		}
	}
	if r.frames++; r.frames > maxFrames {
		r.stop = limit
		return false
	}
	ok = r.logic(n.logic, start, read) && ok
	r.frames--
	return ok
}

// wrongType leaves a value whose type is not admitted.
func (r *run) wrongType(kind types, n *node) bool {
	if !r.collect {
		return false
	}
	start := r.i
	r.plain(kind, nil)
	if n.refuse {
		return r.note(start, "false", nothing)
	}
	return r.note(start, "type", n.types.words())
}

// exact checks const, enum and format and leaves the position behind the
// value.
func (r *run) exact(kind types, e *exactRules) bool {
	if set := e.sole(); set != nil && kind == isString {
		if n := set.prefix(r.b[r.i:]); n > 0 {
			r.i += n
			r.left -= n >> 3
			return true
		}
	}
	start := r.i
	if !r.plain(kind, nil) {
		return false
	}
	raw := r.b[start:r.i]
	r.charge(kind, raw)
	if e.constant != nil && !r.in(e.constant, kind, raw) {
		return r.collect && r.note(start, "const", e.constant.words())
	}
	if e.enum != nil && !r.in(e.enum, kind, raw) {
		return r.collect && r.note(start, "enum", "one of "+e.enum.words())
	}
	if e.format != nil && kind == isString && !r.formatted(e, raw[1:len(raw)-1]) {
		return r.collect && r.note(start, "format", "format "+e.name)
	}
	return true
}

// charge counts what it costs to compare a value.
func (r *run) charge(kind types, raw []byte) {
	if kind&isContainer != 0 {
		r.left -= 7 * len(raw) >> 3
	}
	r.left -= len(raw) >> 3
}

func (r *run) in(set *valueSet, kind types, raw []byte) (ok bool) {
	if set.kinds&kind != 0 {
		ok, r.scratch = set.has(raw, r.scratch)
	}
	return ok
}
