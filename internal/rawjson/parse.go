package rawjson

import (
	"bytes"
	"math"
)

// Kind is the type of a value.
type Kind uint8

// The kinds. Invalid is the kind of [None].
const (
	Invalid Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

// Node is one value in a [Doc]. Nodes of one Doc can be compared: a value later
// in the source is greater.
type Node uint32

// None is no value. Every method accepts it and returns None or zero.
const None = ^Node(0)

// nodeBytes is the size of a node.
const nodeBytes = 28

// node is a value; the children of node i begin at i+1.
type node struct {
	start, end       uint32 // the value; of a string without the quotes
	keyStart, keyEnd uint32 // the member's key, between the quotes
	next             uint32 // next sibling; 0: none
	count            uint32 // children
	kind             Kind
	escaped          bool // the string has escapes
	keyEscaped       bool // the key has escapes
}

type parser struct {
	lexer
	nodes []node
}

// Parse parses src, which must be one value of RFC 8259 JSON in UTF-8, nested
// at most [MaxDepth] deep and smaller than 4 GiB. The error is a
// *[SyntaxError]. The Doc keeps src, which must not change afterwards.
//
// Duplicate keys and escapes of lone surrogates are accepted, as in the
// grammar; [Check] is stricter.
func Parse(src []byte) (*Doc, error) {
	return new(Nodes).parse(src)
}

// Nodes is memory that one document after the other can use. The zero value is
// ready.
type Nodes struct{ list []node }

// maxKept bounds how many nodes are kept for the next document.
const maxKept = 1 << 15

// ParseStrict is [ParseStrict] of src. The previous Doc of n must not be used
// afterwards.
func (n *Nodes) ParseStrict(src []byte) (*Doc, error) {
	d, err := n.parse(src)
	return strict(src, d, err)
}

func (n *Nodes) parse(src []byte) (*Doc, error) {
	if uint64(len(src)) >= math.MaxUint32 {
		return nil, &SyntaxError{Offset: len(src), Message: "larger than 4 GiB"}
	}
	p := parser{lexer: lexer{src: src}, nodes: n.list[:0]}
	if need := estimateNodes(src); cap(p.nodes) < need {
		p.nodes = make([]node, 0, need)
	}
	if p.space(); !p.value(token{}) || !p.end() {
		return nil, p.err
	}
	if cap(p.nodes) <= maxKept {
		n.list = p.nodes
	}
	return newDoc(src, p.nodes), nil
}

// estimateNodes returns for how many nodes memory is reserved before src is parsed.
// Every node but the root follows an opening bracket or a comma; counting them
// is faster than growing the list. A long document is sampled. Those inside
// strings are counted, too, so the count is only used up to twice the size of
// src; beyond that, [parser.grow] extrapolates from what was parsed.
func estimateNodes(src []byte) int {
	const sample, samples = 8 << 10, 16
	most := 64 + 2*len(src)/nodeBytes
	if len(src) <= sample*samples {
		return min(marks(src)+1, most)
	}
	seen := 0
	for k := range samples {
		from := (len(src) - sample) / (samples - 1) * k
		seen += marks(src[from : from+sample])
	}
	return min(int(float64(seen)/(sample*samples)*float64(len(src))*1.05)+1, most)
}

func marks(src []byte) int {
	return bytes.Count(src, []byte{','}) + bytes.Count(src, []byte{'{'}) + bytes.Count(src, []byte{'['})
}

// grow reserves memory for more nodes: for as many as there will be if the
// remaining source is like what was parsed, but at most four times as many as
// there are.
func (p *parser) grow() {
	n := len(p.nodes)
	want := int(float64(n) / float64(p.pos+1) * float64(len(p.src)) * 1.05)
	nodes := make([]node, n, max(64, n+n/4, min(want, 4*n)))
	copy(nodes, p.nodes)
	p.nodes = nodes
}

// value reads the value at the position and appends its nodes.
func (p *parser) value(key token) bool {
	me := len(p.nodes)
	start := p.pos
	if me == cap(p.nodes) {
		p.grow()
	}
	p.nodes = p.nodes[:me+1]
	p.nodes[me] = node{keyStart: key.start, keyEnd: key.end, keyEscaped: key.escaped}
	var kind Kind
	var ok bool
	switch c := p.peek(); c {
	case '"':
		return p.text(me)
	case '{':
		kind, ok = Object, p.object(me)
	case '[':
		kind, ok = Array, p.array(me)
	case 't':
		kind, ok = Bool, p.word("true")
	case 'f':
		kind, ok = Bool, p.word("false")
	case 'n':
		kind, ok = Null, p.word("null")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		kind, ok = Number, p.number()
	default:
		return p.unexpected("a value")
	}
	n := &p.nodes[me]
	n.kind, n.start, n.end = kind, uint32(start), uint32(p.pos) //nolint:gosec // the size was checked
	return ok
}

func (p *parser) text(me int) bool {
	t, ok := p.lexer.text()
	n := &p.nodes[me]
	n.kind, n.start, n.end, n.escaped = String, t.start, t.end, t.escaped
	return ok
}

func (p *parser) object(me int) bool {
	if !p.enter() {
		return false
	}
	if p.space(); p.peek() == '}' {
		return p.leave()
	}
	return p.members(me) && p.leave()
}

// members reads from a key to the brace that closes the object.
func (p *parser) members(me int) bool {
	for last := 0; ; {
		if p.peek() != '"' {
			return p.unexpected("a key")
		}
		key, ok := p.lexer.text()
		if !ok {
			return false
		}
		if p.space(); p.peek() != ':' {
			return p.unexpected("a colon")
		}
		p.pos++
		p.space()
		last = p.link(me, last)
		if !p.value(key) {
			return false
		}
		p.space()
		switch p.peek() {
		case ',':
			p.pos++
			p.space()
		case '}':
			return true
		default:
			return p.unexpected("a comma or a closing brace")
		}
	}
}

func (p *parser) array(me int) bool {
	if !p.enter() {
		return false
	}
	if p.space(); p.peek() == ']' {
		return p.leave()
	}
	for last := 0; ; {
		last = p.link(me, last)
		if !p.value(token{}) {
			return false
		}
		p.space()
		switch p.peek() {
		case ',':
			p.pos++
			p.space()
		case ']':
			return p.leave()
		default:
			return p.unexpected("a comma or a closing bracket")
		}
	}
}

// link makes the next node a child of parent, after its sibling last (0: it is
// the first), and returns its index.
func (p *parser) link(parent, last int) int {
	next := len(p.nodes)
	p.nodes[parent].count++
	if last != 0 {
		p.nodes[last].next = uint32(next) //nolint:gosec // fewer nodes than bytes
	}
	return next
}
