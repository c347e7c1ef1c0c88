package schema

import (
	"strings"
	"unicode/utf8"
)

// unescapeFragment undoes percent-encoding; not ok where the result would not
// be text.
func unescapeFragment(s string) (text string, ok bool) {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", false
		}
		high, low := hexDigit(s[i+1]), hexDigit(s[i+2])
		if high < 0 || low < 0 {
			return "", false
		}
		b.WriteByte(byte(high<<4 | low)) //nolint:gosec // two digits
		i += 2
	}
	return b.String(), utf8.ValidString(b.String())
}

func hexDigit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// fragmentOf is a JSON Pointer as the fragment of a URI (RFC 6901 §6), with
// its "#".
func fragmentOf(pointer string) []byte {
	dst := make([]byte, 0, len(pointer)+8)
	dst = append(dst, '#')
	for i := range len(pointer) {
		if c := pointer[i]; inFragment(c) {
			dst = append(dst, c)
		} else {
			const digits = "0123456789ABCDEF"
			dst = append(dst, '%', digits[c>>4], digits[c&15])
		}
	}
	return dst
}

// inFragment reports whether c may stand in a fragment as it is (RFC 3986
// §3.5).
func inFragment(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return strings.IndexByte("-._~!$&'()*+,;=:@/?", c) >= 0
}
