package gateway

import (
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/argnames"
	"github.com/tenon-mcp/tenon/internal/envelope"
	"github.com/tenon-mcp/tenon/internal/incident"
	"github.com/tenon-mcp/tenon/internal/projection"
	"github.com/tenon-mcp/tenon/schema"
)

// Tool is one tool of a catalog. What it publishes is rendered, and what it
// is checked against is compiled, when first needed and once.
type Tool struct {
	tool      tenon.Tool
	describes bool // it tells of others; its failures are those of the envelope OpenAPIMCP
	resumes   bool // it hands out the parts of other tools' answers

	source  string
	forward Forward          // whose call a call is instead; nil: its own
	view    *projection.View // nil: all of an answer is shown
	next    string           // the catalog's tool that hands out parts; empty: it has none

	published   *envelope.Published // of the source
	publish     incident.Once
	definition  []byte
	input       []byte
	names       *argnames.Names // of arguments that input has under other names
	output      []byte
	wraps       bool // native: the value stands under "result"
	diagnostics []tenon.Diagnostic

	asked projection.Selections

	compile incident.Once
	checks  validators
}

// Name returns the tool's name in its catalog.
func (e *Tool) Name() string { return e.tool.Name }

// Source returns the name of the source that offers the tool.
func (e *Tool) Source() string { return e.source }

// Tool returns the tool under its name in the catalog.
func (e *Tool) Tool() tenon.Tool { return e.tool }

// Definition returns the tool's JSON object for tools/list. It is the same
// bytes on every call; the caller must not change them. nil: it cannot be
// rendered, Faults say why, and the tool is not called either.
func (e *Tool) Definition() []byte {
	_ = e.rendered() // Faults and calls say it
	return e.definition
}

// rendered renders what is published. After a panic that is nothing.
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
	return &tenon.Error{Code: tenon.CodeInternal, Message: "The definition of " + e.tool.Name + " cannot be made, so the tool is not called. Nothing was sent.", Err: err}
}

// Schemas returns the input and output schema as they are published. The
// output is nil where none is.
func (e *Tool) Schemas() (input, output []byte) {
	_ = e.rendered() // as in Definition
	return e.input, e.output
}

// PublishedArgument returns where an argument, or a place in one, stands in the
// published input schema. The pointer has the names of the description: some of
// them are published otherwise, since clients refuse them. Both are accepted.
func (e *Tool) PublishedArgument(pointer string) string {
	_ = e.rendered() // as in Definition
	return e.names.Pointer(pointer)
}

// Diagnostics returns what rendering and compiling the tool's schemas had to leave
// out. It renders and compiles if that has not happened yet.
func (e *Tool) Diagnostics() []tenon.Diagnostic {
	rendering := e.rendered()
	checks, compiling := e.prepare()
	faults := append(slices.Clip(e.diagnostics), checks.faults...)
	for _, err := range []error{rendering, compiling} {
		if err != nil {
			what, _, _ := strings.Cut(err.Error(), "\n") // the stack is for the log
			faults = append(faults, diagnosticAt(&e.tool, what))
		}
	}
	return faults
}

// prepare compiles what the tool's calls are checked against. With an error
// there is nothing to check against, and no call must be made.
func (e *Tool) prepare() (*validators, error) {
	err := e.compile.Do(func() { e.checks = compileValidators(e) })
	if err == nil {
		return &e.checks, nil
	}
	return &e.checks, &tenon.Error{Code: tenon.CodeInternal, Message: "The contract of " + e.tool.Name + " cannot be compiled, so the tool is not called. Nothing was sent.", Err: err}
}

// ready is prepare, and renders what the answers are given their form by, or the
// arguments their names.
func (e *Tool) ready() (*validators, error) {
	checks, err := e.prepare()
	if err == nil && (checks.renames || shapesByDefinition(&e.tool)) {
		err = e.rendered()
	}
	return checks, err
}

// publishedNames returns what the arguments are published under, which is known
// where ready has said so; nil: their own names. A call that needs none of them
// does not look, as a list may be rendering them.
func (e *Tool) publishedNames(checks *validators) *argnames.Names {
	if !checks.renames {
		return nil
	}
	return e.names
}

// shapesByDefinition reports whether the form of an answer depends on what is
// published.
func shapesByDefinition(t *tenon.Tool) bool {
	return t.Envelope != tenon.OpenAPIMCP && t.Envelope != tenon.FlowMCP
}

// diagnosticAt makes a report about t at the place where it is described.
func diagnosticAt(t *tenon.Tool, what string) tenon.Diagnostic {
	return tenon.Diagnostic{File: t.Origin.File, Line: t.Origin.Line, Message: t.Name + ": " + what}
}

// promiseOf returns t's promise, or one that promises nothing.
func promiseOf(t *tenon.Tool) tenon.ContractProvider {
	if t.Contract == nil {
		return tenon.Contract{}
	}
	return t.Contract
}

// compileSchema compiles doc for input validation or two; nil doc gives nil.
func compileSchema(doc []byte, formats bool) (*schema.Schema, error) {
	if doc == nil {
		return nil, nil //nolint:nilnil // no schema is a legal promise: nothing is checked
	}
	return schema.Compile(doc, schema.Options{AssertFormat: formats})
}
