package tenon

import (
	"strings"

	"github.com/tenon-mcp/tenon/internal/reserve"
	"github.com/tenon-mcp/tenon/internal/shape"
	"github.com/tenon-mcp/tenon/schema"
)

// anyObject is the input schema of a tool that describes none.
const anyObject = `{"type":"object"}`

// render makes the definition that clients read, and makes sure that it is
// safe: one bad schema makes some clients drop the whole list.
func (e *Entry) render() {
	published, faults := e.tool.promised().Published()
	e.faults = faults
	e.input = e.safe("input", published.Input, anyObject)
	e.input = reserve.Publish(e.input, e.tool.publishes(e.shown(published)))
	if output := e.publishedOutput(published); output != nil {
		e.output = e.safe("output", output, "")
	}
	t := &e.tool
	d := shape.Definition{
		Name: t.Name, Title: t.Title, Description: t.Description, Input: e.input, Output: e.output, Meta: t.Meta,
		ReadOnly: t.Hints.ReadOnly, Destructive: t.Hints.Destructive, Idempotent: t.Hints.Idempotent, OpenWorld: t.Hints.OpenWorld,
	}
	e.definition = d.JSON()
}

// safe returns doc as clients can read it, or fallback where that cannot be
// had; empty means that the schema is left out.
func (e *Entry) safe(which string, doc []byte, fallback string) []byte {
	if doc == nil {
		return []byte(fallback)
	}
	if e.tool.Verbatim {
		return doc
	}
	safe, changes := schema.ClientSafe(doc)
	for _, c := range changes {
		what := which + " schema: " + c.What
		if c.Path != "" {
			what += " at " + c.Path
		}
		e.faults = append(e.faults, e.tool.fault(what))
	}
	if safe != nil {
		return safe
	}
	e.faults = append(e.faults, e.tool.fault("the "+which+" schema cannot be made safe for clients and is not published"))
	if fallback == "" {
		return nil
	}
	return []byte(fallback)
}

// publishedOutput is the output schema for the tool's policy and shape; nil:
// none is published.
func (e *Entry) publishedOutput(c Contract) (doc []byte) {
	p := e.shown(c)
	switch {
	case e.tool.Policy == Off, e.tool.resumes: // a part has the schema of the tool that was called first
	case e.tool.Shape == OpenAPIMCP:
		doc = shape.PublishOpenAPIMCP(p)
	case e.tool.Shape == FlowMCP:
		doc = shape.PublishFlowMCP(p)
	case e.tool.Verbatim && p.Own() != nil:
		doc = p.Own()
	default:
		doc, e.wraps = shape.PublishNative(p)
	}
	return doc
}

// promise is what the tool promises of its successes.
func (t *Tool) promise(c Contract) shape.Promise {
	p := shape.Promise{Advice: t.Policy == Warn || t.Fields, Wrapper: c.Wrapper, Consent: t.asksConsent()}
	for _, v := range successes(c.Answers) {
		p.Successes = append(p.Successes, shape.Variant{Media: v.Media, Schema: v.Schema, Example: v.Example})
	}
	return p
}

// successes returns the variants of a success: the declared 2xx and those
// without a status; default counts only where no 2xx is declared.
func successes(answers []Variant) []Variant {
	var ok, fallback []Variant
	for _, v := range answers {
		switch {
		case v.Status == "" || strings.HasPrefix(v.Status, "2"):
			ok = append(ok, v)
		case v.Status == "default":
			fallback = append(fallback, v)
		}
	}
	if ok == nil {
		return fallback
	}
	return ok
}
