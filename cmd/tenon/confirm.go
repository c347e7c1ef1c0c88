package main

import (
	"cmp"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon"
)

// callChoices are the flags about what happens around a tool's call.
type callChoices struct {
	confirm   choice
	maxResult choice
}

func (c *callChoices) register(cmd *cobra.Command) {
	cmd.Flags().Var(&c.confirm, "confirm", "who agrees to calls that change something: auto (a person where the client can ask one, else arg), "+
		"arg (the call is repeated with __confirmed: true), human or off; TOOL=MODE for some tools (repeatable)")
	cmd.Flags().Var(&c.maxResult, "max-result-bytes", "bytes of a value before it is cut into parts that each fit the schema (default: no limit); TOOL=BYTES for some tools (repeatable)")
	_ = cmd.RegisterFlagCompletionFunc("confirm", cobra.FixedCompletions([]string{"auto", "arg", "human", "off"}, cobra.ShellCompDirectiveNoFileComp))
}

// check checks the values.
func (c *callChoices) check() error {
	if _, err := parsed(c.confirm.general, tenon.ParseConsent); err != nil {
		return err
	}
	for _, s := range c.confirm.some {
		if _, err := tenon.ParseConsent(s.value); err != nil {
			return err
		}
	}
	for _, s := range append([]chosen{{value: c.maxResult.general}}, c.maxResult.some...) {
		if _, err := parsed(s.value, parseBytes); err != nil {
			return err
		}
	}
	return nil
}

func parseBytes(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0, usagef("--max-result-bytes wants a number of bytes, not %q", s)
	}
	return n, nil
}

func (c *callChoices) tool(source string, t *tenon.Tool) {
	mode := tenon.ConsentMode(cmp.Or(c.confirm.of(source, t.Name), c.confirm.general))
	t.Consent.Mode = cmp.Or(mode, t.Consent.Mode)
	if n, err := parseBytes(cmp.Or(c.maxResult.of(source, t.Name), c.maxResult.general)); err == nil { // it was checked
		t.MaxResult = n
	}
}

func (c *callChoices) unused() error {
	if err := c.confirm.unused("confirm"); err != nil {
		return err
	}
	return c.maxResult.unused("max-result-bytes")
}
