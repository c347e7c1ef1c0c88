package tenon

import "github.com/tenon-mcp/tenon/internal/toolname"

// Naming says which names tools can have. Empty means NamesModels.
type Naming string

// The namings.
const (
	NamesModels Naming = "models" // what every model API takes: see ToolName
	NamesMCP    Naming = "mcp"    // what the protocol allows: dots too, and up to 128 characters
)

// ParseNaming reads a naming as an operator writes it.
func ParseNaming(s string) (Naming, error) { return oneOf("naming", Naming(s), NamesModels, NamesMCP) }

// ToolName makes a tool name that every revision of MCP and every model API
// accepts: 1 to 64 of A-Z a-z 0-9 _ - and no dot, because some model APIs
// refuse it. A longer name keeps its beginning and gets a short hash of the
// whole.
func ToolName(name string) string { return toolname.Models.Legal(name) }
