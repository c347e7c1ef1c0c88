// Package audit writes a line of JSON for every call and, within bounds, for
// requests that were refused before they were one: who called what when, whether
// it was executed, confirmed and true to its contract, and nothing of what was
// said in it.
//
// It does not know where calls come from nor who is behind a subject: the gateway
// tells it of calls that have ended, as to any [gateway.Observer]. Arguments
// are in a line as a keyed digest, and in clear only at the pointers that the
// operator names; results are not in it at all.
//
// It stands beside the path of a call. A line is written before the caller has
// the result, so that a process that dies does not owe lines of calls that
// somebody knows of; with [Options.Required], [Log.Admit] refuses calls that
// could not be written down.
//
// line.schema.json describes the lines.
package audit
