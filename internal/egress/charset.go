package egress

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// UTF8 returns a text that came with that Content-Type in UTF-8. A byte order
// mark counts more than the charset parameter and is taken off, as browsers do
// (WHATWG Encoding); bytes that the charset has not become U+FFFD. The body comes
// back as it is where no charset is named, where it is UTF-8 already, and where
// nobody knows the charset. The result has at most three times the bytes.
func UTF8(contentType string, body []byte) []byte {
	label := charset(contentType)
	if label == "" || strings.EqualFold(label, "utf-8") || len(body) == 0 {
		return body
	}
	e, err := htmlindex.Get(label)
	if err != nil || e == encoding.Replacement { // a charset that browsers refuse: the text would be lost
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

// ToValidUTF8 returns a text that should be UTF-8 as browsers and Node read it:
// each longest part that begins a character and does not end it becomes one
// U+FFFD (WHATWG Encoding, "UTF-8 decode without BOM"). What is UTF-8 comes back
// as it is.
func ToValidUTF8(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	mended, _, err := transform.Bytes(unicode.UTF8.NewDecoder(), text)
	if err != nil { // the decoder has none
		return []byte(strings.ToValidUTF8(string(text), "\uFFFD"))
	}
	return mended
}

// charset is the parameter of that name. Most answers have none or UTF-8, so
// that nothing is allocated for it.
func charset(contentType string) string {
	_, params, _ := strings.Cut(contentType, ";")
	for p := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(p, "=")
		if strings.EqualFold(strings.TrimSpace(name), "charset") {
			return strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return ""
}
