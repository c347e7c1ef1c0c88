package schema

import (
	"slices"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// schemaCollector collects the schemas that apply to a value while a caller descends into
// it.
type schemaCollector struct {
	*validation
	necessary  bool // only schemas that every valid value satisfies; false: also the branches that this value satisfies
	incomplete bool // more schemas may apply than were collected
}

// maxRules bounds the schemas that apply to one value; beyond it nothing is
// concluded from them.
const maxRules = 200

// collectForMember adds the schemas that n applies to a member.
func (g *schemaCollector) collectForMember(rules []*node, n *node, name []byte, kind rawjson.Types, start int) []*node {
	o := n.object
	if o == nil {
		return rules
	}
	known := false
	if i := o.members.find(name, g.seed); i >= 0 && o.members.list[i].declared {
		known = true
		rules = g.collect(rules, o.members.list[i].node, kind, start)
	}
	for _, p := range o.patterns {
		if g.Stop != 0 {
			return rules
		}
		switch matched, open := p.match.matches(g.validation, name); {
		case open:
			known, g.incomplete = true, true
		case matched:
			known = true
			rules = g.collect(rules, p.node, kind, start)
		}
	}
	if !known {
		rules = g.collect(rules, o.additional, kind, start)
	}
	return rules
}

// collect adds n and every schema that n implies to the schemas for the value of
// a kind that begins at start.
func (g *schemaCollector) collect(rules []*node, n *node, kind rawjson.Types, start int) []*node {
	for hops := 0; n != nil && n.alias != nil; hops++ {
		if n = n.alias; hops == maxRules { // a reference to itself
			g.incomplete = true
			return rules
		}
	}
	if n == nil || g.incomplete && len(rules) >= maxRules || slices.Contains(rules, n) {
		return rules
	}
	rules = append(rules, n)
	if e := n.exact; e != nil && (e.constant != nil || e.enum != nil) || len(rules) >= maxRules {
		g.incomplete = true
	}
	l := n.logic
	if l == nil {
		return rules
	}
	g.incomplete = g.incomplete || l.hasNot || l.hasIf
	for _, to := range l.all {
		rules = g.collect(rules, to, kind, start)
	}
	for _, group := range l.any {
		rules = g.collectBranch(rules, g.selectBranches(l.discriminator.any(), group, start), kind, start, false)
	}
	if len(l.one) > 0 {
		rules = g.collectBranch(rules, g.selectBranches(l.discriminator.one(), l.one, start), kind, start, true)
	}
	return rules
}

// selectBranches returns the branch that a discriminator selects for this value, where
// the value is to be changed: the changes follow that branch, and the whole
// schema decides afterwards whether the result is valid. Otherwise it returns
// all branches.
func (g *schemaCollector) selectBranches(c choice, group []*node, start int) []*node {
	if !g.necessary || g.Stop != 0 {
		return group
	}
	return g.selectedBranch(c, group, start)
}

// collectBranch adds the branch of a union that applies: the only one for values of
// the kind, or the first that this value satisfies, but not where other values
// may satisfy another.
func (g *schemaCollector) collectBranch(rules, group []*node, kind rawjson.Types, start int, only bool) []*node {
	admitted := slices.DeleteFunc(slices.Clone(group), func(n *node) bool { return n.validTypes()&kind == 0 })
	if len(admitted) == 1 {
		return g.collect(rules, admitted[0], kind, start)
	}
	for _, n := range admitted {
		if only || g.necessary {
			break
		}
		if fits, open := g.try(n, start); fits && !open {
			return g.collect(rules, n, kind, start)
		}
	}
	g.incomplete = true
	return rules
}
