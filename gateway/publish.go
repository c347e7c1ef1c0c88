package gateway

import (
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/envelope"
	"github.com/tenon-mcp/tenon/internal/publish"
	"github.com/tenon-mcp/tenon/internal/reservedargs"
)

// render makes the definition that clients read and ensures that it is valid:
// one bad schema makes some clients drop the whole list.
func (e *Tool) render() {
	declared, diagnostics := contractOf(&e.tool).PublishedContract()
	e.diagnostics = diagnostics
	p := e.publishedProjection(declared)
	input := declared.Input
	if !e.tool.RawSchemas || input == nil {
		var changes []publish.Change
		input, changes = e.published.Input(input)
		e.reportChanges("input", changes)
	}
	own := reservedargs.NamesFor(reservedBy(&e.tool)|reservedargs.Token, input)
	e.names = e.argumentNames(input, reservedargs.All()...)
	input = e.names.Publish(input)
	acyclic, cycles := publish.BreakCycles(input)
	switch {
	case !e.tool.RawSchemas:
		input = acyclic
		e.reportChanges("input", cycles)
	case cycles != nil: // see decision 88
		e.diagnostics = append(e.diagnostics, diagnosticAt(&e.tool, "the input schema is recursive and is published unchanged: some clients lose all tools over it"))
	}
	if e.adapted() {
		input = publish.InlineOnce(input)
	}
	input = e.bindHeaders(input)
	e.input = own.Publish(input, e.publishes(p))
	if alone := own.Of(reservedargs.Token); e.publishes(p)&reservedargs.Token != 0 && !envelope.Admits(e.input, `{"`+alone+`":"x"}`) { // see decision 74
		e.input = own.Publish(input, e.publishes(p)&^reservedargs.Token)
	}
	e.renderOutput(p)
	if e.profile != nil {
		e.adapts()
	}
	t := &e.tool
	d := envelope.Definition{
		Name: t.Name, Title: t.Title, Description: e.described(), Input: e.input, Output: e.output, Meta: t.Meta,
		ReadOnly: t.Annotations.ReadOnly, Destructive: t.Annotations.Destructive, Idempotent: t.Annotations.Idempotent, OpenWorld: t.Annotations.OpenWorld,
	}
	if e.meta != nil {
		d.Meta = envelope.Join(d.Meta, e.meta(e))
	}
	e.definition = d.JSON()
}

// renderOutput makes the output schema for the tool's policy and envelope, if
// one is published.
func (e *Tool) renderOutput(p envelope.Contract) {
	write := envelope.PublishNative
	switch {
	case e.tool.Policy == tenon.Off, e.resumes: // parts have the schema of the tool that was called first
		return
	case e.tool.Envelope == tenon.OpenAPIMCP:
		write = envelope.PublishOpenAPIMCP
	case e.tool.Envelope == tenon.FlowMCP:
		write = envelope.PublishFlowMCP
	case e.tool.RawSchemas && p.Own() != nil:
		e.output = p.Own()
		return
	}
	if e.tool.RawSchemas {
		e.output, e.wraps = write(p)
		return
	}
	out := e.published.Output(p, write)
	e.output, e.wraps = out.Schema, out.Wraps
	if e.adapted() {
		e.output = publish.InlineOnce(e.output)
	}
	e.reportChanges("output", out.Changes)
}

// adapted reports whether schemas are written as clients like them: whoever wrote what
// is published keeps it.
func (e *Tool) adapted() bool { return !e.tool.RawSchemas && !e.tool.Fixed }

// reportChanges reports where the published schema differs from the contract.
func (e *Tool) reportChanges(which string, changes []publish.Change) {
	for _, c := range changes {
		what := which + " schema: " + c.Message
		if c.Path != "" {
			what += " at " + c.Path
		}
		e.diagnostics = append(e.diagnostics, diagnosticAt(&e.tool, what))
	}
}

// successContract returns the declared successes of the tool.
func successContract(t *tenon.Tool, c tenon.Contract) envelope.Contract {
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

// successes returns the response schemas of successes: they alone are published,
// and successes are validated against them alone.
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

// successRule tells which declared statuses describe a success: 2xx and the
// empty status of a response without HTTP. Only without these does default
// describe successes, since documents mean errors by it otherwise.
func successRule(answers []tenon.ResponseSchema) func(status string) bool {
	plain := func(status string) bool { return status == "" || strings.HasPrefix(status, "2") }
	if slices.ContainsFunc(answers, func(v tenon.ResponseSchema) bool { return plain(v.Status) }) {
		return plain
	}
	return func(status string) bool { return strings.EqualFold(status, "default") }
}

// withNoContent adds 204 and 205, which by RFC 9110 have no body, where a range
// covers them, so that a body described for the range is not required there.
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
