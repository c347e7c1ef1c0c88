package gateway

import (
	"bytes"
	"fmt"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/argnames"
	"github.com/tenon-mcp/tenon/internal/envelope"
	"github.com/tenon-mcp/tenon/internal/reservedargs"
	"github.com/tenon-mcp/tenon/schema"
)

// validators is a compiled contract.
type validators struct {
	input       *schema.Schema
	answers     []envelope.Declared
	good        []envelope.Declared // the declared successes, as they are published
	own         reservedargs.Names  // names of the reserved arguments
	streams     bool                // the items of a response can arrive one by one
	renames     bool                // some arguments are published under other names
	base64      bool                // binary data is part of the value
	decodes     bool                // validation needs the decoded value
	diagnostics []tenon.Diagnostic
}

// compileValidators compiles a tool's contract. A schema that does not compile
// is reported and not used: calls must not fail because of an invalid schema.
func compileValidators(e *Tool) validators {
	t := &e.tool
	c := validators{base64: t.Envelope == tenon.FlowMCP, own: reservedargs.NamesFor(reservedBy(t), nil)}
	contract, err := contractOf(t).Contract()
	if err != nil {
		c.diagnostics = append(c.diagnostics, diagnosticAt(t, "its contract cannot be read, calls are not checked: "+err.Error()))
		return c
	}
	if c.input, err = compileSchema(contract.Input, contract.Formats); err != nil {
		c.diagnostics = append(c.diagnostics, diagnosticAt(t, "the input schema does not compile, arguments are not checked: "+err.Error()))
	}
	c.tellUnchecked(t, "the input schema", c.input)
	answers := withNoContent(contract.Responses)
	isSuccess := successRule(answers)
	for _, v := range answers {
		checked := envelope.Declared{Status: v.Status, Media: v.MediaType, Open: v.Open, Definition: v.Definition}
		if checked.Body, err = compileSchema(checkedSchema(&v), contract.Formats); err != nil {
			c.diagnostics = append(c.diagnostics, diagnosticAt(t, "the schema of answer "+v.Status+" does not compile, it is not checked: "+err.Error()))
		}
		c.tellUnchecked(t, "the schema of answer "+v.Status, checked.Body)
		c.answers = append(c.answers, checked)
		if isSuccess(v.Status) {
			c.good = append(c.good, checked)
		}
		c.streams = c.streams || envelope.IsStream(v.MediaType)
		c.decodes = c.decodes || checked.Body != nil && !checked.Body.Bytes()
	}
	c.renames = argnames.May(contract.Input)
	own := reservedBy(t)
	if c.streams {
		own |= reservedargs.Token
	}
	c.own = reservedargs.NamesFor(own, contract.Input)
	if e.resumes {
		c.own = reservedargs.NamesFor(reservedargs.Token, nil)
	}
	return c
}

// tellUnchecked reports the patterns of a schema that cannot be compiled.
func (c *validators) tellUnchecked(t *tenon.Tool, where string, s *schema.Schema) {
	if s == nil {
		return
	}
	for _, u := range s.Unchecked() {
		c.diagnostics = append(c.diagnostics, diagnosticAt(t, fmt.Sprintf("%s: the pattern %.200q at %s cannot be run, values are not checked against it", where, u.Pattern, u.Pointer)))
	}
}

// validateInput validates the arguments and returns them as they are sent: after
// coercion and with their original names.
func (c *validators) validateInput(call *tenon.Call, names *argnames.Names) (checked *tenon.Call, coerced []schema.Fix, violations []schema.Violation) {
	args, coerced, violations := names.Validate(c.input, call.Args)
	if bytes.Equal(args, call.Args) {
		return call, coerced, violations
	}
	with := *call
	with.Args = args
	return &with, coerced, violations
}

// checkedSchema returns the schema that bodies are validated against.
func checkedSchema(v *tenon.ResponseSchema) []byte {
	if v.Check != nil {
		return v.Check
	}
	return v.Schema
}
