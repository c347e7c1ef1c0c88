package app

import (
	"fmt"
	"os"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/jq"
)

// viewChoices say what callers get to see of answers. All but fields are for
// some tools only: what one tool answers has nothing in common with what
// another does.
type viewChoices struct {
	all      string // fields for all tools
	fields   choice // on or off
	selected choice // paths, with commas between them
	jq       choice // a filter
	jqSchema choice // a file
}

// newViewChoices reads the values. What cannot be read stops the start.
func newViewChoices(o *SourceOptions) (viewChoices, error) {
	c := viewChoices{all: o.Fields.All, fields: newChoice(o.Fields), selected: newChoice(o.Select), jq: newChoice(o.JQ), jqSchema: newChoice(o.JQSchema)}
	for _, s := range append([]ToolValue{{Value: o.Fields.All}}, o.Fields.Tools...) {
		if s.Value != "" && s.Value != "on" && s.Value != "off" {
			return c, invalid("fields", " is on or off, not %q", s.Value)
		}
	}
	for _, only := range []struct{ setting, given, example string }{
		{"select", o.Select.All, "listBooks=items[].id"}, {"jq", o.JQ.All, "listBooks=.items"}, {"jq-schema", o.JQSchema.All, "listBooks=books.schema.json"},
	} {
		if only.given != "" {
			return c, invalid(only.setting, " is for one tool, such as %s, not %q alone", only.example, clipped(only.given))
		}
	}
	for _, s := range o.JQ.Tools {
		if _, err := jq.Compile(s.Value); err != nil {
			return c, invalid("jq", " %s: %v", s.Pattern, err)
		}
	}
	for i, s := range c.jqSchema.some {
		text, err := os.ReadFile(s.Value)
		if err != nil {
			return c, &tenon.Error{Code: tenon.CodeUsage, Message: fmt.Sprintf("--jq-schema %s: %s cannot be read", s.Pattern, s.Value), Err: err}
		}
		c.jqSchema.some[i].Value = string(text)
	}
	return c, nil
}

func (c *viewChoices) tool(source string, t *tenon.Tool) {
	switch fields := c.fields.of(source, t); {
	case fields != "":
		t.Fields = fields == "on"
	case c.all != "":
		t.Fields = c.all == "on"
	}
	if paths := c.selected.of(source, t); paths != "" {
		t.Projection.Select = strings.Split(paths, ",")
	}
	if text := c.jq.of(source, t); text != "" {
		if f, err := jq.Compile(text); err == nil { // it was checked
			t.Projection.Filter = f
		}
	}
	if schema := c.jqSchema.of(source, t); schema != "" {
		t.Projection.Schema = []byte(schema)
	}
}

func (c *viewChoices) patterns(used map[string]bool) {
	c.fields.patterns("fields", used)
	c.selected.patterns("select", used)
	c.jq.patterns("jq", used)
	c.jqSchema.patterns("jq-schema", used)
}

func (c *viewChoices) forget() {
	c.fields.forget()
	c.selected.forget()
	c.jq.forget()
	c.jqSchema.forget()
}
