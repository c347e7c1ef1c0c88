package rawjson

import (
	"strings"
	"unicode/utf8"
)

// MaxGot bounds an excerpt.
const MaxGot = 80 // bytes of an excerpt

// Excerpt returns the beginning of a JSON text, cut between two runes.
func Excerpt(raw []byte) string { return Truncate(string(raw[:min(len(raw), MaxGot+1)]), MaxGot) }

// Truncate shortens s to at most limit bytes, between two runes.
func Truncate(s string, limit int) string {
	if len(s) > limit {
		const dots = "…"
		s = s[:limit-len(dots)]
		for len(s) > 0 {
			if r, n := utf8.DecodeLastRuneInString(s); r != utf8.RuneError || n != 1 {
				break
			}
			s = s[:len(s)-1]
		}
		s += dots
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// Alternatives joins words as "a, b or c".
func Alternatives(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
