package ecmaregexp

import (
	"bytes"
	"sync"
	"unicode/utf8"
)

// run is one attempt to match a text: a path through the steps of a program,
// with a stack of alternatives and of values to restore before them.
type run struct {
	p     *program
	text  []byte
	left  int   // steps
	slots []int // ends of groups, -1: not matched; counters and starts of loops
	stack []choice
}

// choice is an entry of the stack.
type choice struct {
	what  task
	pc    int // where to continue, or the slot
	at    int // in the text, or the slot's old value
	least int // of a run of characters: where the shortest ends
}

type task uint8

const (
	taskTry    task = iota // continue at pc
	taskRound              // another round of the loop at pc
	taskShrink             // shorten a run by one character
	taskUndo               // restore a slot
)

const (
	// maxStack bounds the memory of a run.
	maxStack = 1 << 18
	maxKept  = 1 << 12
)

var runs = sync.Pool{New: func() any { return new(run) }} //nolint:gochecknoglobals // memory of runs

func (p *program) match(text []byte, left *int) (matched, done bool) {
	r := runs.Get().(*run) //nolint:forcetypeassert,errcheck // nothing else is put there
	r.p, r.text, r.left = p, text, *left
	matched = r.search()
	*left = r.left
	done = r.left >= 0
	r.p, r.text = nil, nil
	if cap(r.stack) > maxKept {
		r.stack = nil
	}
	runs.Put(r)
	return matched && done, done
}

// search tries every start position.
func (r *run) search() bool {
	for at := 0; ; {
		r.stack = r.stack[:0]
		r.slots = r.slots[:0]
		for range r.p.slots {
			r.slots = append(r.slots, -1)
		}
		r.left -= r.p.slots / 8
		if r.from(0, at) {
			return true
		}
		if r.left < 0 || at == len(r.text) || r.p.anchored {
			return false
		}
		_, n := utf8.DecodeRune(r.text[at:])
		at += n
	}
}

// from runs the steps from pc on until they match; untried alternatives stay on
// the stack. If they do not match, the state is restored.
func (r *run) from(pc, at int) bool {
	floor := len(r.stack)
	for {
		if r.left--; r.left < 0 || len(r.stack) > maxStack {
			r.left = -1
			return false
		}
		s := &r.p.code[pc]
		if s.op == opMatch {
			return true
		}
		var ok bool
		if pc, at, ok = r.step(s, pc, at); ok {
			continue
		}
		if pc, at, ok = r.backtrack(floor); !ok {
			return false
		}
	}
}

// backtrack backtracks to the last alternative above a floor.
func (r *run) backtrack(floor int) (pc, at int, ok bool) {
	for len(r.stack) > floor {
		top := len(r.stack) - 1
		c := &r.stack[top]
		switch c.what {
		case taskTry:
			r.stack = r.stack[:top]
			return c.pc, c.at, true
		case taskRound:
			pc, at = c.pc, c.at
			r.stack = r.stack[:top]
			return r.round(&r.p.code[pc], pc, at)
		case taskUndo:
			r.slots[c.pc] = c.at
			r.stack = r.stack[:top]
		case taskShrink:
			_, n := utf8.DecodeLastRune(r.text[:c.at])
			pc, at = c.pc, c.at-n
			if c.at = at; at <= c.least {
				r.stack = r.stack[:top]
			}
			return pc, at, true
		}
	}
	return 0, 0, false
}

func (r *run) put(slot, value int) {
	r.stack = append(r.stack, choice{what: taskUndo, pc: slot, at: r.slots[slot]})
	r.slots[slot] = value
}

func (r *run) try(pc, at int) {
	r.stack = append(r.stack, choice{what: taskTry, pc: pc, at: at})
}

