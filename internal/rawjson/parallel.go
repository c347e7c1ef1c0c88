package rawjson

import (
	"bytes"
	"math"
)

// ParseParallel is [Parse] by two goroutines, for long documents that a user
// waits for. The second one begins in the middle, where it does not know what
// is open: it guesses the position of a key and reads members from there. The
// guess is right if the first goroutine arrives at the same byte and expects a
// key there; what was guessed wrong is read again. So the result is that of
// Parse, including errors.
func ParseParallel(src []byte) (*Doc, error) {
	if uint64(len(src)) >= math.MaxUint32 {
		return Parse(src)
	}
	half := len(src) / 2
	first := estimateNodes(src[:half])
	nodes := make([]node, first+estimateNodes(src[half:])) // each fills its part
	a := &ahead{next: half, done: make(chan struct{}), all: nodes, base: first}
	go a.read(src)
	p := parser{lexer: lexer{src: src}, nodes: nodes[:0:first], ahead: a}
	if p.space(); !p.value(token{}) || !p.end() {
		return nil, p.err
	}
	return newDoc(src, p.nodes), nil
}

// ahead is what the second goroutine has read.
type ahead struct {
	done chan struct{} // closed when runs and nodes are complete
	runs []run
	from []node // a part of all, if there was space
	all  []node // the first goroutine begins at 0, the second at base
	base int

	next int // start of the next run, seen from the first goroutine
}

// run is the members of an object from one of its keys on.
type run struct {
	start, end int // the key's quote, the brace that closes the object
	first      int // the run's nodes in ahead.from
	behind     int
	count      uint32
	depth      int // greatest depth of the object that keeps the nesting valid
}

// aheadDepth is the depth that the second goroutine assumes at its start; what
// is deeper is not adopted.
const aheadDepth = 64

// read appends to nodes. What it cannot read is left to the first goroutine,
// with memory for as many nodes as it may have. So is everything if this
// panics: the first goroutine then meets the cause.
func (a *ahead) read(src []byte) {
	defer close(a.done)
	defer func() {
		if recover() != nil {
			a.runs, a.from = nil, nil
		}
	}()
	p := parser{lexer: lexer{src: src}, nodes: a.all[a.base:a.base], base: a.base}
	for at := nextKey(src, a.next); at >= 0; {
		p.pos, p.depth = at, aheadDepth
		a.readRuns(&p)
		left := at
		if n := len(a.runs); n > 0 {
			left = max(left, a.runs[n-1].end)
		}
		if at = nextKey(src, max(p.pos, at+1)); at >= 0 {
			gap := marks(src[left:at]) + 1
			if len(p.nodes)+gap > cap(p.nodes) {
				break // perhaps a string of commas: left to the first goroutine
			}
			p.nodes = append(p.nodes, make([]node, gap)...)
		}
	}
	a.from = p.nodes
}

// nextKey returns where the next string begins that follows an object and a
// comma, which most likely is a key. -1: there is none.
func nextKey(src []byte, from int) int {
	for from < len(src) {
		i := bytes.Index(src[from:], []byte("},"))
		if i < 0 {
			return -1
		}
		l := lexer{src: src, pos: from + i + 2}
		if l.space(); l.peek() == '"' {
			return l.pos
		}
		from = l.pos
	}
	return -1
}

// readRuns reads members from the position on, then the following ones in the
// enclosing object, and so on outwards.
func (a *ahead) readRuns(p *parser) {
	for p.depth > 0 {
		start, me := p.pos, len(p.nodes)
		p.nodes = append(p.nodes, node{}) // placeholder for the object
		if !p.members(me) {
			p.nodes, p.err = p.nodes[:me], nil
			return
		}
		a.runs = append(a.runs, run{start, p.pos, me + 1, len(p.nodes), p.nodes[me].count, p.depth})
		for p.peek() == '}' && p.depth > 0 {
			p.leave()
			p.space()
		}
		if p.peek() != ',' {
			return
		}
		p.pos++
		if p.space(); p.peek() != '"' {
			return
		}
	}
}

// adopt takes over the remaining members of object me, if they were read ahead
// from the key at the position. last is the previous member, 0 if there is
// none.
func (p *parser) adopt(me, last int) bool {
	a := p.ahead
	<-a.done
	for len(a.runs) > 0 && a.runs[0].start < p.pos {
		a.runs = a.runs[1:]
	}
	a.next = math.MaxInt
	if len(a.runs) == 0 {
		return false
	}
	r := a.runs[0]
	if a.next = r.start; r.start > p.pos || p.depth > r.depth {
		return false
	}
	p.link(me, last)
	p.nodes[me].count += r.count - 1
	if !p.adoptInPlace(r, last) {
		shift := uint32(len(p.nodes) - r.first - a.base) //nolint:gosec // it wraps around where it is negative
		for _, n := range a.from[r.first:r.behind] {
			if n.next != 0 {
				n.next += shift
			}
			p.nodes = append(p.nodes, n)
		}
	}
	p.pos = r.end
	return true
}

// adoptInPlace leaves the nodes of a run where they are, in one array with
// those of the first goroutine, unless one of the two had too little space.
func (p *parser) adoptInPlace(r run, last int) bool {
	a := p.ahead
	first := a.base + r.first
	if last == 0 || len(p.nodes) > first || &p.nodes[0] != &a.all[0] || &a.from[0] != &a.all[a.base] {
		return false
	}
	p.nodes[last].next = uint32(first) //nolint:gosec // fewer nodes than bytes
	capacity := len(a.all)
	if len(a.runs) > 1 {
		capacity = a.base + a.runs[1].first // it may be adopted, too
	}
	p.nodes = a.all[: a.base+r.behind : capacity]
	return true
}
