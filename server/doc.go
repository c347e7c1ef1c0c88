// Package server is the MCP face of a gateway: one handler for every revision
// of the protocol, over streamable HTTP and stdio.
//
// It does not know what a tool is for, where its answer comes from or whether
// the answer fits a schema: it hands raw arguments to the gateway and writes
// what comes back. No revision of the protocol is known outside of it.
//
// It stands at both ends of a call's path. A door ([Server.ServeHTTP],
// [Server.ServeStdio]) takes bytes, one decoder reads the envelope, one table
// finds the method, one writer makes the answer, and the same door sends it.
package server
