package rawjson

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// ReplaceSurrogates replaces the escape of half a surrogate pair, which parsers
// interpret differently, by that of U+FFFD, and returns the offsets. The
// escapes have the same length, so offsets do not change. src must be JSON; it
// is returned itself where it has none.
func ReplaceSurrogates(src []byte) (fixed []byte, at []int) {
	fixed = src
	for i := 0; ; {
		next := bytes.IndexByte(fixed[i:], '\\')
		if next < 0 || i+next+1 >= len(fixed) {
			return fixed, at
		}
		i += next
		if fixed[i+1] != 'u' || i+6 > len(fixed) {
			i += 2
			continue
		}
		r, n := codePoint(fixed[i:])
		if first, _ := hex4(fixed[i+2:]); r == utf8.RuneError && utf16.IsSurrogate(first) {
			if at == nil {
				fixed = bytes.Clone(src)
			}
			at = append(at, i)
			copy(fixed[i:], `\ufffd`)
		}
		i += n
	}
}
