// Package publish turns schema documents into what clients can read: compatible
// with their validators, without recursion, small enough, and several bundled in
// one document.
//
// It does not know tools, catalogs or envelopes, and it validates no values.
//
// It is on the path of a description, between a source and the list of tools:
// whatever a catalog publishes passes through it. schema/gotype bundles the
// schemas of types with it.
package publish
