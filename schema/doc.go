// Package schema works on JSON Schema 2020-12 documents as bytes: it compiles
// them and checks values against them without decoding either.
//
// It does not know what a tool, a call or a source is, and it opens nothing: a
// reference that leaves the document is an error.
//
// It stands below the root. Sources and the catalog compile what they publish
// with it; a gateway checks the arguments of every call and the answer to it.
package schema
