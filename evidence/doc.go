// Package evidence counts how the responses of services compare with their schemas:
// which operations were called, how many responses fit, and where the others differ.
//
// It keeps counters and places in schemas, never a value of an argument or a response
// and never a name that a schema does not declare. It does not know the gateway: it is
// told plain values, and it publishes and decides nothing.
//
// A [Recorder] is told of calls beside their path and adds what it heard to a file,
// which [Read] reads and [Ledger.Merge] joins with others.
package evidence
