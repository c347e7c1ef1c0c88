package reservedargs

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Key identifies a call by subject, tool and arguments, which are compared as
// JSON values.
func Key(subject, tool string, args []byte) string {
	canonical, err := rawjson.AppendCanonical(nil, args)
	if err != nil {
		canonical = args
	}
	h := sha256.New()
	for _, part := range [...][]byte{[]byte(subject), []byte(tool), canonical} {
		sum := sha256.Sum256(part)
		h.Write(sum[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}
