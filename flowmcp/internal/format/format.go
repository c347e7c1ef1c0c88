// Package format reads FlowMCP schema files and checks them against the rules of
// the format.
//
// It does not know requests, handlers at run time or credentials, and executes
// no code of a file. It returns a model ([File], [Tool], [Resource], [Guide])
// whose findings tell what is wrong with it.
//
// It is the step between the syntax tree and tools: [module.Node] → [File] →
// tenon.Tool.
//
// A rule has a code, whose letters say what it is about and where it is checked.
// docs/flowmcp-rules.md explains each one; library has CAT, the rules of registries.
//
//	VAL  main, its tools and parameters   check_main.go, check_tool.go, parameter.go, zod_type.go
//	NAM  spelling of names and tags       check_main.go, parameter.go
//	OUT  output schemas                   check_tool.go
//	PRL  preload, what may be kept        check_tool.go
//	TST  test cases                       check_tool.go, of agents agent.go
//	LST  shared lists                     list.go
//	RES  resources and their queries      resource.go
//	PRM  prompts                          prompt.go, guide.go
//	SKL  skills                           guide.go
//	PH   placeholders of their texts      guide.go
//	ID   names in full                    check_main.go, lookup.go
//	AGT  agents                           agent.go
//	SEL  selections                       selection.go
//	SEC  what code may not do             security.go, handler_scan.go
//	CHK  the check itself                 report.go, finding.go
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
