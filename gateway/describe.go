package gateway

import (
	"context"
	"errors"
	"slices"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/describe"
	"github.com/tenon-mcp/tenon/internal/envelope"
)

// Toggle says whether a catalog has a tool of our own. Empty means BuiltInAuto.
type Toggle string

// The ways to have one.
const (
	ToggleAuto Toggle = "auto" // where a tool needs it
	ToggleOn   Toggle = "on"
	ToggleOff  Toggle = "off"
)

// ParseToggle reads what an operator writes.
func ParseToggle(s string) (Toggle, error) {
	return choice("choice", Toggle(s), ToggleAuto, ToggleOn, ToggleOff)
}

// addDescribe adds the tool that tells of all the others. A tool of that name
// keeps it.
func (c *Catalog) addDescribe(b Toggle) {
	wanted := func(e *Tool) bool { return e.tool.Envelope == tenon.OpenAPIMCP }
	if b == ToggleOff || b != ToggleOn && !slices.ContainsFunc(c.tools, wanted) {
		return
	}
	yes, no := true, false
	tools := describable(c.tools)
	c.add(&Tool{tool: tenon.Tool{
		Title: "Describe the tools", Description: "Tells what the tools of this server accept and answer, with full schemas and examples.",
		Annotations: tenon.Annotations{ReadOnly: &yes, Idempotent: &yes, OpenWorld: &no}, Policy: tenon.Enforce, Envelope: tenon.Native, RawSchemas: true,
		Contract: tenon.Contract{Input: []byte(describe.Input), Responses: []tenon.ResponseSchema{{MediaType: "application/json", Schema: []byte(describe.Output)}}},
		Handler: func(_ context.Context, call *tenon.Call) (tenon.Response, error) {
			page, err := describe.Write(tools, call.Args)
			if _, unknown := errors.AsType[*describe.UnknownError](err); unknown {
				return tenon.Response{}, &tenon.Error{Code: tenon.CodeNotFound, Message: err.Error(), Suggestions: []string{"Call " + call.Tool + " without arguments to see all tools"}}
			} else if err != nil {
				return tenon.Response{}, tenon.Errorf(tenon.CodeValidation, "%v", err)
			}
			return tenon.Response{MediaType: "application/json", Body: page}, nil
		},
	}, describes: true, published: new(envelope.Published)}, c.free("describe"), nil)
}

// describable are the tools but those that hand out parts of what others say.
func describable(all []*Tool) (tools []describe.Tool) {
	for _, e := range all {
		if !e.resumes {
			tools = append(tools, describe.Tool{Name: e.Name(), Full: e.description})
		}
	}
	return tools
}

// description is what is told of e: the input schema as it is published, the
// full schema of what callers get to see, and the examples of the description.
func (e *Tool) description() describe.Full {
	checks, _ := e.prepare() // calls say why there are none
	f := describe.Full{Description: e.tool.Description, Arguments: checks.input}
	f.Input, _ = e.Schemas()
	contract, err := promiseOf(&e.tool).Contract()
	if err != nil {
		contract = tenon.Contract{} // reported by Faults
	}
	f.Output, f.Formats = envelope.DataSchema(e.fullView(contract)), contract.Formats
	for _, v := range successes(contract.Responses) {
		if v.Example == nil || envelope.KindOfMedia(v.MediaType) != envelope.JSON {
			continue
		}
		a := envelope.Answer{Form: envelope.JSON, Body: v.Example}
		value := a.Data()
		if e.view != nil {
			if value, _, err = e.view.Show(context.Background(), value); err != nil {
				continue
			}
		}
		f.Examples = append(f.Examples, value)
	}
	return f
}
