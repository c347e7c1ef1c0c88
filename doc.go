// Package tenon holds the words that descriptions of services and MCP servers
// have in common: what a tool is, what goes into a call of it, what comes back.
//
// # One idea
//
//	description ──read──▶ Tool ──freeze──▶ Catalog ──serve──▶ MCP
//	                       │
//	                       └─ Handler: the only thing that differs between sources
//
// It is structured like a compiler: front ends that read (openapi, flowmcp, gofunc
// and their siblings), one middle form ([Tool]), back ends that serve (server).
// Everything before a Tool is reading, everything after it is serving, and no
// package does both.
//
// This package is what the author of a [Source] and an embedder need to know.
// It does not know the catalog and the path of a call, which are package
// gateway's, nor MCP, HTTP servers, document formats or credentials. Sources and
// transports import it; it imports schema and the rules of tool names.
//
// # Words
//
// What Go, HTTP, JSON Schema, OpenAPI and MCP have a word for is called by it.
// These are our own:
//
//   - tenon: the end of a piece of wood, cut to fit a mortise exactly
//   - source: reads one description and returns tools
//   - catalog: the frozen set of tools that is served
//   - contract: the schemas of what goes in and of every declared response
//   - verdict: how a response compares with its contract
//   - executed: whether a call changed something upstream: yes, no or unknown
//   - policy: what is published and what happens to a violation
//   - envelope: the form of structuredContent
//   - part: a piece of a result that is too large for one message
//
// # Where to read on
//
// To follow a description, read openapi from its Source; to follow a call, read
// gateway from [Gateway.Call] file by file; to follow a request, read server
// from its ServeHTTP. docs/architecture.md has the plan and its reasons.
//
// [Gateway.Call]: https://pkg.go.dev/github.com/tenon-mcp/tenon/gateway#Gateway.Call
package tenon
