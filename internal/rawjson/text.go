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
// It writes the text copy of every result, so it moves eight bytes at a time:
// they are stored first and inspected then. Whether bytes beyond ASCII are
// UTF-8 is checked once, when the first such byte is met.
func AppendString[T ~string | ~[]byte](dst []byte, s T) []byte {
	dst = append(slices.Grow(dst, len(s)+len(s)/8+16), '"')
	doubted, judged := uint64(high), false
	i := 0
	for len(s)-i >= 8 {
		if cap(dst)-len(dst) < 10 {
			dst = slices.Grow(dst, len(s)-i+(len(s)-i)/4+16)
		}
		w := load(s[i : i+8])
		n := len(dst)
		binary.LittleEndian.PutUint64(dst[n:n+8], w)
		m := special(w) | w&doubted
		if m == 0 {
			dst = dst[:n+8]
			i += 8
			continue
		}
		clean := bits.TrailingZeros64(m) >> 3
		n += clean
		i += clean
		switch c := byte(w >> (clean * 8) & 0xff); {
		case c == '"' || c == '\\': // the most frequent cases
			dst = dst[:n+2]
			dst[n], dst[n+1] = '\\', c
			i++
		case c >= utf8.RuneSelf && !judged:
			dst, judged = dst[:n], true
			if valid(s[i:]) {
				doubted = 0
			}
		default:
			dst, i = appendChar(dst[:n], s, i)
		}
	}
	for i < len(s) {
		if s[i] >= utf8.RuneSelf && doubted == 0 { // perhaps inside a character whose beginning was copied
			dst = append(dst, s[i])
			i++
			continue
		}
		dst, i = appendChar(dst, s, i)
	}
	return append(dst, '"')
}

// valid reports whether s is UTF-8. The cases only save a copy.
func valid[T ~string | ~[]byte](s T) bool {
	switch s := any(s).(type) {
	case string:
		return utf8.ValidString(s)
	case []byte:
		return utf8.Valid(s)
	}
	return utf8.ValidString(string(s))
}

// load reads the first eight bytes of s.
func load[T ~string | ~[]byte](s T) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// appendChar appends the character at s[i], escaped if necessary, and the
// following bytes beyond ASCII. It returns where it stopped.
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
