package main

import (
	"cmp"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon"
)

// callChoices are the flags about what happens around a tool's call.
type callChoices struct {
	confirm   choice
	maxResult choice
	views     viewChoices
	headers   headerChoice

	partialAfter time.Duration
}

func (c *callChoices) register(cmd *cobra.Command) {
	cmd.Flags().Var(&c.confirm, "confirm", "who agrees to calls that change something: auto (a person where the client can ask one, else arg), "+
		"arg (the call is repeated with confirmed: true), human or off; TOOL=MODE for some tools, and where TOOL is a whole name also for one that only reads (repeatable)")
	cmd.Flags().Var(&c.maxResult, "max-result-bytes", "bytes of a value and its text copy together; a larger answer is cut into parts that each fit the schema (default: 204800 for the shape openapi-mcp; -1: no limit); TOOL=BYTES for some tools (repeatable)")
	cmd.Flags().DurationVar(&c.partialAfter, "partial-after", 5*time.Second, "hand out what has arrived of a stream (NDJSON, server-sent events) after this time; negative: when it ends")
	c.views.register(cmd)
	c.headers.register(cmd)
	takes(cmd, "confirm", "auto", "arg", "human", "off")
}

// check checks the values.
func (c *callChoices) check() error {
	if _, err := parsed(c.confirm.general, tenon.ParseConfirmMode); err != nil {
		return err
	}
	for _, s := range c.confirm.some {
		if _, err := tenon.ParseConfirmMode(s.value); err != nil {
			return err
		}
	}
	for _, s := range append([]chosen{{value: c.maxResult.general}}, c.maxResult.some...) {
		if _, err := parsed(s.value, parseBytes); err != nil {
			return err
		}
	}
	if err := c.headers.check(); err != nil {
		return err
	}
	return c.views.check()
}

// parseBytes reads a limit; less than 1 is none.
func parseBytes(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, usagef("--max-result-bytes wants a number of bytes, not %q", s)
	}
	if n < 1 {
		n = -1
	}
	return n, nil
}

func (c *callChoices) tool(source string, t *tenon.Tool) {
	mode := tenon.ConfirmMode(cmp.Or(c.confirm.of(source, t), c.confirm.general))
	t.Confirmation.Mode = cmp.Or(mode, t.Confirmation.Mode)
	if !t.Confirmation.Marked && t.Confirmation.Action == "" && c.confirm.spells(source, t) { // the operator means this one, whatever it says of itself
		t.Confirmation.Marked, t.Confirmation.Effect = true, cmp.Or(t.Confirmation.Effect, "The operator wants to be asked before "+t.Name+" is called")
	}
	if n, err := parseBytes(cmp.Or(c.maxResult.of(source, t), c.maxResult.general)); err == nil { // it was checked
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
