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

// validators is a contract ready to be checked against.
type validators struct {
	input   *schema.Schema
	answers []envelope.Declared
	good    []envelope.Declared // of answers, those of a success, as they are published
	own     reservedargs.Names  // arguments that are the gateway's
	streams bool                // items of an answer may arrive one by one
	renames bool                // arguments may be published under other names
	base64  bool                // binary data stands in the answer itself
	decodes bool                // an answer is checked with its value decoded
	faults  []tenon.Diagnostic
}

// compileValidators compiles a tool's contract. What does not compile is not
// checked, and reported: a call must not fail over a description's mistake.
func compileValidators(e *Tool) validators {
	t := &e.tool
	c := validators{base64: t.Envelope == tenon.FlowMCP, own: reservedargs.NamesFor(reservedBy(t), nil)}
	contract, err := promiseOf(t).Contract()
	if err != nil {
		c.faults = append(c.faults, diagnosticAt(t, "its contract cannot be read, calls are not checked: "+err.Error()))
		return c
	}
	if c.input, err = compileSchema(contract.Input, contract.Formats); err != nil {
		c.faults = append(c.faults, diagnosticAt(t, "the input schema does not compile, arguments are not checked: "+err.Error()))
	}
	c.tellUnchecked(t, "the input schema", c.input)
	answers := withNoContent(contract.Responses)
	isSuccess := successRule(answers)
	for _, v := range answers {
		checked := envelope.Declared{Status: v.Status, Media: v.MediaType, Open: v.Open}
		if checked.Body, err = compileSchema(checkedSchema(&v), contract.Formats); err != nil {
			c.faults = append(c.faults, diagnosticAt(t, "the schema of answer "+v.Status+" does not compile, it is not checked: "+err.Error()))
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

// tellUnchecked reports the patterns of a schema that cannot be run.
func (c *validators) tellUnchecked(t *tenon.Tool, where string, s *schema.Schema) {
	if s == nil {
		return
	}
	for _, u := range s.Unchecked() {
		c.faults = append(c.faults, diagnosticAt(t, fmt.Sprintf("%s: the pattern %.200q at %s cannot be run, values are not checked against it", where, u.Pattern, u.Pointer)))
	}
}

// validateInput validates the arguments; what was read or restored is what is sent.
func (c *validators) validateInput(call *tenon.Call, names *argnames.Names) (checked *tenon.Call, healed []schema.Fix, violations []schema.Violation) {
	args, healed, violations := names.Validate(c.input, call.Args)
	if bytes.Equal(args, call.Args) {
		return call, healed, violations
	}
	with := *call
	with.Args = args
	return &with, healed, violations
}

// checkedSchema is the schema that bodies are checked against.
func checkedSchema(v *tenon.ResponseSchema) []byte {
	if v.Check != nil {
		return v.Check
	}
	return v.Schema
}
