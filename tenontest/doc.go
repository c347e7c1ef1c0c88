// Package tenontest has the checks that every part must pass that somebody
// else may write: a State, a Source.
//
// It knows what the root promises of such a part, and nothing of any one of
// them. It stands beside the paths, in tests only: a room's own test hands it
// a constructor.
package tenontest
