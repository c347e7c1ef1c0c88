// Package projection selects parts of values by paths: it parses the paths,
// writes what they select of a value and the schema of that, and suggests
// declared members for unknown ones.
//
// It does not know calls, filters or who chose the paths. Values are bytes that
// were validated before.
//
// It is after output validation on the path of a call; internal/projection
// applies it for a tool.
package projection
