package openapi

import (
	"sync"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// circles knows which schemas apply to the same value in a circle. Every schema
// is looked at once, whoever asks (the algorithm is Tarjan's).
type circles struct {
	mu    sync.Mutex
	known map[value]*round
	open  []*round // those that are not settled, in the order in which they were come to
	count int
}

// round is a schema in the search.
type round struct {
	order, low int
	circle     int // schemas with the same number reach each other; 0: not settled
}

// isCircular reports whether validating a value against self, which refers to
// the target, would validate the same value against self again.
func (d *document) isCircular(self, target value) bool {
	d.circles.mu.Lock()
	defer d.circles.mu.Unlock()
	return self == target || d.circle(self).circle == d.circle(target).circle
}

// circle settles the circle of a schema.
func (d *document) circle(v value) *round {
	c := &d.circles
	if r := c.known[v]; r != nil {
		return r
	}
	if c.known == nil {
		c.known = make(map[value]*round)
	}
	c.count++
	r := &round{order: c.count, low: c.count}
	c.known[v] = r
	c.open = append(c.open, r)
	d.applied(v, func(to value) {
		if n := d.circle(to); n.circle == 0 {
			r.low = min(r.low, n.low)
		}
	})
	if r.low == r.order { // the first of its circle
		for i := len(c.open) - 1; r.circle == 0; i-- {
			c.open[i].circle = r.order
			c.open = c.open[:i]
		}
	}
	return r
}

// applied yields the schemas that apply to the same value as v.
func (d *document) applied(v value, yield func(value)) {
	if v.kind() != rawjson.Object {
		return
	}
	if ref := v.get("$ref"); ref.kind() == rawjson.String {
		if t, err := d.targetOf(ref); err == nil {
			yield(t)
		}
		if d.legacy() {
			return
		}
	}
	doc := v.file.doc
	for n := doc.First(v.node); n != rawjson.None; n = doc.Next(n) {
		m := value{v.file, n}
		switch doc.Key(n) {
		case "not", "if", "then", "else":
			yield(m)
		case "allOf", "anyOf", "oneOf", "dependentSchemas":
			for _, e := range m.each() {
				yield(e)
			}
		case "$dynamicRef":
			if t, err := d.resolveIn(m, m.str()); err == nil {
				yield(t)
			}
		}
	}
}
