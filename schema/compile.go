package schema

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// maxSchemas is how many schemas one document may hold, those in it counted.
const maxSchemas = 200_000

// compiler turns a document into nodes. It checks every keyword of the
// specification, also those that only the second tier understands.
type compiler struct {
	doc      *rawjson.Doc
	o        Options
	seed     maphash.Seed
	slab     []node
	spare    *node            // made and not needed
	plain    [isAny + 1]*node // those that name types and nothing else
	all      []place          // every node, with its place
	places   []place          // of the schemas that stand where schemas are expected, by place
	strays   map[rawjson.Node]*node
	refs     []pending
	anchors  map[string]rawjson.Node
	formats  map[string]*jsonschema.Schema
	beyond   string // the first keyword that needs the second tier
	nested   bool   // documents of their own stand inside this one
	open     []unrun
	count    int
	patterns int // the size of all patterns so far
	err      *Error
}

// place is where a schema stands. A nil node accepts everything.
type place struct {
	at   rawjson.Node
	node *node
}

// pending is a reference that is not resolved yet.
type pending struct {
	from *logicRules
	slot int // in from.all
	at   rawjson.Node
}

// program is what a compiler makes.
type program struct {
	root    *node
	beyond  string // the byte tier cannot serve the document because of this keyword; empty: it can
	open    []unrun
	apart   bool // the places of its schemas do not show all that refers to them
	doc     *rawjson.Doc
	schemas int
	meant   map[string]*discriminator // by the place of its schema; nil: the byte tier serves the document
	chain   int                       // how many schemas can apply to one value in a row
}

func compileProgram(doc *rawjson.Doc, seed maphash.Seed, o Options) (*program, *Error) {
	c := &compiler{doc: doc, o: o, seed: seed}
	root := c.schema(doc.Root())
	c.resolve()
	if c.err != nil {
		return nil, c.err
	}
	p := &program{root: root, open: c.open, doc: doc, schemas: c.count, apart: c.nested || len(c.strays) > 0}
	p.chain = c.survey()
	if p.beyond = c.beyond; p.beyond != "" {
		p.meant = c.discriminators()
	}
	return p, nil
}

// fail keeps the first error.
func (c *compiler) fail(at rawjson.Node, format string, args ...any) {
	if c.err == nil {
		c.err = &Error{Pointer: c.pointer(at), Message: fmt.Sprintf(format, args...)}
	}
}

// pointer answers the JSON Pointer of a place.
func (c *compiler) pointer(at rawjson.Node) string { return pointerOf(c.doc, at) }

func pointerOf(doc *rawjson.Doc, at rawjson.Node) string {
	p := placer{doc: doc, found: []finding{{at: doc.Offset(at)}}, seen: map[Violation]struct{}{}}
	p.visit(doc.Root(), nil)
	if len(p.placed) == 0 {
		return ""
	}
	return p.placed[0].Path
}

// needs notes that the second tier has to serve the document.
func (c *compiler) needs(keyword string) {
	if c.beyond == "" {
		c.beyond = keyword
	}
}

// schema compiles the schema at a place.
func (c *compiler) schema(at rawjson.Node) *node {
	if c.count++; c.count > maxSchemas {
		c.fail(at, "more than %d schemas in one document", maxSchemas)
	}
	if c.err != nil {
		return nil
	}
	where := len(c.places)
	c.places = append(c.places, place{at: at})
	n := c.compile(at)
	c.places[where].node = n
	return n
}

func (c *compiler) compile(at rawjson.Node) *node {
	switch c.doc.Kind(at) {
	case rawjson.Bool:
		if c.doc.IsTrue(at) {
			return nil
		}
		n := c.newNode(at)
		n.types, n.refuse = 0, true
		return n
	case rawjson.Object:
		return c.object(at)
	}
	c.fail(at, "a schema is an object or a boolean")
	return nil
}

func (c *compiler) newNode(at rawjson.Node) *node {
	n := c.spare
	if c.spare = nil; n == nil {
		if len(c.slab) == 0 {
			c.slab = make([]node, min(4+len(c.all)/2, 256))
		}
		n = &c.slab[0]
		c.slab = c.slab[1:]
	}
	*n = node{types: isAny}
	c.all = append(c.all, place{at, n})
	return n
}

func (c *compiler) object(at rawjson.Node) *node {
	if c.doc.Len(at) == 0 {
		return nil
	}
	b := builder{c: c, n: c.newNode(at), at: at}
	for m := c.doc.First(at); m != rawjson.None && c.err == nil; m = c.doc.Next(m) {
		b.keyword(m)
	}
	b.finish()
	return c.share(b.n)
}

// share gives back a node that only says which type a value has, because most
// do: one for each set of types is enough.
func (c *compiler) share(n *node) *node {
	if n.types == 0 || n.exact != nil || n.text != nil || n.number != nil || n.array != nil || n.object != nil || n.logic != nil {
		return n
	}
	last := len(c.all) - 1
	if shared := c.plain[n.types]; shared != nil && c.all[last].node == n {
		c.all = c.all[:last]
		c.spare = n
		return shared
	}
	c.plain[n.types] = n
	return n
}

// lookup answers the schema at a place, which is compiled now if nothing
// expected a schema there.
func (c *compiler) lookup(at rawjson.Node) *node {
	i, ok := slices.BinarySearchFunc(c.places, at, func(p place, at rawjson.Node) int { return cmp.Compare(p.at, at) })
	if ok {
		return c.places[i].node
	}
	if n, ok := c.strays[at]; ok {
		return n
	}
	n := c.newNode(at) // references inside may lead back here
	if c.strays == nil {
		c.strays = map[rawjson.Node]*node{}
	}
	c.strays[at] = n
	known := c.places
	c.places = nil
	if got := c.compile(at); got != nil {
		*n = *got
	}
	for _, p := range c.places {
		c.strays[p.at] = p.node
	}
	c.places = known
	return n
}
