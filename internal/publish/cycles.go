package publish

import (
	"bytes"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/schemadoc"
)

// BreakCycles makes a recursive schema readable for clients that inline every
// definition: to them a recursive schema is infinite, and they lose the whole
// list of tools. The reference that closes a cycle is replaced by the type of
// its target and a description that names the definition. Every value that is
// valid against doc is valid against the result, which is doc itself where
// nothing is recursive. doc is a schema as [Compatible] returns it, without
// identities and $dynamicRef.
func BreakCycles(doc []byte) (acyclic []byte, changes []Change) {
	if !bytes.Contains(doc, []byte(`$ref"`)) && !bytes.Contains(doc, []byte(`\u00`)) {
		return doc, nil
	}
	parsed, err := rawjson.Parse(doc)
	if err != nil || parsed.Kind(parsed.Root()) != rawjson.Object {
		return doc, nil
	}
	s := compatPass{}
	s.Widener = schemadoc.NewWidener(schemadoc.FindLocations(parsed), s.record)
	c := cycles{compatPass: &s, state: make([]visitState, len(s.List)), children: make([][]int32, len(s.List)), refsAt: map[int32][]int{}}
	for i := 1; i < len(s.List); i++ {
		p := s.List[i].Parent
		c.children[p] = append(c.children[p], int32(i))
	}
	for k := range s.Refs {
		c.refsAt[s.Refs[k].Location] = append(c.refsAt[s.Refs[k].Location], k)
	}
	c.visit(0)
	for _, k := range c.closing {
		c.open(&s.Refs[k])
	}
	if len(s.Edits.List) == 0 {
		return doc, nil
	}
	s.DropDanglingRefs()
	return s.Edits.Apply(parsed.Root()), s.changes
}

// cycles finds references to an enclosing schema, directly or by way of other
// references.
type cycles struct {
	*compatPass
	state    []visitState
	children [][]int32
	refsAt   map[int32][]int
	closing  []int // references that close a cycle
}

// visit follows the subschemas and references of location i: definitions last,
// so that a cycle is entered where the schema uses it first.
func (c *cycles) visit(i int32) {
	c.state[i] = inProgress
	for _, k := range c.refsAt[i] {
		switch to := c.Refs[k].Target; {
		case to < 0:
		case c.state[to] == inProgress:
			c.closing = append(c.closing, k)
		case c.state[to] == 0:
			c.visit(to)
		}
	}
	for _, definitions := range []bool{false, true} {
		for _, child := range c.children[i] {
			via := c.List[child].Via
			if (via == schemadoc.KwDefs || via == schemadoc.KwDefinitions) == definitions && c.state[child] == 0 {
				c.visit(child)
			}
		}
	}
	c.state[i] = finished
}

// open replaces a reference by a description of its target.
func (c *cycles) open(r *schemadoc.Reference) {
	if c.Removed[r.Node] {
		return
	}
	at, to := c.List[r.Location].Node, c.List[r.Target].Node
	where := c.Doc.Str(r.Node)
	c.Drop(r.Location, r.Node, "left out: "+where+" is recursive, which some clients cannot handle; its description names it instead")
	if t := c.Doc.Get(to, "type"); t != rawjson.None && c.Doc.Get(at, "type") == rawjson.None {
		c.Edits.Prepend(at, append([]byte(`"type":`), c.Doc.Raw(t)...))
	}
	if c.Doc.Get(at, "description") == rawjson.None {
		c.Edits.Prepend(at, rawjson.AppendString([]byte(`"description":`), "As "+where+" describes, nested to any depth."))
	}
}
