package flowmcp

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// schemaHash is the first 8 hexadecimal digits of the SHA-256 of main in its
// canonical form, without its own member schemaHash. Empty: main holds
// something that has no such form.
func schemaHash(main *node) string {
	if !main.is(objectKind) || !main.valid() || main.halfSurrogate() {
		return ""
	}
	bare := &node{kind: objectKind}
	main.members(func(key string, value *node) {
		if key != "schemaHash" {
			bare.keys = append(bare.keys, key)
			bare.items = append(bare.items, value)
		}
	})
	text, err := rawjson.AppendCanonical(nil, bare.appendJSON(nil))
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:4])
}
