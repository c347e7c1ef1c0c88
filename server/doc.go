// Package server serves a gateway over MCP: every revision of the protocol over
// streamable HTTP and stdio, and plain JSON-RPC at an endpoint of its own.
//
// It does not know what a tool is for, where its result comes from or whether
// that is valid: it passes raw arguments to the gateway and writes the result.
// No other package knows revisions of the protocol, sessions, streams,
// subscriptions or tasks.
//
// It is at both ends of the path of a call. A transport ([Server.ServeHTTP],
// [Server.ServeStdio], [Server.JSONRPC]) reads bytes, one decoder reads the
// message, one table finds the method, one writer makes the response, and the
// transport sends it. Messages during a request go through its notifier: the
// response, which becomes an event stream, a session's stream, or a line.
package server
