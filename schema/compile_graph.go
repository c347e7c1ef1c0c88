package schema

import (
	"net/url"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// reference compiles $ref; what it means is found when all is read.
func (b *builder) reference(m rawjson.Node) {
	if !b.kind(m, rawjson.String, "a string") {
		return
	}
	l := b.logic()
	b.c.refs = append(b.c.refs, pending{l, len(l.all), m})
	l.all = append(l.all, nil)
}

// resolve finds what the references mean. The list grows while it works: a
// reference may lead to a schema that nothing else leads to.
func (c *compiler) resolve() {
	for i := 0; i < len(c.refs) && c.err == nil; i++ {
		ref := c.refs[i]
		to, ok := c.target(ref.at)
		if !ok {
			continue
		}
		if to == rawjson.None {
			c.fail(ref.at, "reference %q leads nowhere", c.doc.Str(ref.at))
			return
		}
		ref.from.all[ref.slot] = c.lookup(to)
	}
}

// target answers the place that a reference names. It is not ok if only the
// second tier can tell: other documents, and those inside this one.
func (c *compiler) target(at rawjson.Node) (rawjson.Node, bool) {
	ref := c.doc.Str(at)
	fragment, local := strings.CutPrefix(ref, "#")
	if !local || c.nested {
		c.needs("$ref")
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

// mark is where a walk over the graph of schemas stands with a node.
type mark uint8

const (
	unseen mark = iota
	open
	closed
)

// survey finds the schemas that apply to the same value in a circle (left to
// the second tier, which notices at run time), and what can fit each schema.
// It answers how long a row of schemas that apply to one value can be.
func (c *compiler) survey() int {
	longest := 1
	for _, p := range c.all {
		longest = max(longest, c.look(p.node))
	}
	if c.beyond != "" {
		return len(c.all) + 1 // references that were not followed
	}
	return longest
}

func (c *compiler) look(n *node) int {
	switch {
	case n == nil:
		return 1
	case n.mark == open:
		c.needs("$ref")
		return 1
	case n.mark == closed:
		return n.chain
	}
	n.mark = open
	n.chain = 1
	if n.logic != nil {
		n.logic.all = slices.DeleteFunc(n.logic.all, func(to *node) bool { return to == nil })
		n.logic.each(func(to *node) { n.chain = max(n.chain, 1+c.look(to)) })
		n.settleAlias()
	}
	n.accepts = n.fitting()
	n.mark = closed
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

// settleAlias makes a schema that is nothing but one reference, or allOf of
// one schema, lead straight there.
func (n *node) settleAlias() {
	l := n.logic
	if len(l.all)+len(l.any)+len(l.one) == 0 && !l.notTold && !l.condTold {
		n.logic = nil // references to schemas that accept everything
		return
	}
	if n.types != isAny || n.exact != nil || n.text != nil || n.number != nil || n.array != nil || n.object != nil ||
		len(l.all) != 1 || len(l.any)+len(l.one) > 0 || l.notTold || l.condTold {
		return
	}
	if n.alias = l.all[0]; n.alias.alias != nil {
		n.alias = n.alias.alias
	}
}

// fitting answers the types of the values that may fit.
func (n *node) fitting() types {
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
		t &= to.fits()
	}
	for _, group := range n.logic.any {
		t &= union(group)
	}
	if len(n.logic.one) > 0 {
		t &= union(n.logic.one)
	}
	return t
}

func union(list []*node) types {
	var t types
	for _, n := range list {
		t |= n.fits()
	}
	return t
}

func (n *node) fits() types {
	if n == nil {
		return isAny
	}
	return n.accepts
}
