// Package jsonrpc reads JSON-RPC 2.0 messages as MCP uses them: one pass over the
// bytes finds the envelope, the members of params and _meta that the protocol
// defines, and every syntax error. It makes the errors of responses.
//
// It does not know transports, sessions or methods: arguments and results stay
// the bytes that arrived.
//
// It is the first step of a request in package server, for every transport.
package jsonrpc
