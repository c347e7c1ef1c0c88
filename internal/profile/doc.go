// Package profile rewrites schemas of tools as the rules of one client or model API
// want them: references written out, lists of types split, enums of texts alone, objects
// whose properties are all required.
//
// It does not know clients, which package clients does, nor catalogs: a schema and what
// is wanted of it go in, a schema and what could not be expressed come out.
//
// Where nothing is noted, a rewritten input schema accepts at most what the schema
// accepts, read as [Needs.Absent] reads it, and a rewritten output schema at least that.
//
// It stands on the path of a description, behind everything that all clients get.
package profile
