package gateway

import (
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/argnames"
	"github.com/tenon-mcp/tenon/internal/envelope"
	"github.com/tenon-mcp/tenon/internal/reservedargs"
	"github.com/tenon-mcp/tenon/schema"
)

// render makes the definition that clients read, and makes sure that it is
// safe: one bad schema makes some clients drop the whole list.
func (e *Tool) render() {
	promised, faults := promiseOf(&e.tool).PublishedContract()
	e.diagnostics = faults
	p := e.publishedProjection(promised)
	input := promised.Input
	if !e.tool.RawSchemas || input == nil {
		var changes []schema.Change
		input, changes = e.published.Input(input)
		e.reportChanges("input", changes)
	}
	own := reservedargs.NamesFor(reservedBy(&e.tool)|reservedargs.Token, input)
	e.names = argnames.Of(input, reservedargs.All()...)
	input = e.names.Publish(input)
	acyclic, cycles := schema.BreakCycles(input)
	switch {
	case !e.tool.RawSchemas:
		input = acyclic
		e.reportChanges("input", cycles)
	case cycles != nil: // see decision 88
		e.diagnostics = append(e.diagnostics, diagnosticAt(&e.tool, "the input schema refers to itself and is published as it is: some clients lose all tools over it"))
	}
	input = e.bindHeaders(input)
	e.input = own.Publish(input, e.publishes(p))
	if alone := own.Of(reservedargs.Token); e.publishes(p)&reservedargs.Token != 0 && !envelope.Admits(e.input, `{"`+alone+`":"x"}`) { // see decision 74
		e.input = own.Publish(input, e.publishes(p)&^reservedargs.Token)
	}
	e.renderOutput(p)
	t := &e.tool
	d := envelope.Definition{
		Name: t.Name, Title: t.Title, Description: t.Description, Input: e.input, Output: e.output, Meta: t.Meta,
		ReadOnly: t.Annotations.ReadOnly, Destructive: t.Annotations.Destructive, Idempotent: t.Annotations.Idempotent, OpenWorld: t.Annotations.OpenWorld,
	}
	e.definition = d.JSON()
}

// renderOutput makes the output schema for the tool's policy and shape, if one
// is published.
func (e *Tool) renderOutput(p envelope.Contract) {
	publish := envelope.PublishNative
	switch {
	case e.tool.Policy == tenon.Off, e.resumes: // a part has the schema of the tool that was called first
		return
	case e.tool.Envelope == tenon.OpenAPIMCP:
		publish = envelope.PublishOpenAPIMCP
	case e.tool.Envelope == tenon.FlowMCP:
		publish = envelope.PublishFlowMCP
	case e.tool.RawSchemas && p.Own() != nil:
		e.output = p.Own()
		return
	}
	if e.tool.RawSchemas {
		e.output, e.wraps = publish(p)
		return
	}
	out := e.published.Output(p, string(e.tool.Envelope), publish)
	e.output, e.wraps = out.Schema, out.Wraps
	e.reportChanges("output", out.Changes)
}

// reportChanges reports what is different from what was promised.
func (e *Tool) reportChanges(which string, changes []schema.Change) {
	for _, c := range changes {
		what := which + " schema: " + c.Message
		if c.Path != "" {
			what += " at " + c.Path
		}
		e.diagnostics = append(e.diagnostics, diagnosticAt(&e.tool, what))
	}
}

// shapePromise is what the tool promises of its successes.
func shapePromise(t *tenon.Tool, c tenon.Contract) envelope.Contract {
	p := envelope.Contract{Advice: t.Policy == tenon.Warn || t.Fields, Wrapper: c.Wrapper, Consent: asksConsent(t)}
	answers := c.Responses
	if t.Envelope != tenon.FlowMCP { // its data may be null anyway
		answers = withNoContent(answers)
	}
	for _, v := range successes(answers) {
		p.Successes = append(p.Successes, envelope.Response{Media: v.MediaType, Open: v.Open, Schema: v.Schema, Example: v.Example})
	}
	return p
}

// successes returns the variants that describe a success: they alone are
// published, and they alone are what a success is held against.
func successes(answers []tenon.ResponseSchema) []tenon.ResponseSchema {
	var of []tenon.ResponseSchema
	describes := successRule(answers)
	for i := range answers {
		if describes(answers[i].Status) {
			of = append(of, answers[i])
		}
	}
	return of
}

// successRule tells which declared statuses describe a success: the 2xx and
// that of an answer without HTTP. Where there is none, default does; else it
// stands for the errors, as documents mean it.
func successRule(answers []tenon.ResponseSchema) func(status string) bool {
	plain := func(status string) bool { return status == "" || strings.HasPrefix(status, "2") }
	if slices.ContainsFunc(answers, func(v tenon.ResponseSchema) bool { return plain(v.Status) }) {
		return plain
	}
	return func(status string) bool { return strings.EqualFold(status, "default") }
}

// withNoContent adds what HTTP says of two statuses that a range covers: their
// answers have no body, so that JSON that is described for the range is not
// missing there.
func withNoContent(answers []tenon.ResponseSchema) []tenon.ResponseSchema {
	described := func(v tenon.ResponseSchema) bool {
		return strings.EqualFold(v.Status, "2XX") && v.MediaType != "" && envelope.KindOfMedia(v.MediaType) == envelope.JSON
	}
	plain := func(v tenon.ResponseSchema) bool {
		return v.Status == "204" || v.Status == "205" || strings.EqualFold(v.Status, "2XX") && v.MediaType == ""
	}
	if !slices.ContainsFunc(answers, described) || slices.ContainsFunc(answers, plain) {
		return answers
	}
	return append(slices.Clip(answers), tenon.ResponseSchema{Status: "204"}, tenon.ResponseSchema{Status: "205"})
}
