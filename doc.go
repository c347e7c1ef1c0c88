// Package tenon turns descriptions of services into MCP tools whose answers
// keep the output schema that they published.
package tenon
