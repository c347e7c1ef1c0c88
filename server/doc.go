// Package server is the MCP face of a gateway: one handler for every revision
// of the protocol, over streamable HTTP and stdio, and a plain JSON-RPC door.
//
// It does not know what a tool is for, where its answer comes from or whether
// the answer fits a schema: it hands raw arguments to the gateway and writes
// what comes back. No revision of the protocol is known outside of it; neither
// are sessions, streams, subscriptions and tasks.
//
// It stands at both ends of a call's path. A door ([Server.ServeHTTP],
// [Server.ServeStdio], [Server.JSONRPC]) takes bytes, one decoder reads the
// envelope, one table finds the method, one writer makes the answer, and the
// same door sends it. What is said while a request is under way goes through
// its outlet: the response, which becomes an event stream, a session's stream,
// or a line.
package server
