// Package access decides by the operator's rules which part of a catalog a caller
// sees, and which scopes its access token needs for a tool.
//
// It does not know how callers are identified, which package auth does, nor how a
// selector is written: a rule has a function that tells what it is about. Nor does it
// refuse a call. A caller has a catalog without what is not for it, so that no way to
// a tool can be forgotten: lists, search, descriptions, suggestions, further parts.
//
// It stands between the building of a catalog and the gateway that serves it.
package access
