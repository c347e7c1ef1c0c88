package schema

import (
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// maxSurrogates bounds the reported replacements in one document.
const maxSurrogates = 100

// ReplaceSurrogates returns JSON with U+FFFD for each half of a surrogate pair:
// the strings of JavaScript, Java and .NET can have them, JSON in UTF-8 cannot,
// and one character should not cost the whole value. Each location is reported
// as a change. Invalid JSON is returned unchanged.
func ReplaceSurrogates(data []byte) ([]byte, []Fix) {
	fixed, at := rawjson.ReplaceSurrogates(data)
	if at == nil {
		return data, nil
	}
	doc, err := rawjson.Parse(fixed)
	if err != nil {
		return data, nil // the caller's parser reports the error
	}
	var repairs []Fix
	for _, offset := range at[:min(len(at), maxSurrogates)] {
		path := pointerAt(doc, offset)
		if n := len(repairs); n > 0 && repairs[n-1].Path == path {
			continue
		}
		repairs = append(repairs, Fix{
			Path: path, Kind: ReplaceSurrogate, Old: string(data[offset : offset+len(`\ud800`)]), New: `\ufffd`,
		})
	}
	return fixed, repairs
}

// pointerAt returns the JSON Pointer of the innermost value at an offset; a
// member's name counts as its value.
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
