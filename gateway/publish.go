package gateway

import (
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/argnames"
	"github.com/tenon-mcp/tenon/internal/reserve"
	"github.com/tenon-mcp/tenon/internal/shape"
	"github.com/tenon-mcp/tenon/schema"
)

// render makes the definition that clients read, and makes sure that it is
// safe: one bad schema makes some clients drop the whole list.
func (e *Entry) render() {
	promised, faults := promiseOf(&e.tool).Published()
	e.faults = faults
	p := e.shown(promised)
	input := promised.Input
	if !e.tool.Verbatim || input == nil {
		var changes []schema.Change
		input, changes = e.published.Input(input)
		e.tell("input", changes)
	}
	own := reserve.NamesFor(reservedBy(&e.tool)|reserve.Token, input)
	e.names = argnames.Of(input, reserve.All()...)
	input = e.names.Publish(input)
	e.input = own.Publish(input, e.publishes(p))
	if alone := own.Of(reserve.Token); e.publishes(p)&reserve.Token != 0 && !shape.Admits(e.input, `{"`+alone+`":"x"}`) { // see decision 74
		e.input = own.Publish(input, e.publishes(p)&^reserve.Token)
	}
	e.renderOutput(p)
	t := &e.tool
	d := shape.Definition{
		Name: t.Name, Title: t.Title, Description: t.Description, Input: e.input, Output: e.output, Meta: t.Meta,
		ReadOnly: t.Hints.ReadOnly, Destructive: t.Hints.Destructive, Idempotent: t.Hints.Idempotent, OpenWorld: t.Hints.OpenWorld,
	}
	e.definition = d.JSON()
}

// renderOutput makes the output schema for the tool's policy and shape, if one
// is published.
func (e *Entry) renderOutput(p shape.Promise) {
	publish := shape.PublishNative
	switch {
	case e.tool.Policy == tenon.Off, e.resumes: // a part has the schema of the tool that was called first
		return
	case e.tool.Shape == tenon.OpenAPIMCP:
		publish = shape.PublishOpenAPIMCP
	case e.tool.Shape == tenon.FlowMCP:
		publish = shape.PublishFlowMCP
	case e.tool.Verbatim && p.Own() != nil:
		e.output = p.Own()
		return
	}
	if e.tool.Verbatim {
		e.output, e.wraps = publish(p)
		return
	}
	out := e.published.Output(p, string(e.tool.Shape), publish)
	e.output, e.wraps = out.Schema, out.Wraps
	e.tell("output", out.Changes)
}

// tell reports what is different from what was promised.
func (e *Entry) tell(which string, changes []schema.Change) {
	for _, c := range changes {
		what := which + " schema: " + c.What
		if c.Path != "" {
			what += " at " + c.Path
		}
		e.faults = append(e.faults, diagnosticAt(&e.tool, what))
	}
}

// promise is what the tool promises of its successes.
func shapePromise(t *tenon.Tool, c tenon.Contract) shape.Promise {
	p := shape.Promise{Advice: t.Policy == tenon.Warn || t.Fields, Wrapper: c.Wrapper, Consent: asksConsent(t)}
	answers := c.Answers
	if t.Shape != tenon.FlowMCP { // its data may be null anyway
		answers = withNoContent(answers)
	}
	for _, v := range successes(answers) {
		p.Successes = append(p.Successes, shape.Variant{Media: v.Media, Open: v.Open, Schema: v.Schema, Example: v.Example})
	}
	return p
}

// successes returns the variants that describe a success: they alone are
// published, and they alone are what a success is held against.
func successes(answers []tenon.Variant) []tenon.Variant {
	var of []tenon.Variant
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
func successRule(answers []tenon.Variant) func(status string) bool {
	plain := func(status string) bool { return status == "" || strings.HasPrefix(status, "2") }
	if slices.ContainsFunc(answers, func(v tenon.Variant) bool { return plain(v.Status) }) {
		return plain
	}
	return func(status string) bool { return strings.EqualFold(status, "default") }
}

// withNoContent adds what HTTP says of two statuses that a range covers: their
// answers have no body, so that JSON that is described for the range is not
// missing there.
func withNoContent(answers []tenon.Variant) []tenon.Variant {
	described := func(v tenon.Variant) bool {
		return strings.EqualFold(v.Status, "2XX") && v.Media != "" && shape.FormOf(v.Media) == shape.JSON
	}
	plain := func(v tenon.Variant) bool {
		return v.Status == "204" || v.Status == "205" || strings.EqualFold(v.Status, "2XX") && v.Media == ""
	}
	if !slices.ContainsFunc(answers, described) || slices.ContainsFunc(answers, plain) {
		return answers
	}
	return append(slices.Clip(answers), tenon.Variant{Status: "204"}, tenon.Variant{Status: "205"})
}
