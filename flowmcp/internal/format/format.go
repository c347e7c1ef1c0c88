// Package format reads FlowMCP schema files and checks them against the rules of
// the format.
//
// It does not know requests, handlers at run time or credentials, and executes
// no code of a file. It returns a model ([File], [Tool], [Resource], [Guide])
// whose findings tell what is wrong with it.
//
// It is the step between the syntax tree and tools: [module.Node] → [File] →
// tenon.Tool.
package format

// Options control how files are read. The zero value works.
type Options struct {
	Strict             bool     // enforce the format's pages
	ImplicitParameters bool     // undeclared placeholders may be arguments
	Lists              string   // folder of shared lists; empty: _lists or _shared above a file
	Libraries          []string // libraries allowed in addition to the format's own

	HandlerReads, HandlerWrites []string // tools, files or namespaces

	ProjectDir, GlobalDir string // folders of resource files; empty: unknown

	// Env returns the values of server parameters, for reports. nil: none are
	// set.
	Env func(name string) (string, bool)
}
