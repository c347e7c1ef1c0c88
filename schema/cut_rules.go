package schema

import (
	"bytes"
	"slices"
)

// standing is what the rules of a schema say about slices of an array.
type standing uint8

const (
	proved   standing = iota // every slice fits
	doubtful                 // perhaps
	refused                  // some slice does not fit
)

// maxRules is how many schemas may apply to one value before nothing is
// concluded from them.
const maxRules = 200

// standing goes down the path to an array with all the schemas that apply on
// the way. Slices are safe where they only say what items are like, how many
// there may be at most, and that no two are equal. Above the array, members
// are neither taken away nor added, so all rules about those hold for parts.
func (c *cutter) standing(s *Schema, a sliceable) standing {
	c.doubt = s.second != nil // some keywords are not among the rules
	c.reset(c.b, false)
	at := func(i int) (types, int) {
		if i == len(a.path) {
			return isArray, a.start
		}
		return isObject, a.path[i].object
	}
	kind, start := at(0)
	rules := c.gather(nil, s.root, kind, start)
	for i, h := range a.path {
		kind, start = at(i + 1)
		var below []*node
		for _, n := range rules {
			below = c.follow(below, n, h.name, kind, start)
		}
		rules = below
	}
	for _, n := range rules {
		if n.array != nil && (n.array.min > 0 || len(n.array.prefix) > 0) {
			return refused
		}
	}
	if c.doubt {
		return doubtful
	}
	return proved
}

// follow gathers the schemas that n has for a member.
func (c *cutter) follow(rules []*node, n *node, name piece, kind types, start int) []*node {
	o := n.object
	if o == nil {
		return rules
	}
	text := bytes.Clone(c.plainText(name)) // what follows uses the same scratch space
	known := false
	if i := o.members.find(text, c.seed); i >= 0 && o.members.list[i].declared {
		known = true
		rules = c.gather(rules, o.members.list[i].node, kind, start)
	}
	for _, p := range o.patterns {
		if p.match.run(c.run, text) {
			known = true
			rules = c.gather(rules, p.node, kind, start)
		}
	}
	if !known {
		rules = c.gather(rules, o.additional, kind, start)
	}
	return rules
}

// gather adds n, and all schemas that have to fit because n does, to the rules
// for the value of a kind that begins at start.
func (c *cutter) gather(rules []*node, n *node, kind types, start int) []*node {
	for n != nil && n.alias != nil {
		n = n.alias
	}
	if n == nil || c.doubt && len(rules) >= maxRules || slices.Contains(rules, n) {
		return rules
	}
	rules = append(rules, n)
	if e := n.exact; e != nil && (e.constant != nil || e.enum != nil) || len(rules) >= maxRules {
		c.doubt = true
	}
	l := n.logic
	if l == nil {
		return rules
	}
	c.doubt = c.doubt || l.notTold || l.condTold
	for _, to := range l.all {
		rules = c.gather(rules, to, kind, start)
	}
	for _, group := range l.any {
		rules = c.choose(rules, group, kind, start, false)
	}
	if len(l.one) > 0 {
		rules = c.choose(rules, l.one, kind, start, true)
	}
	return rules
}

// choose gathers the branch of a union that the value fits. Where more than
// one branch is for values of its kind, and only one may fit, a part could fit
// a second one.
func (c *cutter) choose(rules, group []*node, kind types, start int, only bool) []*node {
	admitted := slices.DeleteFunc(slices.Clone(group), func(n *node) bool { return n.fits()&kind == 0 })
	if len(admitted) == 1 {
		return c.gather(rules, admitted[0], kind, start)
	}
	for _, n := range admitted {
		if !only && c.try(n, start) {
			return c.gather(rules, n, kind, start)
		}
	}
	c.doubt = true
	return rules
}
