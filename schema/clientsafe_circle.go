package schema

import (
	"cmp"
	"slices"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// circles takes out the references that would apply a schema to the same value
// without end: those that come back to where they started and pass no member
// and no item on the way.
func (s *safety) circles() {
	if len(s.refs) == 0 {
		return
	}
	c := circles{safety: s, from: map[int32][]int{}, state: map[int32]visitState{}}
	for k := range s.refs {
		head := s.list[s.refs[k].site].head
		c.from[head] = append(c.from[head], k)
	}
	for k := range s.refs {
		c.visit(s.refs[k].target)
	}
}

type circles struct {
	*safety
	from  map[int32][]int // references by the topmost place that speaks of the same value
	state map[int32]visitState
}

type visitState uint8

const (
	onTheWay visitState = iota + 1
	finished
)

// visit follows all references that apply to the value that place i is for.
func (c *circles) visit(i int32) {
	if i < 0 || c.state[i] != 0 {
		return
	}
	edges := c.from[c.list[i].head]
	if len(edges) == 0 {
		return
	}
	c.state[i] = onTheWay
	from, _ := slices.BinarySearchFunc(edges, c.list[i].node, func(k int, n rawjson.Node) int { return cmp.Compare(c.refs[k].node, n) })
	end := c.doc.Offset(c.list[i].node) + len(c.doc.Raw(c.list[i].node))
	for _, k := range edges[from:] {
		r := &c.refs[k]
		if c.doc.Offset(r.node) >= end {
			break
		}
		if r.target < 0 || c.gone[r.node] {
			continue
		}
		if c.state[r.target] == onTheWay {
			c.drop(r.site, r.node, "left out: it leads in a circle")
			continue
		}
		c.visit(r.target)
	}
	c.state[i] = finished
}
