package tenon

import "github.com/tenon-mcp/tenon/internal/toolname"

// Naming is the set of legal tool names. Empty means NamesModels.
type Naming string

// The namings.
const (
	NamesModels Naming = "models" // what every model API accepts: see ToolName
	NamesMCP    Naming = "mcp"    // what MCP allows: dots too, and up to 128 characters
)

// ParseNaming parses the value of a flag or config key.
func ParseNaming(s string) (Naming, error) { return oneOf("naming", Naming(s), NamesModels, NamesMCP) }

// ToolName turns name into one that n allows, as the function ToolName does.
func (n Naming) ToolName(name string) string {
	return toolname.Rule{Naming: toolname.Naming(n)}.Legal(name)
}

// ToolName turns name into one that every revision of MCP and every model API
// accepts: 1 to 64 of A-Z a-z 0-9 _ - and no dot, because some model APIs
// refuse it. A longer name is cut and ends with a short hash of the whole.
func ToolName(name string) string { return toolname.Rule{}.Legal(name) }
