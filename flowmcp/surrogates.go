package flowmcp

import (
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

// maxSurrogates bounds how many replaced characters of one answer are told.
const maxSurrogates = 100

// withoutHalves is the JSON of a handler's result with U+FFFD for each half of
// a surrogate pair: JavaScript strings can have them, JSON in UTF-8 cannot, and
// one character must not cost the whole answer. Each place is told as a repair.
func withoutHalves(data []byte) ([]byte, []schema.Fix) {
	fixed, at := rawjson.ReplaceSurrogates(data)
	if at == nil {
		return data, nil
	}
	doc, err := rawjson.Parse(fixed)
	if err != nil {
		return data, nil // whoever reads it says so
	}
	var repairs []schema.Fix
	for _, offset := range at[:min(len(at), maxSurrogates)] {
		path := pointerAt(doc, offset)
		if n := len(repairs); n > 0 && repairs[n-1].Path == path {
			continue
		}
		repairs = append(repairs, schema.Fix{
			Path: path, Kind: schema.ReplaceSurrogate, Old: string(data[offset : offset+len(`\ud800`)]), New: `\ufffd`,
		})
	}
	return fixed, repairs
}

// pointerAt is the JSON Pointer of the innermost value that an offset stands in;
// a member's name counts as its value.
func pointerAt(doc *rawjson.Doc, offset int) string {
	var path strings.Builder
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	for at := doc.Root(); ; {
		in, index := rawjson.None, 0
		for n := doc.First(at); n != rawjson.None; n = doc.Next(n) {
			if offset < doc.Offset(n)+len(doc.Raw(n)) {
				in = n
				break
			}
			index++
		}
		if in == rawjson.None {
			return path.String()
		}
		path.WriteByte('/')
		if doc.Kind(at) == rawjson.Object {
			path.WriteString(escape.Replace(doc.Key(in)))
		} else {
			path.WriteString(strconv.Itoa(index))
		}
		if at = in; offset < doc.Offset(in) {
			return path.String()
		}
	}
}
