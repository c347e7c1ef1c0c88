package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon"
)

// callChoices are the flags about what happens around a tool's call.
type callChoices struct {
	confirm choice
}

func (c *callChoices) register(cmd *cobra.Command) {
	cmd.Flags().Var(&c.confirm, "confirm", "who agrees to calls that change something: auto (a person where the client can ask one, else arg), "+
		"arg (the call is repeated with __confirmed: true), human or off; TOOL=MODE for some tools (repeatable)")
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
	return nil
}

func (c *callChoices) tool(source string, t *tenon.Tool) {
	mode := tenon.ConsentMode(cmp.Or(c.confirm.of(source, t.Name), c.confirm.general))
	t.Consent.Mode = cmp.Or(mode, t.Consent.Mode)
}

func (c *callChoices) unused() error { return c.confirm.unused("confirm") }
