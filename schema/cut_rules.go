package schema

import "slices"

// standing is what the rules of a schema say about slices of a region.
type standing uint8

const (
	proved   standing = iota // every slice fits
	doubtful                 // perhaps
	refused                  // it stays whole
)

// standing judges a region. Slices are safe where the rules only say what items
// or members are like, how many there may be at most and must be at least, and
// which members are required; pieces of texts where they only say how long one
// is. Above a region members are neither taken away nor added but by cuts of
// their own.
func (c *cutter) standing(r *region) standing {
	for _, n := range r.rules {
		switch {
		case r.kind == isString && (n.exact != nil || n.text != nil && n.text.pattern != nil):
			return refused
		case r.kind&isContainer != 0 && n.exact != nil:
			return refused
		}
	}
	switch {
	case r.kind == isObject && c.mode.wholeMaps, r.kind == isString && c.mode.wholeText, r.doubt && c.mode.sure:
		return refused
	case r.doubt:
		return doubtful
	}
	return proved
}

// rootRules are those of the whole value.
func (c *cutter) rootRules(start int) (rules []*node, doubt bool) {
	if c.schema == nil {
		return nil, false
	}
	c.reset(c.b, false)
	c.doubt = c.schema.second != nil // some keywords are not among the rules
	rules = c.gather(nil, c.schema.root, kindOf(c.b[start]), start)
	return rules, c.doubt || c.stop != 0
}

// memberRules are those of a member whose value begins at start.
func (c *cutter) memberRules(r *region, name []byte, start int) (rules []*node, doubt bool) {
	c.reset(c.b, false)
	c.doubt = r.doubt
	for _, n := range r.rules {
		rules = c.follow(rules, n, name, kindOf(c.b[start]), start)
	}
	return rules, c.doubt || c.stop != 0
}

// itemRules are those of an item.
func (c *cutter) itemRules(r *region, index, start int) (rules []*node, doubt bool) {
	c.reset(c.b, false)
	c.doubt = r.doubt
	for _, n := range r.rules {
		if n.array == nil {
			continue
		}
		rules = c.gather(rules, n.array.at(index), kindOf(c.b[start]), start)
		c.doubt = c.doubt || n.array.unique // of two items that are different, pieces may be equal
	}
	return rules, c.doubt || c.stop != 0
}

// requiredNames tells which members of an object stand in every part: those that
// the rules require. Where there are more than these, those that any branch
// requires or tells itself by.
func (c *cutter) requiredNames(r *region) func(name []byte) bool {
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
	for i := 0; r.doubt && i < len(r.rules); i++ {
		seen = branches(r.rules[i], seen)
	}
	for _, n := range seen {
		add(n)
	}
	return func(name []byte) bool {
		for at, set := range sets {
			i := set.find(name, c.seed)
			if i >= 0 && (set.requires(i) || at >= sure && set.tells(i)) {
				return true
			}
		}
		return false
	}
}

func (m *members) requires(i int) bool {
	return i/64 < len(m.required) && m.required[i/64]&(1<<(i%64)) != 0
}

// tells reports whether only some values of a member fit: branches tell each
// other by such.
func (m *members) tells(i int) bool { return m.list[i].node != nil && m.list[i].node.exact != nil }

// branches adds all schemas that may have a say about the value that n is
// about.
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
