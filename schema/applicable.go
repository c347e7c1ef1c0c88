package schema

import "slices"

// guide goes down into a value with all the schemas that have to fit there.
type guide struct {
	*run
	must  bool // only rules without which no value fits; false: also those of the branches that this value fits
	doubt bool // there are more rules than those that were gathered
}

// maxRules is how many schemas may apply to one value before nothing is
// concluded from them.
const maxRules = 200

// follow gathers the schemas that n has for a member.
func (g *guide) follow(rules []*node, n *node, name []byte, kind types, start int) []*node {
	o := n.object
	if o == nil {
		return rules
	}
	known := false
	if i := o.members.find(name, g.seed); i >= 0 && o.members.list[i].declared {
		known = true
		rules = g.gather(rules, o.members.list[i].node, kind, start)
	}
	for _, p := range o.patterns {
		if g.stop != 0 {
			return rules
		}
		switch matched, open := p.match.matches(g.run, name); {
		case open:
			known, g.doubt = true, true
		case matched:
			known = true
			rules = g.gather(rules, p.node, kind, start)
		}
	}
	if !known {
		rules = g.gather(rules, o.additional, kind, start)
	}
	return rules
}

// gather adds n, and all schemas that have to fit because n does, to the rules
// for the value of a kind that begins at start.
func (g *guide) gather(rules []*node, n *node, kind types, start int) []*node {
	for hops := 0; n != nil && n.alias != nil; hops++ {
		if n = n.alias; hops == maxRules { // a reference to itself
			g.doubt = true
			return rules
		}
	}
	if n == nil || g.doubt && len(rules) >= maxRules || slices.Contains(rules, n) {
		return rules
	}
	rules = append(rules, n)
	if e := n.exact; e != nil && (e.constant != nil || e.enum != nil) || len(rules) >= maxRules {
		g.doubt = true
	}
	l := n.logic
	if l == nil {
		return rules
	}
	g.doubt = g.doubt || l.notTold || l.condTold
	for _, to := range l.all {
		rules = g.gather(rules, to, kind, start)
	}
	for _, group := range l.any {
		rules = g.choose(rules, g.named(l.meant.any(), group, start), kind, start, false)
	}
	if len(l.one) > 0 {
		rules = g.choose(rules, g.named(l.meant.one(), l.one, start), kind, start, true)
	}
	return rules
}

// named is the branch of a union that a discriminator names for this value, where
// the value is to be changed: it is told what that branch finds wrong, and
// whether it fits then is judged by the whole schema. Else it is all of them.
func (g *guide) named(c choice, group []*node, start int) []*node {
	if !g.must || g.stop != 0 {
		return group
	}
	return g.meant(c, group, start)
}

// choose gathers the branch of a union that counts: the only one for values of
// the kind, or the first that this value fits, but not where other values may
// fit another.
func (g *guide) choose(rules, group []*node, kind types, start int, only bool) []*node {
	admitted := slices.DeleteFunc(slices.Clone(group), func(n *node) bool { return n.fits()&kind == 0 })
	if len(admitted) == 1 {
		return g.gather(rules, admitted[0], kind, start)
	}
	for _, n := range admitted {
		if only || g.must {
			break
		}
		if fits, open := g.try(n, start); fits && !open {
			return g.gather(rules, n, kind, start)
		}
	}
	g.doubt = true
	return rules
}
