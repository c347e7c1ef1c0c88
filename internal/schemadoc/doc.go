// Package schemadoc models a JSON Schema document as text: the locations of its
// schemas and references, its keywords, and edits that keep every valid value
// valid.
//
// It does not know values and validates nothing; it does not know clients
// either. Documents are tapes of internal/rawjson.
//
// It is below the packages that rewrite schemas on the path of a description:
// internal/publish and schema/projection. The validator uses it to leave out
// patterns that cannot be run.
package schemadoc
