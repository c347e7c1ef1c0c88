package tenon

import "context"

// Projection is what callers get to see of a tool's answers, and all that is
// published of them. The upstream's answer is judged as a whole first; what is
// left of it is checked, too. Errors, texts and binary answers stay as they
// are.
type Projection struct {
	Select []string // only these parts: paths like "items[].id", see schema.ParseProjection; empty: everything
	Filter Filter   // what is made of the selection; nil: nothing
	// Schema is what Filter makes. nil: it is inferred from examples and
	// samples, published as advice, and a violation of it is only reported.
	Schema []byte
}

// Filter makes one JSON value of another, of at most limit bytes. It stops
// when ctx ends.
type Filter interface {
	Run(ctx context.Context, value []byte, limit int) ([]byte, error)
}
