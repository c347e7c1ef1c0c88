package schema

import (
	"slices"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// splitProof is what the schemas prove about slices of a region.
type splitProof uint8

const (
	provenValid  splitProof = iota // every slice is valid
	maybeValid                     // a slice may be invalid
	unsplittable                   // it is not split
)

// proofOf classifies a region. Slices are safe where the schemas only
// constrain single items or members, how many there may be, and which members
// are required; pieces of strings where they only constrain the length. Above a
// region, members are removed only by splits of their own.
func (c *splitter) proofOf(r *region) splitProof {
	for _, n := range r.rules {
		switch {
		case r.kind == rawjson.IsString && (n.exact != nil || n.text != nil && n.text.pattern != nil):
			return unsplittable
		case r.kind&rawjson.IsContainer != 0 && n.exact != nil:
			return unsplittable
		}
	}
	switch {
	case r.kind == rawjson.IsObject && c.mode.wholeMaps, r.kind == rawjson.IsString && c.mode.wholeText, r.incomplete && c.mode.sure:
		return unsplittable
	case r.incomplete:
		return maybeValid
	}
	return provenValid
}

// rootRules returns the schemas that apply to the whole value.
func (c *splitter) rootRules(start int) (rules []*node, doubt bool) {
	if c.schema == nil {
		return nil, false
	}
	c.reset(c.B, false)
	c.incomplete = c.schema.fallback != nil // compiled nodes do not have all keywords
	rules = c.collect(nil, c.schema.root, rawjson.KindOf(c.B[start]), start)
	return rules, c.incomplete || c.Stop != 0
}

// memberRules returns the schemas that apply to a member whose value begins at
// start.
func (c *splitter) memberRules(r *region, name []byte, start int) (rules []*node, doubt bool) {
	c.reset(c.B, false)
	c.incomplete = r.incomplete
	for _, n := range r.rules {
		rules = c.collectForMember(rules, n, name, rawjson.KindOf(c.B[start]), start)
	}
	return rules, c.incomplete || c.Stop != 0
}

// itemRules returns the schemas that apply to an item.
func (c *splitter) itemRules(r *region, index, start int) (rules []*node, doubt bool) {
	c.reset(c.B, false)
	c.incomplete = r.incomplete
	for _, n := range r.rules {
		if n.array == nil {
			continue
		}
		rules = c.collect(rules, n.array.at(index), rawjson.KindOf(c.B[start]), start)
		c.incomplete = c.incomplete || n.array.unique // two different items may have equal pieces
	}
	return rules, c.incomplete || c.Stop != 0
}

// requiredNames returns a function that reports which members of an object must
// be in every part: those that the schemas require. Where more schemas may
// apply, also those that any branch requires or is distinguished by.
func (c *splitter) requiredNames(r *region) func(name []byte) bool {
	var sets []*members
	add := func(n *node) {
		if n.object != nil {
			sets = append(sets, &n.object.members)
		}
	}
	for _, n := range r.rules {
		add(n)
	}
	sure := len(sets)
	var seen []*node
	for i := 0; r.incomplete && i < len(r.rules); i++ {
		seen = branches(r.rules[i], seen)
	}
	for _, n := range seen {
		add(n)
	}
	return func(name []byte) bool {
		for at, set := range sets {
			i := set.find(name, c.seed)
			if i >= 0 && (set.requires(i) || at >= sure && set.distinguishes(i)) {
				return true
			}
		}
		return false
	}
}

func (m *members) requires(i int) bool {
	return i/64 < len(m.required) && m.required[i/64]&(1<<(i%64)) != 0
}

// distinguishes reports whether only certain values of a member are valid: branches of
// a union are distinguished by such members.
func (m *members) distinguishes(i int) bool {
	return m.list[i].node != nil && m.list[i].node.exact != nil
}

// branches adds all schemas that may apply to the value that n is for.
func branches(n *node, seen []*node) []*node {
	if n == nil || len(seen) >= maxRules || slices.Contains(seen, n) {
		return seen
	}
	seen = append(seen, n)
	seen = branches(n.alias, seen)
	l := n.logic
	if l == nil {
		return seen
	}
	for _, group := range append([][]*node{l.all, l.one, {l.not, l.cond, l.then, l.alt}}, l.any...) {
		for _, to := range group {
			seen = branches(to, seen)
		}
	}
	return seen
}
