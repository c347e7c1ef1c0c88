// Package charset turns texts of other charsets, and broken UTF-8, into UTF-8 as
// browsers and Node read them.
//
// It does not know who sent a text, or what it means: responses, schema files and
// prompts pass through it alike.
//
// It is between the bytes that arrive and whoever reads them as text.
package charset

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// UTF8 converts a text with that Content-Type to UTF-8. A byte order mark takes
// precedence over the charset parameter and is removed, as in browsers (WHATWG
// Encoding); invalid bytes become U+FFFD. The body is returned unchanged if
// there is no charset, if it is UTF-8, and if the charset is unknown. The
// result has at most three times the bytes.
func UTF8(contentType string, body []byte) []byte {
	label := labelOf(contentType)
	if label == "" || strings.EqualFold(label, "utf-8") || len(body) == 0 {
		return body
	}
	e, err := htmlindex.Get(label)
	if err != nil || e == encoding.Replacement { // a charset that browsers reject: the text would be lost
		return body
	}
	if name, err := htmlindex.Name(e); err != nil || name == "utf-8" {
		return body
	}
	text, _, err := transform.Bytes(unicode.BOMOverride(e.NewDecoder()), body)
	if err != nil {
		return body
	}
	return text
}

// ToValidUTF8 decodes a text as browsers and Node do: each maximal incomplete
// sequence becomes one U+FFFD (WHATWG Encoding, "UTF-8 decode without BOM").
// Valid UTF-8 is returned unchanged.
func ToValidUTF8(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	repaired, _, err := transform.Bytes(unicode.UTF8.NewDecoder(), text)
	if err != nil { // not possible
		return []byte(strings.ToValidUTF8(string(text), "\uFFFD"))
	}
	return repaired
}

// labelOf returns the charset parameter. It allocates nothing, because most
// responses have none or UTF-8.
func labelOf(contentType string) string {
	_, params, _ := strings.Cut(contentType, ";")
	for p := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(p, "=")
		if strings.EqualFold(strings.TrimSpace(name), "charset") {
			return strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return ""
}
