// Package schema works on JSON Schema 2020-12 documents as bytes: it compiles
// them and checks values against them without decoding either.
//
// It does not know tools, calls or sources, and it opens nothing: a reference
// that leaves the document is an error.
//
// It is below the root package on the path of a call. Sources and the catalog
// compile what they publish with it; a gateway checks the arguments and the
// result of every call.
package schema