// step executes one step and returns where to continue.
func (r *run) step(s *step, pc, at int) (next, behind int, ok bool) {
	switch s.op {
	case opSet:
		at, ok = r.character(s, at)
		return pc + 1, at, ok
	case opRun:
		at, ok = r.characters(s, pc+1, at)
		return pc + 1, at, ok
	case opJump:
		return s.x, at, true
	case opFork:
		r.try(s.x, at)
		return pc + 1, at, true
	case opSave:
		r.put(s.x, at)
		return pc + 1, at, true
	case opBegin:
		return pc + 1, at, at == 0
	case opEnd:
		return pc + 1, at, at == len(r.text)
	case opEdge:
		return pc + 1, at, r.wordBoundary(at)
	case opNotEdge:
		return pc + 1, at, !r.wordBoundary(at)
	case opBack:
		at, ok = r.backReference(s, at)
		return pc + 1, at, ok
	case opLook:
		return s.x, at, r.lookAround(s, pc+1, at)
	case opZero:
		r.put(s.x, 0)
		return pc + 1, at, true
	case opLoop:
		return r.loop(s, pc, at)
	case opAgain:
		loop := &r.p.code[s.x]
		empty := at == r.slots[loop.x+1] && r.slots[loop.x] > loop.min
		return s.x, at, !empty
	default:
		return 0, 0, false
	}
}

// character reads one character.
func (r *run) character(s *step, at int) (behind int, ok bool) {
	if s.back {
		c, n := utf8.DecodeLastRune(r.text[:at])
		return at - n, n > 0 && s.set.has(c)
	}
	c, n := utf8.DecodeRune(r.text[at:])
	return at + n, n > 0 && s.set.has(c)
}

// characters reads as many characters as it can, and records that fewer are
// possible.
func (r *run) characters(s *step, next, at int) (behind int, ok bool) {
	count, least := 0, at
	for s.max < 0 || count < s.max {
		c, n := utf8.DecodeRune(r.text[at:])
		if n == 0 || !s.set.has(c) {
			break
		}
		at += n
		if count++; count == s.min {
			least = at
		}
	}
	r.left -= count / 8
	if count < s.min {
		return at, false
	}
	if at > least {
		r.stack = append(r.stack, choice{what: taskShrink, pc: next, at: at, least: least})
	}
	return at, true
}

// wordBoundary reports whether a position is a word boundary.
func (r *run) wordBoundary(at int) bool {
	word := func(i int) bool { return i >= 0 && i < len(r.text) && words.has(rune(r.text[i])) }
	return word(at-1) != word(at)
}

// backReference matches a back reference. A group that did not match is empty.
func (r *run) backReference(s *step, at int) (behind int, ok bool) {
	first, last := r.slots[2*s.x], r.slots[2*s.x+1]
	if first < 0 || last < 0 {
		return at, true
	}
	same := r.text[first:last]
	r.left -= len(same) / 8
	if s.back {
		return at - len(same), bytes.HasSuffix(r.text[:at], same)
	}
	return at + len(same), bytes.HasPrefix(r.text[at:], same)
}

// lookAround matches the steps from pc on without moving. Their alternatives are
// dropped, but captured groups are restored when an earlier alternative is
// tried.
func (r *run) lookAround(s *step, pc, at int) bool {
	floor := len(r.stack)
	found := r.from(pc, at)
	if !found {
		return s.negative && r.left >= 0
	}
	undo := floor
	for _, c := range r.stack[floor:] {
		if c.what == taskUndo {
			r.stack[undo] = c
			undo++
		}
	}
	r.stack = r.stack[:undo]
	if s.negative {
		r.backtrack(floor)
	}
	return !s.negative
}

// loop begins another round or leaves the loop.
func (r *run) loop(s *step, pc, at int) (next, behind int, ok bool) {
	rounds := r.slots[s.x]
	switch {
	case s.max >= 0 && rounds >= s.max:
		return s.y, at, true
	case rounds >= s.min && s.lazy:
		r.stack = append(r.stack, choice{what: taskRound, pc: pc, at: at})
		return s.y, at, true
	case rounds >= s.min:
		r.try(s.y, at)
	}
	return r.round(s, pc, at)
}

// round begins a round of a loop and resets its groups.
func (r *run) round(s *step, pc, at int) (next, behind int, ok bool) {
	r.put(s.x, r.slots[s.x]+1)
	r.put(s.x+1, at)
	r.left -= (s.to - s.from) / 8
	for g := s.from; g <= s.to; g++ {
		if r.slots[2*g] >= 0 || r.slots[2*g+1] >= 0 {
			r.put(2*g, -1)
			r.put(2*g+1, -1)
		}
	}
	return pc + 1, at, true
}
