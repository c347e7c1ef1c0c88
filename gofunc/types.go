package gofunc

import "github.com/tenon-mcp/tenon/schema"

// The types that stand in the arguments and results of functions where Go has
// no type of its own; see package schema.
type (
	// JSON is JSON text that is promised to be a T, checked as it came.
	JSON[T any] = schema.JSON[T]
	// Optional is a T or null.
	Optional[T any] = schema.Optional[T]
	// OneOf2 is an A or a B.
	OneOf2[A, B any] = schema.OneOf2[A, B]
	// OneOf3 is an A, a B or a C.
	OneOf3[A, B, C any] = schema.OneOf3[A, B, C]
	// Tuple2 is a list of an A and a B.
	Tuple2[A, B any] = schema.Tuple2[A, B]
	// Tuple3 is a list of an A, a B and a C.
	Tuple3[A, B, C any] = schema.Tuple3[A, B, C]
	// Docs are descriptions of a T and its fields, as tenon doc-comments
	// writes them.
	Docs[T any] = schema.Docs[T]
	// Union says which types stand for an interface; see [schema.UnionOf].
	Union = schema.Union
)
