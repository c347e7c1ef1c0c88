// Package typedecl writes the schemas of tools as declarations of TypeScript and
// of Python, with one function for each tool.
//
// It does not know catalogs, envelopes or protocols: plain values with schemas
// come in, source text comes out, the same bytes for the same input.
//
// Every value that is valid against a schema has the declared type, and the type
// is narrower wherever the language can say so. build.go reads schemas into a
// [Type], meet.go joins what applies together, and typescript.go and python.go
// print. What stands in a schema is foreign text: text.go keeps it within strings
// and comments.
package typedecl
