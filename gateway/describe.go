package gateway

import (
	"context"
	"errors"
	"slices"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/describe"
	"github.com/tenon-mcp/tenon/internal/envelope"
)

// Toggle says whether a catalog has a built-in tool. Empty means ToggleAuto.
type Toggle string

// The values of Toggle.
const (
	ToggleAuto Toggle = "auto" // if a tool needs it
	ToggleOn   Toggle = "on"
	ToggleOff  Toggle = "off"
)

// ParseToggle parses the value of a flag or config key.
func ParseToggle(s string) (Toggle, error) {
	return choice("choice", Toggle(s), ToggleAuto, ToggleOn, ToggleOff)
}

// addDescribe adds the built-in tool that describes the others. An existing tool
// of that name keeps it.
func (c *Catalog) addDescribe(b Toggle) {
	wanted := func(e *Tool) bool { return e.tool.Envelope == tenon.OpenAPIMCP }
	if b == ToggleOff || b != ToggleOn && !slices.ContainsFunc(c.tools, wanted) {
		return
	}
	c.add(newDescribe(describable(c.tools)), c.free("describe"), nil)
}

func newDescribe(tools []describe.Tool) *Tool {
	yes, no := true, false
	return &Tool{tool: tenon.Tool{
		Title: "Describe the tools", Description: "Describes the arguments and results of this server's tools, with full schemas and examples.",
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
	}, describes: true, published: new(envelope.Published)}
}

// describable returns the tools without the built-in ones.
func describable(all []*Tool) (tools []describe.Tool) {
	for _, e := range all {
		if !e.resumes {
			tools = append(tools, describe.Tool{Name: e.Name(), Full: e.description})
		}
	}
	return tools
}

// description holds the published input schema of e, the full output schema
// after projection, and the examples of the description.
func (e *Tool) description() describe.Full {
	checks, _ := e.prepare() // calls report the error
	f := describe.Full{Description: e.tool.Description, Arguments: checks.input}
	f.Input, _ = e.Schemas()
	contract, err := contractOf(&e.tool).Contract()
	if err != nil {
		contract = tenon.Contract{} // reported by Diagnostics
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
