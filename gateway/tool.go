package gateway

import (
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/argnames"
	"github.com/tenon-mcp/tenon/internal/envelope"
	"github.com/tenon-mcp/tenon/internal/incident"
	"github.com/tenon-mcp/tenon/internal/profile"
	"github.com/tenon-mcp/tenon/internal/projection"
	"github.com/tenon-mcp/tenon/schema"
)

// Tool is one tool of a catalog. Its definition is rendered and its contract
// compiled once, when first needed.
type Tool struct {
	tool      tenon.Tool
	describes bool     // the built-in tool describe, whose failures have the envelope OpenAPIMCP
	resumes   bool     // the built-in tool that returns further parts of other tools' results
	within    *Catalog // of resumes: where the tools are whose parts it returns
	narrowed  bool     // of resumes: within is what one caller sees, so that a tool that is not there is not for it

	source  string
	forward Forward          // nil: the tool performs its calls itself
	view    *projection.View // nil: all of a response is shown
	next    string           // the catalog's tool that returns further parts; empty: none

	unadapted *Tool           // of a tool that was adapted: as every client has it
	profile   *Profile        // of the client that the tool is published to; nil: every client
	reader    *profile.Reader // of arguments as the profile has them
	returns   string          // what the description says that results are

	meta        func(*Tool) []byte  // BuildOptions.Meta
	published   *envelope.Published // shared by the tools of the source
	publish     incident.Once
	definition  []byte
	input       []byte
	names       *argnames.Names // of arguments that are published under other names
	output      []byte
	wraps       bool // native: the value is wrapped as "result"
	diagnostics []tenon.Diagnostic

	asked projection.Selections

	compile incident.Once
	checks  validators
}

// Name returns the tool's name in its catalog.
func (e *Tool) Name() string { return e.tool.Name }

// Source returns the name of the tool's source.
func (e *Tool) Source() string { return e.source }

// Tool returns the tool as its source made it, with its name in the catalog.
func (e *Tool) Tool() tenon.Tool { return e.tool }

// Definition returns the tool's JSON object for tools/list: the same bytes on
// every call, which the caller must not change. nil: it cannot be rendered, for
// the reason in Diagnostics, and calls of the tool fail.
func (e *Tool) Definition() []byte {
	_ = e.rendered() // Diagnostics and calls report the error
	return e.definition
}

// rendered renders the definition. After a panic nothing is published.
func (e *Tool) rendered() error {
	err := e.publish.Do(func() {
		defer func() {
			if e.definition == nil {
				e.input, e.output, e.wraps = nil, nil, false
			}
		}()
		e.render()
	})
	if err == nil {
		return nil
	}
	return &tenon.Error{Code: tenon.CodeInternal, Message: "The definition of " + e.tool.Name + " cannot be rendered, so the tool is not called. Nothing was sent.", Err: err}
}

// Schemas returns the published input and output schema. output is nil if none
// is published.
func (e *Tool) Schemas() (input, output []byte) {
	_ = e.rendered() // as in Definition
	return e.input, e.output
}

// PublishedArgument translates a JSON Pointer into the arguments from the names
// of the description to the published ones, which differ where clients refuse
// the former. Calls accept both.
func (e *Tool) PublishedArgument(pointer string) string {
	_ = e.rendered() // as in Definition
	return e.names.Pointer(pointer)
}

// Diagnostics returns the problems found while rendering and compiling the
// tool's schemas, which it does if that has not happened yet.
func (e *Tool) Diagnostics() []tenon.Diagnostic {
	rendering := e.rendered()
	checks, compiling := e.prepare()
	diagnostics := append(slices.Clip(e.diagnostics), checks.diagnostics...)
	for _, err := range []error{rendering, compiling} {
		if err != nil {
			message, _, _ := strings.Cut(err.Error(), "\n") // the stack is for the log
			diagnostics = append(diagnostics, diagnosticAt(&e.tool, message))
		}
	}
	return diagnostics
}

// prepare compiles the contract. After an error there is nothing to validate
// against, and the handler must not run.
func (e *Tool) prepare() (*validators, error) {
	err := e.compile.Do(func() { e.checks = compileValidators(e) })
	if err == nil {
		return &e.checks, nil
	}
	return &e.checks, &tenon.Error{Code: tenon.CodeInternal, Message: "The contract of " + e.tool.Name + " cannot be compiled, so the tool is not called. Nothing was sent.", Err: err}
}

// ready is prepare, and renders the definition where a call needs it: for the
// envelope or for the names of arguments.
func (e *Tool) ready() (*validators, error) {
	checks, err := e.prepare()
	if err == nil && (checks.renames || e.profile != nil || dependsOnDefinition(&e.tool)) {
		err = e.rendered()
	}
	return checks, err
}

// publishedNames returns the names under which arguments are published; nil:
// their own. It must follow ready. A call that renames no argument must not read
// e.names, which a concurrent tools/list could be writing.
func (e *Tool) publishedNames(checks *validators) *argnames.Names {
	if !checks.renames && e.profile == nil {
		return nil
	}
	return e.names
}

// dependsOnDefinition reports whether the envelope of a result depends on the
// published schema.
func dependsOnDefinition(t *tenon.Tool) bool {
	return t.Envelope != tenon.OpenAPIMCP && t.Envelope != tenon.FlowMCP
}

// diagnosticAt returns a diagnostic at the place where t is described.
func diagnosticAt(t *tenon.Tool, message string) tenon.Diagnostic {
	return tenon.Diagnostic{File: t.Origin.File, Line: t.Origin.Line, Message: t.Name + ": " + message}
}

// contractOf returns t's contract, or an empty one.
func contractOf(t *tenon.Tool) tenon.ContractProvider {
	if t.Contract == nil {
		return tenon.Contract{}
	}
	return t.Contract
}

// compileSchema compiles doc for validation; nil gives nil.
func compileSchema(doc []byte, formats bool) (*schema.Schema, error) {
	if doc == nil {
		return nil, nil //nolint:nilnil // without a schema nothing is validated
	}
	return schema.Compile(doc, schema.Options{AssertFormat: formats})
}
