package app

import (
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/search"
)

// catalog makes the catalog that is served: with all tools, or in search mode with
// three behind which they are.
func (a *App) catalog(offers []gateway.Mount) (*gateway.Catalog, error) {
	o := a.options
	switch a.config.ToolsMode {
	case "list", "":
		return gateway.Build(offers, o), nil
	case "search":
		o.Describe = gateway.ToggleOn // it answers for describe_tool
		all := gateway.Build(offers, o)
		a.hidden = Described(all)
		return search.Wrap(all), nil
	}
	return nil, invalid("tools-mode", " is list or search, not %q", a.config.ToolsMode)
}
