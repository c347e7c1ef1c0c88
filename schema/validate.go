package schema

import (
	"hash/maphash"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// validation is one validation of one value. It reads the bytes from left to right and
// never decodes the value. The first violation ends it; the complete list is
// made by a second run with collect set, which continues after a violation and
// is always at the end of a value when it leaves it.
type validation struct {
	rawjson.Scanner
	frames    int // nested schemas that apply to one value
	left      int // remaining budget: a value or eight bytes cost one
	floor     int // tick is called when left is below it
	collect   bool
	open      bool // the result depends on a pattern that cannot be run
	found     []pendingViolation
	foundOpen []pendingViolation
	seed      maphash.Seed
	keys      []hashed // keys of the open objects, items of the open uniqueItems arrays
	seen      []uint64 // sets of the declared members present in the open objects
	memo      map[visit]outcome
}

// Reasons why a validation ended early, beside NotJSON.
const (
	limit = rawjson.NotJSON + 1 + iota
	full
)

const (
	maxFrames = 20000 // bounds the stack
	maxMemo   = 1 << 18
	maxKept   = 1 << 14 // of scratch space kept for the next run
)

// visit is one schema at one offset.
type visit struct {
	node *node
	at   int
}

// outcome is the result of a visit.
type outcome struct {
	at   int // where the value ends; -1: it is invalid
	open bool
}

func (r *validation) reset(value []byte, collect bool) {
	r.B, r.I, r.Depth, r.frames, r.Stop, r.collect, r.open = value, 0, 0, 0, 0, collect, false
	r.keys, r.seen, r.memo = r.keys[:0], r.seen[:0], nil
	r.left = 1<<20 + 16*len(value)
	r.floor = r.left - 1<<18 - 4*len(value)
}

// release drops the references to the value, so that the validation can be reused.
func (r *validation) release() {
	r.B, r.memo, r.found, r.foundOpen = nil, nil, nil, nil
	if cap(r.keys)+cap(r.seen)+cap(r.Scratch) > maxKept {
		r.keys, r.seen, r.Scratch = nil, nil, nil
	}
}

// matches checks the whole input.
func (r *validation) matches(root *node) bool {
	if !r.value(root) {
		return false
	}
	r.Next()
	return r.I == len(r.B)
}

// fatal reports whether a violation ends the validation.
func (r *validation) fatal() bool { return !r.collect || r.Stop != 0 }

// tick is called when the validation has cost much. First it begins to memoize
// results, which makes all but the worst schemas cheap; then it ends the validation.
func (r *validation) tick() bool {
	if r.memo == nil && r.left >= 0 {
		r.memo = make(map[visit]outcome)
		r.floor = 0
	}
	if r.left < 0 {
		r.Stop = limit
		return false
	}
	return true
}

// value checks the value at the position.
func (r *validation) value(n *node) bool {
	kind := rawjson.KindOf(r.Next())
	if kind == 0 {
		return r.Broken()
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
	case r.memo != nil && !r.collect && (kind&rawjson.IsContainer != 0 || n.logic != nil):
		return r.remembered(kind, n)
	case n.exact == nil && n.logic == nil:
		return r.plain(kind, n)
	}
	return r.whole(kind, n)
}

// remembered is whole with memoized results.
func (r *validation) remembered(kind rawjson.Types, n *node) bool {
	r.left -= 8 // the cost of a lookup
	key := visit{n, r.I}
	if end, ok := r.memo[key]; ok {
		r.I = end.at
		r.open = r.open || end.open
		return end.at >= 0
	}
	before := r.open
	r.open = false
	ok := r.whole(kind, n)
	end := outcome{r.I, r.open}
	r.open = r.open || before
	if r.Stop != 0 || len(r.memo) >= maxMemo {
		return ok
	}
	if !ok {
		end.at = -1
	}
	r.memo[key] = end
	return ok
}

// plain reads a value and applies the rules for its kind.
func (r *validation) plain(kind rawjson.Types, n *node) bool {
	switch kind {
	case rawjson.IsString:
		if n == nil {
			return r.text(nil)
		}
		return r.text(n.text)
	case rawjson.IsNumber:
		return r.number(n)
	case rawjson.IsArray:
		if n == nil {
			return r.array(nil)
		}
		return r.array(n.array)
	case rawjson.IsObject:
		if n == nil || n.object == nil {
			return r.anyObject()
		}
		return r.object(n.object)
	}
	return r.Word()
}

// rules reports whether n has rules for values of a kind.
func (n *node) rules(kind rawjson.Types) bool {
	switch kind {
	case rawjson.IsString:
		return n.text != nil
	case rawjson.IsNumber:
		return n.number != nil
	case rawjson.IsArray:
		return n.array != nil
	case rawjson.IsObject:
		return n.object != nil
	}
	return false
}

// whole applies all rules of a schema to a value.
func (r *validation) whole(kind rawjson.Types, n *node) bool {
	start := r.I
	if kind == rawjson.IsNumber && n.types&rawjson.IsFraction == 0 {
		if v, ok := r.Num(); !ok || !r.integer(v) {
			return ok && r.collect && r.note(start, "type", n.types.Words())
		}
		r.I = start
	}
	if n.exact != nil {
		if !r.exact(kind, n.exact) {
			return false
		}
		if n.logic == nil && !n.rules(kind) {
			return true
		}
		r.I = start
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
		r.Stop = limit
		return false
	}
	ok = r.logic(n.logic, start, read) && ok
	r.frames--
	return ok
}

// wrongType reads a value whose type is not allowed.
func (r *validation) wrongType(kind rawjson.Types, n *node) bool {
	if !r.collect {
		return false
	}
	start := r.I
	r.plain(kind, nil)
	if n.refuse {
		return r.note(start, "false", nothing)
	}
	return r.note(start, "type", n.types.Words())
}

// exact checks const, enum and format and leaves the position after the value.
func (r *validation) exact(kind rawjson.Types, e *exactRules) bool {
	if set := e.sole(); set != nil && kind == rawjson.IsString {
		if n := set.prefix(r.B[r.I:]); n > 0 {
			r.I += n
			r.left -= n >> 3
			return true
		}
	}
	start := r.I
	if !r.plain(kind, nil) {
		return false
	}
	raw := r.B[start:r.I]
	r.charge(kind, raw)
	if e.constant != nil && !r.in(e.constant, kind, raw) {
		return r.collect && r.note(start, "const", e.constant.words())
	}
	if e.enum != nil && !r.in(e.enum, kind, raw) {
		return r.collect && r.note(start, "enum", "one of "+e.enum.words())
	}
	if e.format != nil && kind == rawjson.IsString && !r.formatted(e, raw[1:len(raw)-1]) {
		return r.collect && r.note(start, "format", "format "+e.name)
	}
	return true
}

// charge counts the cost of comparing a value.
func (r *validation) charge(kind rawjson.Types, raw []byte) {
	if kind&rawjson.IsContainer != 0 {
		r.left -= 7 * len(raw) >> 3
	}
	r.left -= len(raw) >> 3
}

func (r *validation) in(set *valueSet, kind rawjson.Types, raw []byte) (ok bool) {
	if set.kinds&kind != 0 {
		ok, r.Scratch = set.has(raw, r.Scratch)
	}
	return ok
}
