package rawjson

import (
	"unicode/utf16"
	"unicode/utf8"
)

// unescape resolves the escapes of a string that the lexer has accepted.
func unescape(b []byte) string { return string(AppendUnescaped(make([]byte, 0, len(b)), b)) }

// AppendUnescaped appends the text of a valid JSON string whose literal,
// without its quotes, is b. A lone surrogate becomes U+FFFD.
func AppendUnescaped(dst, b []byte) []byte {
	for i := 0; i < len(b); {
		if b[i] != '\\' {
			dst = append(dst, b[i])
			i++
			continue
		}
		if b[i+1] != 'u' {
			dst = append(dst, escaped(b[i+1]))
			i += 2
			continue
		}
		r, n := codePoint(b[i:])
		dst = utf8.AppendRune(dst, r)
		i += n
	}
	return dst
}

// escaped returns the byte of a two-byte escape.
func escaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// codePoint decodes the \u escape at the beginning of b, or both halves of a
// surrogate pair. A lone surrogate is utf8.RuneError. n is the length read.
func codePoint(b []byte) (r rune, n int) {
	r, _ = hex4(b[2:])
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
		second, _ := hex4(b[8:])
		if pair := utf16.DecodeRune(r, second); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}
