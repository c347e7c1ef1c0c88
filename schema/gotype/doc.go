// Package gotype derives schemas and codecs from Go types: the schema of a type,
// and the encoding and decoding of its values, come from one plan.
//
// It does not know tools or calls, and reads no source code: descriptions come
// from struct tags and from methods that types have.
//
// It is where typed functions enter the path of a description: gofunc makes
// tools with it, and has aliases of what functions commonly name.
package gotype
