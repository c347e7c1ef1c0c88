package schema

import (
	"net/url"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// reference compiles $ref; it is resolved when the whole document is read.
func (b *builder) reference(m rawjson.Node) {
	if !b.kind(m, rawjson.String, "a string") {
		return
	}
	l := b.logic()
	b.c.refs = append(b.c.refs, pending{l, len(l.all), m})
	l.all = append(l.all, nil)
}

// resolve resolves the references. The list grows meanwhile: a reference may
// lead to a schema that nothing else leads to.
func (c *compiler) resolve() {
	for i := 0; i < len(c.refs) && c.err == nil; i++ {
		ref := c.refs[i]
		to, ok := c.target(ref.at)
		if !ok {
			continue
		}
		if to == rawjson.None {
			c.fail(ref.at, "reference %q cannot be resolved", c.doc.Str(ref.at))
			return
		}
		ref.from.all[ref.slot] = c.lookup(to)
	}
}

// target returns the location that a reference names. It is not ok for
// references that only the fallback validator resolves: to other documents, and
// to documents embedded in this one.
func (c *compiler) target(at rawjson.Node) (rawjson.Node, bool) {
	ref := c.doc.Str(at)
	fragment, local := strings.CutPrefix(ref, "#")
	if !local || c.nested {
		c.needsFallback("$ref")
		return rawjson.None, false
	}
	name, err := url.PathUnescape(fragment)
	switch {
	case err != nil:
		return rawjson.None, true
	case name == "" || name[0] == '/':
		return c.doc.Pointer(name), true
	}
	if to, ok := c.anchors[name]; ok {
		return to, true
	}
	return rawjson.None, true
}

// walkState is the state of a node in a walk over the graph of schemas.
type walkState uint8

const (
	unvisited walkState = iota
	visiting
	visited
)

// analyze finds the schemas that apply to the same value in a cycle (left to the
// fallback validator, which detects them at run time), and what each schema can
// accept. It returns the longest chain of schemas that apply to one value.
func (c *compiler) analyze() int {
	longest := 1
	for _, p := range c.all {
		longest = max(longest, c.analyzeNode(p.node))
	}
	if c.fallbackKeyword != "" {
		return len(c.all) + 1 // references that were not followed
	}
	return longest
}

func (c *compiler) analyzeNode(n *node) int {
	switch {
	case n == nil:
		return 1
	case n.state == visiting:
		c.needsFallback("$ref")
		return 1
	case n.state == visited:
		return n.chain
	}
	n.state = visiting
	n.chain = 1
	if n.logic != nil {
		n.logic.all = slices.DeleteFunc(n.logic.all, func(to *node) bool { return to == nil })
		n.logic.each(func(to *node) { n.chain = max(n.chain, 1+c.analyzeNode(to)) })
		n.settleAlias()
	}
	n.accepts = n.computeTypes()
	n.state = visited
	return n.chain
}

// each visits the schemas that apply to the same value.
func (l *logicRules) each(visit func(*node)) {
	for _, n := range l.all {
		visit(n)
	}
	for _, group := range l.any {
		for _, n := range group {
			visit(n)
		}
	}
	for _, n := range l.one {
		visit(n)
	}
	for _, n := range []*node{l.not, l.cond, l.then, l.alt} {
		if n != nil {
			visit(n)
		}
	}
}

// settleAlias resolves a schema that is nothing but one reference, or allOf of
// one schema, to its target.
func (n *node) settleAlias() {
	l := n.logic
	if len(l.all)+len(l.any)+len(l.one) == 0 && !l.hasNot && !l.hasIf {
		n.logic = nil // references to schemas that accept everything
		return
	}
	if n.types != rawjson.IsAny || n.exact != nil || n.text != nil || n.number != nil || n.array != nil || n.object != nil ||
		len(l.all) != 1 || len(l.any)+len(l.one) > 0 || l.hasNot || l.hasIf {
		return
	}
	if n.alias = l.all[0]; n.alias.alias != nil {
		n.alias = n.alias.alias
	}
}

// computeTypes returns the types of the values that can be valid.
func (n *node) computeTypes() rawjson.Types {
	t := n.types
	if n.exact != nil {
		if n.exact.constant != nil {
			t &= n.exact.constant.kinds
		}
		if n.exact.enum != nil {
			t &= n.exact.enum.kinds
		}
	}
	if n.logic == nil {
		return t
	}
	for _, to := range n.logic.all {
		t &= to.validTypes()
	}
	for _, group := range n.logic.any {
		t &= union(group)
	}
	if len(n.logic.one) > 0 {
		t &= union(n.logic.one)
	}
	return t
}

func union(list []*node) rawjson.Types {
	var t rawjson.Types
	for _, n := range list {
		t |= n.validTypes()
	}
	return t
}

func (n *node) validTypes() rawjson.Types {
	if n == nil {
		return rawjson.IsAny
	}
	return n.accepts
}
