package rawjson

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// AppendString appends s as a JSON string with its quotes. Only quotes,
// backslashes and control characters are escaped; bytes that are not UTF-8
// become U+FFFD.
//
// It writes the text copy of every answer, so it moves eight bytes at a time:
// they are stored first and looked at then.
func AppendString[T ~string | ~[]byte](dst []byte, s T) []byte {
	dst = append(slices.Grow(dst, len(s)+len(s)/8+16), '"')
	i := 0
	for len(s)-i >= 8 {
		if cap(dst)-len(dst) < 8 {
			dst = slices.Grow(dst, len(s)-i+(len(s)-i)/4+16)
		}
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		n := len(dst)
		dst = dst[:n+8]
		binary.LittleEndian.PutUint64(dst[n:], w)
		m := special(w) | w&high
		if m == 0 {
			i += 8
			continue
		}
		clean := bits.TrailingZeros64(m) >> 3
		dst, i = appendChar(dst[:n+clean], s, i+clean)
	}
	for i < len(s) {
		dst, i = appendChar(dst, s, i)
	}
	return append(dst, '"')
}

// appendChar appends the character at s[i], escaped where it must be, with all
// that follows and is not ASCII. It returns where it stopped.
func appendChar[T ~string | ~[]byte](dst []byte, s T, i int) ([]byte, int) {
	c := s[i]
	if c < utf8.RuneSelf {
		if c >= ' ' && c != '"' && c != '\\' {
			return append(dst, c), i + 1
		}
		return appendEscape(dst, c), i + 1
	}
	start := i
	for i < len(s) && s[i] >= utf8.RuneSelf {
		r, n := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
		if r == utf8.RuneError && n == 1 {
			dst = append(append(dst, s[start:i]...), "\uFFFD"...)
			start = i + 1
		}
		i += n
	}
	return append(dst, s[start:i]...), i
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\t':
		return append(dst, '\\', 't')
	case '\n':
		return append(dst, '\\', 'n')
	case '\f':
		return append(dst, '\\', 'f')
	case '\r':
		return append(dst, '\\', 'r')
	}
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
}
