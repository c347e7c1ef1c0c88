// Package toolname makes names of tools that clients accept.
//
// It does not know tools, nor where their names come from. It is called when a
// catalog is built.
package toolname

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Naming is the set of names that tools can have. Empty means Models.
type Naming string

// The namings.
const (
	Models Naming = "models" // accepted by every client and model API: A-Z a-z 0-9 _ -, up to 64
	MCP    Naming = "mcp"    // allowed by the protocol: also dots, up to 128
)

func (n Naming) longest() int {
	if n == MCP {
		return 128
	}
	return 64
}

// Legal converts a name to a legal one. A longer name keeps its beginning and
// gets a short hash of the whole name.
func (n Naming) Legal(name string) string {
	legal := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-', r == '.' && n == MCP:
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

// Free returns a legal name that is not taken, with a number if necessary.
func (n Naming) Free(name string, taken func(string) bool) string {
	free := name
	for i := 2; taken(free); i++ {
		suffix := fmt.Sprintf("_%d", i)
		free = name[:min(len(name), n.longest()-len(suffix))] + suffix
	}
	return free
}
