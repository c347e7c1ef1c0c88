// Package worker is for Go programs that are function apps: Azure Functions has
// no worker for Go, but runs any program as a custom handler. An App holds the
// program's tools, resources and prompts, writes the files that describe them
// to a host, and serves the host's calls.
//
// It does not know MCP, nor how clients reach the host: that is the host's
// side, Azure's or tenon's.
//
// Emit writes the description of an app. A call arrives as POST /<function>,
// passes a gateway of its own, which validates arguments and results even where
// the host does not, and is answered in an envelope.
package worker
