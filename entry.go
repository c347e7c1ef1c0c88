package tenon

import (
	"slices"
	"sync"

	"github.com/tenon-mcp/tenon/internal/shape"
	"github.com/tenon-mcp/tenon/internal/view"
	"github.com/tenon-mcp/tenon/schema"
)

// Entry is one tool of a catalog. What it publishes is rendered, and what it
// is checked against is compiled, when first needed and once.
type Entry struct {
	tool   Tool
	source string
	view   *view.View // nil: all of an answer is shown
	next   string     // the catalog's tool that hands out parts; empty: it has none

	published  *shape.Published // of the source
	publish    sync.Once
	definition []byte
	input      []byte
	output     []byte
	wraps      bool // native: the value stands under "result"
	faults     []Fault

	compile sync.Once
	checks  checks
}

// Name returns the tool's name in its catalog.
func (e *Entry) Name() string { return e.tool.Name }

// Source returns the name of the source that offers the tool.
func (e *Entry) Source() string { return e.source }

// Tool returns the tool under its name in the catalog.
func (e *Entry) Tool() Tool { return e.tool }

// Definition returns the tool's JSON object for tools/list. It is the same
// bytes on every call; the caller must not change them.
func (e *Entry) Definition() []byte {
	e.publish.Do(e.render)
	return e.definition
}

// Schemas returns the input and output schema as they are published. The
// output is nil where none is.
func (e *Entry) Schemas() (input, output []byte) {
	e.publish.Do(e.render)
	return e.input, e.output
}

// Faults returns what rendering and compiling the tool's schemas had to leave
// out. It renders and compiles if that has not happened yet.
func (e *Entry) Faults() []Fault {
	e.publish.Do(e.render)
	e.prepare()
	return append(slices.Clip(e.faults), e.checks.faults...)
}

func (e *Entry) prepare() *checks {
	e.compile.Do(func() { e.checks = compileChecks(&e.tool) })
	return &e.checks
}

// fault makes a report about t at the place where it is described.
func (t *Tool) fault(what string) Fault {
	return Fault{File: t.Origin.File, Line: t.Origin.Line, What: t.Name + ": " + what}
}

// promised returns t's promise, or one that promises nothing.
func (t *Tool) promised() Promise {
	if t.Promise == nil {
		return Contract{}
	}
	return t.Promise
}

// compileSchema compiles doc for wall one or two; nil doc gives nil.
func compileSchema(doc []byte, formats bool) (*schema.Schema, error) {
	if doc == nil {
		return nil, nil //nolint:nilnil // no schema is a legal promise: nothing is checked
	}
	return schema.Compile(doc, schema.Options{AssertFormat: formats})
}
