package reservedargs

import (
	"bytes"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// PlaceOf returns the JSON Pointer of inner, a subslice of args; empty: it is
// none, or all of args.
func PlaceOf(args, inner []byte) string {
	doc, err := rawjson.Parse(args)
	if err != nil || doc.Kind(doc.Root()) != rawjson.Object {
		return ""
	}
	for m := doc.First(doc.Root()); m != rawjson.None; m = doc.Next(m) {
		if bytes.Equal(doc.Raw(m), inner) {
			return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(doc.Key(m))
		}
	}
	return ""
}
