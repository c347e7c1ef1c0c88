package app

import (
	"cmp"

	"github.com/tenon-mcp/tenon"
)

// callChoices are the settings about what happens around a tool's call.
type callChoices struct {
	o         *SourceOptions
	confirm   choice
	maxResult choice
	views     viewChoices
	headers   headerChoice
}

// newCallChoices checks the values.
func newCallChoices(o *SourceOptions) (callChoices, error) {
	c := callChoices{o: o, confirm: newChoice(o.Confirm), maxResult: newChoice(o.MaxResultBytes), headers: headerChoice{newChoice(o.MCPHeader)}}
	if _, err := parsed(o.Confirm.All, tenon.ParseConfirmMode); err != nil {
		return c, err
	}
	for _, s := range o.Confirm.Tools {
		if _, err := tenon.ParseConfirmMode(s.Value); err != nil {
			return c, err
		}
	}
	for _, s := range append([]ToolValue{{Value: o.MaxResultBytes.All}}, o.MaxResultBytes.Tools...) {
		if _, err := parsed(s.Value, parseBytes); err != nil {
			return c, invalid("max-result-bytes", " is %v", err)
		}
	}
	if err := c.headers.check(o.MCPHeader.All); err != nil {
		return c, err
	}
	var err error
	c.views, err = newViewChoices(o)
	return c, err
}

func (c *callChoices) tool(source string, t *tenon.Tool) {
	mode := tenon.ConfirmMode(cmp.Or(c.confirm.of(source, t), c.o.Confirm.All))
	t.Confirmation.Mode = cmp.Or(mode, t.Confirmation.Mode)
	if !t.Confirmation.Marked && t.Confirmation.Action == "" && c.confirm.spells(source, t) { // the operator means this one, whatever it says of itself
		t.Confirmation.Marked, t.Confirmation.Effect = true, cmp.Or(t.Confirmation.Effect, "The operator wants to be asked before "+t.Name+" is called")
	}
	if n, err := parseBytes(cmp.Or(c.maxResult.of(source, t), c.o.MaxResultBytes.All)); err == nil { // it was checked
		t.MaxResult = n
	}
	c.headers.tool(source, t)
	c.views.tool(source, t)
}

func (c *callChoices) patterns(used map[string]bool) {
	c.confirm.patterns("confirm", used)
	c.maxResult.patterns("max-result-bytes", used)
	c.headers.patterns(used)
	c.views.patterns(used)
}

func (c *callChoices) forget() {
	c.confirm.forget()
	c.maxResult.forget()
	c.headers.given.forget()
	c.views.forget()
}
