package main

import (
	"github.com/spf13/cobra"

	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/search"
)

// toolsMode is how clients get at the tools: list shows them all, search hides
// them behind three.
type toolsMode struct {
	mode   string
	behind int // tools that are found, not listed
}

func (m *toolsMode) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&m.mode, "tools-mode", "list", "how clients get at the tools: list shows them all, search shows search_tools, describe_tool and call_tool in their place")
	takes(cmd, "tools-mode", "list", "search")
}

// build makes the catalog that is served.
func (m *toolsMode) build(offers []gateway.Mount, o gateway.BuildOptions) (*gateway.Catalog, error) {
	switch m.mode {
	case "list", "":
		return gateway.Build(offers, o), nil
	case "search":
		o.Describe = gateway.ToggleOn // it answers for describe_tool
		all := gateway.Build(offers, o)
		m.behind = described(all)
		return search.Wrap(all), nil
	}
	return nil, usagef("--tools-mode is list or search, not %q", m.mode)
}
