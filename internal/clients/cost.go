package clients

import (
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/schemadoc"
)

// Cost is what a text takes of a list.
type Cost struct {
	Bytes  int `json:"bytes"`
	Tokens int `json:"token_count"` // estimated as [Tokens] does
}

// add adds another cost, n times.
func (c *Cost) add(o Cost, n int) {
	c.Bytes += n * o.Bytes
	c.Tokens += n * o.Tokens
}

// SchemaCosts is what the parts of schemas cost, by what they are there for. Every byte
// of a schema counts once; Definitions counts what other parts count as well.
type SchemaCosts struct {
	Structure    Cost `json:"structure"`    // names, types, what is required, references, branches
	Descriptions Cost `json:"descriptions"` // formats too, where they are published as text
	Titles       Cost `json:"titles"`
	Values       Cost `json:"values"`      // enum, const
	Bounds       Cost `json:"bounds"`      // pattern, format, lengths, limits of numbers
	Notes        Cost `json:"notes"`       // examples, defaults, deprecated, keywords that are not JSON Schema's
	Envelope     Cost `json:"envelope"`    // what stands around the data
	Definitions  Cost `json:"definitions"` // of the parts above: what is in $defs
}

// Part is one line of costs.
type Part struct {
	Name string
	Cost Cost
}

// Parts are the parts that add up to the whole, in a fixed order.
func (c *SchemaCosts) Parts() []Part {
	return []Part{
		{"structure", c.Structure},
		{"descriptions", c.Descriptions},
		{"titles", c.Titles},
		{"values", c.Values},
		{"bounds", c.Bounds},
		{"notes", c.Notes},
		{"envelope", c.Envelope},
	}
}

// Sum is what the schemas cost as a whole.
func (c *SchemaCosts) Sum() (sum Cost) {
	for _, p := range c.Parts() {
		sum.add(p.Cost, 1)
	}
	return sum
}

// Add adds the costs of another schema.
func (c *SchemaCosts) Add(o *SchemaCosts) {
	for _, p := range []struct{ to, from *Cost }{
		{&c.Structure, &o.Structure},
		{&c.Descriptions, &o.Descriptions},
		{&c.Titles, &o.Titles},
		{&c.Values, &o.Values},
		{&c.Bounds, &o.Bounds},
		{&c.Notes, &o.Notes},
		{&c.Envelope, &o.Envelope},
		{&c.Definitions, &o.Definitions},
	} {
		p.to.add(*p.from, 1)
	}
}

// CostOf is what the parts of a schema cost. The data is in the property of the root that
// is called within, and what stands beside it, but for $defs, is its envelope; without
// a name there is none. What is no JSON is structure.
func CostOf(schema []byte, within string) (c SchemaCosts) {
	c.Structure = cost(schema)
	doc, err := rawjson.Parse(schema)
	if err != nil {
		return c
	}
	root, data := doc.Root(), doc.Root()
	defs := doc.Get(root, "$defs")
	c.Definitions = member(doc, defs)
	if n := doc.Get(doc.Get(root, "properties"), within); within != "" && n != rawjson.None {
		data = n
		c.Envelope = c.Structure
		c.Envelope.add(member(doc, data), -1)
		c.Envelope.add(c.Definitions, -1)
		c.Structure.add(c.Envelope, -1)
	}
	inside := func(n, of rawjson.Node) bool {
		at, from := doc.Offset(n), doc.Offset(of)
		return of != rawjson.None && from <= at && at < from+len(doc.Raw(of))
	}
	for _, l := range schemadoc.FindLocations(doc).List {
		if doc.Kind(l.Node) != rawjson.Object || !inside(l.Node, data) && !inside(l.Node, defs) {
			continue
		}
		for m := doc.First(l.Node); m != rawjson.None; m = doc.Next(m) {
			if part := c.part(doc.Key(m)); part != nil {
				one := member(doc, m)
				part.add(one, 1)
				c.Structure.add(one, -1)
			}
		}
	}
	return c
}

// part is the part of the cost that a keyword belongs to; nil: the structure.
func (c *SchemaCosts) part(key string) *Cost {
	switch schemadoc.KeywordOf([]byte(key)) {
	case schemadoc.KwEnum, schemadoc.KwConst:
		return &c.Values
	case schemadoc.KwNumber, schemadoc.KwMultipleOf, schemadoc.KwCount, schemadoc.KwMaxItems, schemadoc.KwMinContains, schemadoc.KwMaxContains,
		schemadoc.KwUniqueItems, schemadoc.KwPattern, schemadoc.KwText:
		return &c.Bounds
	case schemadoc.KwNote:
		if key == "title" {
			return &c.Titles
		}
		return &c.Descriptions
	case schemadoc.KwFlag, schemadoc.KwExamples, schemadoc.NoKeyword:
		return &c.Notes
	default:
		return nil
	}
}

func cost(text []byte) Cost { return Cost{len(text), Tokens(text)} }

// member is what a member of an object costs, with its name and a comma. Schemas are
// published without white space.
func member(doc *rawjson.Doc, m rawjson.Node) Cost {
	if m == rawjson.None {
		return Cost{}
	}
	from, to := doc.Offset(m)-len(doc.RawKey(m))-len(`"":`), doc.Offset(m)+len(doc.Raw(m))
	c := cost(doc.Source()[max(from, 0):to])
	c.Bytes++ // the comma is a token with the quotes beside it
	return c
}
