package yaml

import (
	"fmt"

	"go.yaml.in/yaml/v4"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// maxNotes bounds the notes of one document.
const maxNotes = 100

// converter writes a tree of nodes as JSON.
type converter struct {
	out    Result
	budget int // remaining bytes and steps
	lines  int // of the source
}

// spend counts the work against the budget. Without aliases the work is
// proportional to the source, so only they can exhaust it.
func (c *converter) spend(n *yaml.Node, amount int) error {
	if c.budget -= amount; c.budget < 0 {
		return aliasError(n)
	}
	return nil
}

// from records that the next output comes from the line of n.
func (c *converter) from(n *yaml.Node) {
	line := min(max(1, n.Line), c.lines)
	if m := c.out.marks; len(m) == 0 || m[len(m)-1].line != line {
		c.out.marks = append(m, mark{len(c.out.JSON), line})
	}
}

// target resolves an alias.
func target(n *yaml.Node) *yaml.Node {
	for range rawjson.MaxDepth {
		if n.Kind != yaml.AliasNode || n.Alias == nil {
			break
		}
		n = n.Alias
	}
	return n
}

func (c *converter) value(n *yaml.Node, depth int) error {
	n = target(n)
	before := len(c.out.JSON)
	c.from(n)
	switch n.Kind {
	case yaml.MappingNode:
		return c.mapping(n, depth+1)
	case yaml.SequenceNode:
		return c.sequence(n, depth+1)
	case yaml.ScalarNode:
		c.out.JSON = appendScalar(c.out.JSON, n)
		return c.spend(n, len(c.out.JSON)-before)
	}
	return &Error{max(1, n.Line), "something that is neither mapping, sequence nor scalar"}
}

func (c *converter) sequence(n *yaml.Node, depth int) error {
	if depth > rawjson.MaxDepth {
		return depthError(n)
	}
	if err := c.spend(n, 2+len(n.Content)); err != nil {
		return err
	}
	c.out.JSON = append(c.out.JSON, '[')
	for i, v := range n.Content {
		if i > 0 {
			c.out.JSON = append(c.out.JSON, ',')
		}
		if err := c.value(v, depth); err != nil {
			return err
		}
	}
	c.out.JSON = append(c.out.JSON, ']')
	return nil
}

func (c *converter) mapping(n *yaml.Node, depth int) error {
	if depth > rawjson.MaxDepth {
		return depthError(n)
	}
	all, err := c.members(n, depth)
	if err != nil {
		return err
	}
	c.out.JSON = append(c.out.JSON, '{')
	for i, m := range all {
		if i > 0 {
			c.out.JSON = append(c.out.JSON, ',')
		}
		c.from(m.at)
		before := len(c.out.JSON)
		c.out.JSON = append(rawjson.AppendString(c.out.JSON, m.key), ':')
		if err := c.spend(m.at, len(c.out.JSON)-before); err != nil {
			return err
		}
		if err := c.value(m.value, depth); err != nil {
			return err
		}
	}
	c.out.JSON = append(c.out.JSON, '}')
	return nil
}

// member is one key of a mapping with its value.
type member struct {
	key       string
	at, value *yaml.Node
	merged    bool // by a merge key
}

// members lists what is in a mapping, each key once.
func (c *converter) members(n *yaml.Node, depth int) ([]member, error) {
	if depth > rawjson.MaxDepth {
		return nil, depthError(n)
	}
	if err := c.spend(n, 2+len(n.Content)); err != nil {
		return nil, err
	}
	s := set{list: make([]member, 0, len(n.Content)/2)}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, v := n.Content[i], n.Content[i+1]
		if isMerge(key) {
			if err := c.merge(&s, v, depth+1); err != nil {
				return nil, err
			}
			continue
		}
		k := target(key)
		if k.Kind != yaml.ScalarNode {
			return nil, &Error{max(1, key.Line), "a key that is not a scalar"}
		}
		if s.put(member{key: k.Value, at: key, value: v}) && len(c.out.Notes) < maxNotes {
			c.out.Notes = append(c.out.Notes, Note{min(max(1, key.Line), c.lines), fmt.Sprintf("duplicate key %q: the previous value is lost", k.Value)})
		}
	}
	return s.list, nil
}

// merge adds the members of the mapping, or mappings, of a merge key.
func (c *converter) merge(s *set, v *yaml.Node, depth int) error {
	v = target(v)
	from := []*yaml.Node{v}
	if v.Kind == yaml.SequenceNode {
		from = v.Content
	}
	for _, m := range from {
		m = target(m)
		if m.Kind != yaml.MappingNode {
			return &Error{max(1, m.Line), "a merge key takes a mapping or a sequence of mappings"}
		}
		all, err := c.members(m, depth)
		if err != nil {
			return err
		}
		if err := c.spend(m, len(all)); err != nil {
			return err
		}
		for _, x := range all {
			x.merged = true
			s.put(x)
		}
	}
	return nil
}

// isMerge reports whether a key is the merge key: plain and untagged, because
// "<<" in quotes is an ordinary key.
func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Value == "<<" && isPlain(key) && key.Style&yaml.TaggedStyle == 0
}

// set keeps members in order, each key once.
type set struct {
	list  []member
	index map[string]int // for a big list only
}

// put adds m. An existing key is replaced where m was written in the mapping
// itself, kept where m was merged. again reports a duplicate written key.
func (s *set) put(m member) (again bool) {
	i := s.find(m.key)
	switch {
	case i < 0:
		if s.index != nil {
			s.index[m.key] = len(s.list)
		}
		s.list = append(s.list, m)
	case !m.merged:
		again = !s.list[i].merged
		s.list[i] = m
	}
	return again
}

func (s *set) find(key string) int {
	const few = 16
	if len(s.list) > few && s.index == nil {
		s.index = make(map[string]int, cap(s.list))
		for i, m := range s.list {
			s.index[m.key] = i
		}
	}
	if s.index != nil {
		if i, ok := s.index[key]; ok {
			return i
		}
		return -1
	}
	for i := range s.list {
		if s.list[i].key == key {
			return i
		}
	}
	return -1
}
