package tenon

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// The longest names that every client and model API takes, and that MCP has.
const (
	maxName    = 64
	maxNameMCP = 128
)

// Naming says which names tools can have.
type Naming string

// The namings. Empty means NamesModels.
const (
	NamesModels Naming = "models" // what every model API takes: see LegalName
	NamesMCP    Naming = "mcp"    // what the protocol allows: dots too, and up to 128 characters
)

// ParseNaming reads a naming as an operator writes it.
func ParseNaming(s string) (Naming, error) {
	return oneOf("naming", Naming(s), NamesModels, NamesMCP)
}

// LegalName makes a tool name that every revision of MCP and every model API
// accepts: 1 to 64 of A-Z a-z 0-9 _ - and no dot, because some model APIs
// refuse it. A longer name keeps its beginning and gets a short hash of the
// whole.
func LegalName(name string) string { return NamesModels.legal(name) }

func (n Naming) longest() int {
	if n == NamesMCP {
		return maxNameMCP
	}
	return maxName
}

// legal is LegalName for a naming.
func (n Naming) legal(name string) string {
	legal := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-', r == '.' && n == NamesMCP:
			return r
		}
		return '_'
	}, name)
	if legal == "" {
		legal = "tool"
	}
	if len(legal) <= n.longest() {
		return legal
	}
	sum := sha256.Sum256([]byte(name))
	return legal[:n.longest()-9] + "_" + hex.EncodeToString(sum[:4])
}
