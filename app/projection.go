package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/jq"
)

// viewChoices say what callers get to see of answers. All but fields are for
// some tools only: what one tool answers has nothing in common with what
// another does.
type viewChoices struct {
	fields   choice // on or off
	selected choice // paths, with commas between them
	jq       choice // a filter
	jqSchema choice // a file
}

func (c *viewChoices) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.Var(&c.fields, "fields", "on: callers may ask for parts of an answer by the argument fields; off (default); TOOL=on for some tools (repeatable)")
	takes(cmd, "fields", "on", "off")
	fs.Var(&c.selected, "select", "show only these parts of a tool's answers, as TOOL=PATH,PATH: items[].id,total (repeatable)")
	fs.Var(&c.jq, "jq", "make of a tool's answers what this jq filter does, as TOOL=FILTER, after --select (repeatable)")
	fs.Var(&c.jqSchema, "jq-schema", "JSON Schema of what the filter makes, as TOOL=FILE (default: inferred, published as advice) (repeatable)")
}

// check reads the values. What cannot be read stops the command.
func (c *viewChoices) check() error {
	for _, s := range append([]chosen{{value: c.fields.general}}, c.fields.some...) {
		if s.value != "" && s.value != "on" && s.value != "off" {
			return usagef("--fields is on or off, not %q", s.value)
		}
	}
	for flag, only := range map[string]*choice{"select": &c.selected, "jq": &c.jq, "jq-schema": &c.jqSchema} {
		if only.general != "" {
			return usagef("--%s wants TOOL=…: what %q means depends on the tool", flag, only.general)
		}
	}
	for _, s := range c.jq.some {
		if _, err := jq.Compile(s.value); err != nil {
			return usagef("--jq %s: %v", s.pattern, err)
		}
	}
	for i, s := range c.jqSchema.some {
		text, err := os.ReadFile(s.value)
		if err != nil {
			return &tenon.Error{Code: tenon.CodeUsage, Message: fmt.Sprintf("--jq-schema %s: %s cannot be read", s.pattern, s.value), Err: err}
		}
		c.jqSchema.some[i].value = string(text)
	}
	return nil
}

func (c *viewChoices) tool(source string, t *tenon.Tool) {
	switch fields := c.fields.of(source, t); {
	case fields != "":
		t.Fields = fields == "on"
	case c.fields.general != "":
		t.Fields = c.fields.general == "on"
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
