package tenon

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxName is the length of a tool name that every client and model API
// accepts.
const maxName = 64

// LegalName makes a tool name that every revision of MCP and every model API
// accepts: 1 to 64 of A-Z a-z 0-9 _ - and no dot, because some model APIs
// refuse it. A longer name keeps its beginning and gets a short hash of the
// whole.
func LegalName(name string) string {
	legal := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
	if legal == "" {
		legal = "tool"
	}
	if len(legal) <= maxName {
		return legal
	}
	sum := sha256.Sum256([]byte(name))
	return legal[:maxName-9] + "_" + hex.EncodeToString(sum[:4])
}
