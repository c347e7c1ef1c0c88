// Package worker is for Go programs that are function apps: Azure Functions
// has no worker for Go, but it runs any program as a custom handler. An App
// holds the program's tools, resources and prompts, writes the files by which
// a host finds them, and serves the host's calls.
//
// It does not know MCP, nor how clients reach the host: that is the host's
// side, be it Azure's or tenon.
//
// It stands at both ends. Emit is where a description begins. A call comes in
// as POST /<function>, goes through a gateway of its own, so that arguments
// and answers are checked even where the host checks nothing, and leaves in an
// envelope.
package worker
