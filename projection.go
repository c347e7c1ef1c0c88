package tenon

import "context"

// Projection selects the part of a tool's responses that callers see, and whose
// schema is published. The whole response is validated first, then the selected
// part. Errors, texts and binary responses are not projected.
type Projection struct {
	Select []string // paths like "items[].id", see projection.Parse; empty: everything
	Filter Filter   // transforms the selection; nil: it is not transformed
	// Schema is the schema of Filter's output. nil: it is inferred from examples
	// and samples and published as advice; violations of it are only reported.
	Schema []byte
}

// Filter transforms a JSON value into another of at most limit bytes. It stops
// when ctx is done.
type Filter interface {
	Run(ctx context.Context, value []byte, limit int) ([]byte, error)
}
