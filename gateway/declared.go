package gateway

import (
	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/envelope"
	"github.com/tenon-mcp/tenon/internal/profile"
	"github.com/tenon-mcp/tenon/internal/publish"
	"github.com/tenon-mcp/tenon/internal/reservedargs"
)

// Declared are the schemas of a tool's contract as they are published, each a document
// of its own, but without what publishing adds: never as advice, without envelope and
// without the adaptations for clients. They are as complete as the limits of the source
// for published schemas let them be.
type Declared struct {
	Input  []byte // of the arguments, under their published names and without the reserved ones; nil: any object
	Data   []byte // of the data of a success, after projection; nil: none is declared
	Within string // member of structuredContent that holds the data; empty: structuredContent is the data
}

// Responses returns the declared responses that calls are validated against, which it
// compiles if that has not happened yet. Schema is nil where the body is not described.
func (e *Tool) Responses() []tenon.ResponseSchema {
	checks, err := e.prepare()
	if err != nil {
		return nil
	}
	all := make([]tenon.ResponseSchema, len(checks.answers))
	for i, v := range checks.answers {
		all[i] = tenon.ResponseSchema{Status: v.Status, MediaType: v.Media, Open: v.Open, Definition: v.Definition}
		if v.Body != nil {
			all[i].Schema = v.Body.Doc()
		}
	}
	return all
}

// Declared returns the schemas of the tool's contract.
func (e *Tool) Declared() (Declared, error) {
	if err := e.rendered(); err != nil {
		return Declared{}, err
	}
	contract, _ := contractOf(&e.tool).PublishedContract()
	d := Declared{Input: contract.Input}
	if e.names != nil {
		d.Input = e.argumentNames(contract.Input, reservedargs.All()...).Publish(contract.Input)
	}
	switch e.tool.Envelope {
	case tenon.OpenAPIMCP, tenon.FlowMCP:
		d.Within = "data"
	default:
		if e.wraps {
			d.Within = "result"
		}
	}
	d.Data = e.declaredData(contract)
	return d, nil
}

// Arguments returns the schema of the arguments that clients of the tool's profile send,
// without the reserved ones. For every client it is that of [Tool.Declared].
func (e *Tool) Arguments() ([]byte, error) {
	d, err := e.Declared()
	if err != nil || e.profile == nil || !profile.Needs(e.profile.Input).Any() {
		return d.Input, err
	}
	contract, _ := contractOf(&e.tool).PublishedContract()
	input, _ := e.published.Input(contract.Input)
	input, _ = publish.BreakCycles(e.argumentNames(input, reservedargs.All()...).Publish(input))
	input, _ = profile.Needs(e.profile.Input).Rewrite(input, e.profile.MaxInput)
	return input, nil
}

// declaredData is the schema of the data of a success; nil: none is declared.
func (e *Tool) declaredData(contract tenon.Contract) []byte {
	seen := e.publishedProjection(contract)
	if e.tool.Policy == tenon.Off || len(seen.Successes) == 0 {
		return nil
	}
	if e.tool.Envelope == tenon.FlowMCP {
		seen = seen.AsTexts()
	}
	return envelope.DataSchema(seen)
}
