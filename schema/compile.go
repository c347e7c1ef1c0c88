package schema

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// maxSchemas bounds the schemas of one document, nested ones included.
const maxSchemas = 200_000

// compiler turns a document into nodes. It checks every keyword of the
// specification, including those that only the fallback validator implements.
type compiler struct {
	doc             *rawjson.Doc
	o               Options
	seed            maphash.Seed
	slab            []node
	spare           *node                    // allocated and not needed
	plain           [rawjson.IsAny + 1]*node // shared nodes that constrain the type only
	all             []locatedNode            // every node with its location
	schemas         []locatedNode            // schemas in schema positions, sorted by location
	unexpected      map[rawjson.Node]*node
	refs            []pending
	anchors         map[string]rawjson.Node
	formats         map[string]*jsonschema.Schema
	fallbackKeyword string // the first keyword that needs the fallback validator
	nested          bool   // the document embeds other documents
	unrunnable      []unrunnablePattern
	count           int
	patterns        int // the size of all patterns so far
	err             *Error
}

// locatedNode is the location of a schema. A nil node accepts everything.
type locatedNode struct {
	at   rawjson.Node
	node *node
}

// pending is an unresolved reference.
type pending struct {
	from *logicRules
	slot int // in from.all
	at   rawjson.Node
}

// program is the output of a compiler.
type program struct {
	root            *node
	fallbackKeyword string // the keyword that needs the fallback validator; empty: none
	unrunnable      []unrunnablePattern
	hiddenRefs      bool // there are references that locations do not show
	doc             *rawjson.Doc
	schemas         int
	discriminators  map[string]*discriminator // by schema location; nil: the fallback validator is not needed
	longestChain    int                       // the longest chain of schemas that apply to one value
}

func compileProgram(doc *rawjson.Doc, seed maphash.Seed, o Options) (*program, *Error) {
	c := &compiler{doc: doc, o: o, seed: seed}
	root := c.schema(doc.Root())
	c.resolve()
	if c.err != nil {
		return nil, c.err
	}
	p := &program{root: root, unrunnable: c.unrunnable, doc: doc, schemas: c.count, hiddenRefs: c.nested || len(c.unexpected) > 0}
	p.longestChain = c.analyze()
	if p.fallbackKeyword = c.fallbackKeyword; p.fallbackKeyword != "" {
		p.discriminators = c.discriminators()
	}
	return p, nil
}

// fail keeps the first error.
func (c *compiler) fail(at rawjson.Node, format string, args ...any) {
	if c.err == nil {
		c.err = &Error{Pointer: c.pointer(at), Message: fmt.Sprintf(format, args...)}
	}
}

// pointer returns the JSON Pointer of a location.
func (c *compiler) pointer(at rawjson.Node) string { return pointerOf(c.doc, at) }

func pointerOf(doc *rawjson.Doc, at rawjson.Node) string {
	p := locator{doc: doc, found: []pendingViolation{{at: doc.Offset(at)}}, seen: map[Violation]struct{}{}}
	p.visit(doc.Root(), nil)
	if len(p.violations) == 0 {
		return ""
	}
	return p.violations[0].Path
}

// needsFallback records that a keyword needs the fallback validator.
func (c *compiler) needsFallback(keyword string) {
	if c.fallbackKeyword == "" {
		c.fallbackKeyword = keyword
	}
}

// schema compiles the schema at a location.
func (c *compiler) schema(at rawjson.Node) *node {
	if c.count++; c.count > maxSchemas {
		c.fail(at, "more than %d schemas in one document", maxSchemas)
	}
	if c.err != nil {
		return nil
	}
	where := len(c.schemas)
	c.schemas = append(c.schemas, locatedNode{at: at})
	n := c.compile(at)
	c.schemas[where].node = n
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
	*n = node{types: rawjson.IsAny}
	c.all = append(c.all, locatedNode{at, n})
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

// share returns one shared node for all schemas that constrain nothing but the
// type, because most do.
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

// lookup returns the schema at a location. It compiles it now if that is not a
// schema position.
func (c *compiler) lookup(at rawjson.Node) *node {
	i, ok := slices.BinarySearchFunc(c.schemas, at, func(p locatedNode, at rawjson.Node) int { return cmp.Compare(p.at, at) })
	if ok {
		return c.schemas[i].node
	}
	if n, ok := c.unexpected[at]; ok {
		return n
	}
	n := c.newNode(at) // references inside may lead back here
	if c.unexpected == nil {
		c.unexpected = map[rawjson.Node]*node{}
	}
	c.unexpected[at] = n
	known := c.schemas
	c.schemas = nil
	if got := c.compile(at); got != nil {
		*n = *got
	}
	for _, p := range c.schemas {
		c.unexpected[p.at] = p.node
	}
	c.schemas = known
	return n
}
