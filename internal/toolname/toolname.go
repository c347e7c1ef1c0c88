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

// Rule is what names must be. The zero value is Models.
type Rule struct {
	Naming  Naming
	Longest int  // bytes of a name; 0, or more than the naming allows: as the naming has it
	Letter  bool // it begins with a letter or _
}

// Shortest is the least that Rule.Longest may be: names stay different.
const Shortest = 16

func (r Rule) longest() int {
	most := 64
	if r.Naming == MCP {
		most = 128
	}
	if r.Longest > 0 {
		return min(most, max(r.Longest, Shortest))
	}
	return most
}

// Legal converts a name to a legal one. A longer name keeps its beginning and
// gets a short hash of the whole name.
func (r Rule) Legal(name string) string {
	legal := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-', c == '.' && r.Naming == MCP:
			return c
		}
		return '_'
	}, name)
	if legal == "" {
		legal = "tool"
	}
	if first := legal[0]; r.Letter && (first < 'A' || first > 'Z') && (first < 'a' || first > 'z') && first != '_' {
		legal = "_" + legal
	}
	if len(legal) <= r.longest() {
		return legal
	}
	sum := sha256.Sum256([]byte(name))
	return legal[:r.longest()-9] + "_" + hex.EncodeToString(sum[:4])
}

// Free returns a legal name that is not taken, with a number if necessary.
func (r Rule) Free(name string, taken func(string) bool) string {
	free := name
	for i := 2; taken(free); i++ {
		suffix := fmt.Sprintf("_%d", i)
		free = name[:min(len(name), r.longest()-len(suffix))] + suffix
	}
	return free
}
