package gateway

import (
	"context"
	"errors"
	"slices"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/describe"
	"github.com/tenon-mcp/tenon/internal/shape"
)

// BuiltIn says whether a catalog has a tool of our own. Empty means BuiltInAuto.
type BuiltIn string

// The ways to have one.
const (
	BuiltInAuto BuiltIn = "auto" // where a tool needs it
	BuiltInOn   BuiltIn = "on"
	BuiltInOff  BuiltIn = "off"
)

// ParseBuiltIn reads what an operator writes.
func ParseBuiltIn(s string) (BuiltIn, error) {
	return choice("choice", BuiltIn(s), BuiltInAuto, BuiltInOn, BuiltInOff)
}

// addDescribe adds the tool that tells of all the others. A tool of that name
// keeps it.
func (c *Catalog) addDescribe(b BuiltIn) {
	wanted := func(e *Entry) bool { return e.tool.Shape == tenon.OpenAPIMCP }
	if b == BuiltInOff || b != BuiltInOn && !slices.ContainsFunc(c.tools, wanted) {
		return
	}
	yes, no := true, false
	tools := describable(c.tools)
	c.add(&Entry{tool: tenon.Tool{
		Title: "Describe the tools", Description: "Tells what the tools of this server accept and answer, with full schemas and examples.",
		Hints: tenon.Hints{ReadOnly: &yes, Idempotent: &yes, OpenWorld: &no}, Policy: tenon.Enforce, Shape: tenon.Native, Verbatim: true,
		Promise: tenon.Contract{Input: []byte(describe.Input), Answers: []tenon.Variant{{Media: "application/json", Schema: []byte(describe.Output)}}},
		Handler: func(_ context.Context, call *tenon.Call) (tenon.Reply, error) {
			page, err := describe.Write(tools, call.Args)
			if _, unknown := errors.AsType[*describe.UnknownError](err); unknown {
				return tenon.Reply{}, &tenon.Error{Code: tenon.CodeNotFound, Message: err.Error(), Suggestions: []string{"Call " + call.Tool + " without arguments to see all tools"}}
			} else if err != nil {
				return tenon.Reply{}, tenon.Errorf(tenon.CodeValidation, "%v", err)
			}
			return tenon.Reply{Media: "application/json", Body: page}, nil
		},
	}, describes: true, published: new(shape.Published)}, c.free("describe"), nil)
}

// describable are the tools but those that hand out parts of what others say.
func describable(all []*Entry) (tools []describe.Tool) {
	for _, e := range all {
		if !e.resumes {
			tools = append(tools, describe.Tool{Name: e.Name(), Full: e.description})
		}
	}
	return tools
}

// description is what is told of e: the input schema as it is published, the
// full schema of what callers get to see, and the examples of the description.
func (e *Entry) description() describe.Full {
	checks, _ := e.prepare() // calls say why there are none
	f := describe.Full{Description: e.tool.Description, Arguments: checks.input}
	f.Input, _ = e.Schemas()
	contract, err := promiseOf(&e.tool).Contract()
	if err != nil {
		contract = tenon.Contract{} // reported by Faults
	}
	f.Output, f.Formats = shape.DataSchema(e.fullView(contract)), contract.Formats
	for _, v := range successes(contract.Answers) {
		if v.Example == nil || shape.FormOf(v.Media) != shape.JSON {
			continue
		}
		a := shape.Answer{Form: shape.JSON, Body: v.Example}
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
