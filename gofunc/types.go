package gofunc

import (
	"github.com/tenon-mcp/tenon/schema/gotype"
)

// The types that stand in the arguments and results of functions where Go has
// no type of its own; see package gotype.
type (
	// JSON is JSON text that is declared as a T, checked as it came.
	JSON[T any] = gotype.JSON[T]
	// Optional is a T or null.
	Optional[T any] = gotype.Optional[T]
	// OneOf2 is an A or a B.
	OneOf2[A, B any] = gotype.OneOf2[A, B]
	// OneOf3 is an A, a B or a C.
	OneOf3[A, B, C any] = gotype.OneOf3[A, B, C]
	// Tuple2 is a list of an A and a B.
	Tuple2[A, B any] = gotype.Tuple2[A, B]
	// Tuple3 is a list of an A, a B and a C.
	Tuple3[A, B, C any] = gotype.Tuple3[A, B, C]
	// Docs are descriptions of a T and its fields, as tenon doc-comments
	// writes them.
	Docs[T any] = gotype.Docs[T]
	// Union says which types stand for an interface; see [gotype.UnionOf].
	Union = gotype.Union
)
