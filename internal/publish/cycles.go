package schema

import (
	"bytes"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// BreakCycles makes a schema that refers to itself readable for clients that
// put every definition in the place of its references: a tree of filters is
// without end to them, and they lose the whole list of tools. The reference
// that closes a cycle goes; in its place stay the type of what it led to and a
// description that names the definition. Whatever fits doc fits the result,
// which is doc itself where nothing refers to itself. Everything is visited
// once. doc is a schema as [Compatible] makes it, with no identities and no
// $dynamicRef.
func BreakCycles(doc []byte) (acyclic []byte, changes []Change) {
	if !bytes.Contains(doc, []byte(`$ref"`)) && !bytes.Contains(doc, []byte(`\u00`)) {
		return doc, nil
	}
	parsed, err := rawjson.Parse(doc)
	if err != nil || parsed.Kind(parsed.Root()) != rawjson.Object {
		return doc, nil
	}
	s := safety{}
	s.loosener = newLoosener(findSites(parsed), s.record)
	c := cycles{safety: &s, state: make([]visitState, len(s.list)), children: make([][]int32, len(s.list)), refsAt: map[int32][]int{}}
	for i := 1; i < len(s.list); i++ {
		p := s.list[i].parent
		c.children[p] = append(c.children[p], int32(i))
	}
	for k := range s.refs {
		c.refsAt[s.refs[k].site] = append(c.refsAt[s.refs[k].site], k)
	}
	c.visit(0)
	for _, k := range c.closing {
		c.open(&s.refs[k])
	}
	if len(s.patches.list) == 0 {
		return doc, nil
	}
	s.settle()
	return s.patches.apply(parsed.Root()), s.changes
}

// cycles looks for references that lead to a schema around them, directly or
// by way of other references.
type cycles struct {
	*safety
	state    []visitState
	children [][]int32
	refsAt   map[int32][]int
	closing  []int // references that close a cycle
}

// visit follows what place i holds and refers to: definitions last, so that a
// cycle is entered where the schema uses it first.
func (c *cycles) visit(i int32) {
	c.state[i] = onTheWay
	for _, k := range c.refsAt[i] {
		switch to := c.refs[k].target; {
		case to < 0:
		case c.state[to] == onTheWay:
			c.closing = append(c.closing, k)
		case c.state[to] == 0:
			c.visit(to)
		}
	}
	for _, definitions := range []bool{false, true} {
		for _, child := range c.children[i] {
			via := c.list[child].via
			if (via == kwDefs || via == kwDefinitions) == definitions && c.state[child] == 0 {
				c.visit(child)
			}
		}
	}
	c.state[i] = finished
}

// open takes out a reference, and says in its place where to read on.
func (c *cycles) open(r *reference) {
	if c.gone[r.node] {
		return
	}
	at, to := c.list[r.site].node, c.list[r.target].node
	where := c.doc.Str(r.node)
	c.drop(r.site, r.node, "left out: "+where+" refers to itself, which ends some clients; its description says so instead")
	if t := c.doc.Get(to, "type"); t != rawjson.None && c.doc.Get(at, "type") == rawjson.None {
		c.patches.prepend(at, append([]byte(`"type":`), c.doc.Raw(t)...))
	}
	if c.doc.Get(at, "description") == rawjson.None {
		c.patches.prepend(at, rawjson.AppendString([]byte(`"description":`), "As "+where+" says, to any depth."))
	}
}
