package rawjson

import (
	"encoding/binary"
	"math/bits"
)

// The functions of this file go over bytes of JSON without parsing them: several
// times faster than [Parse]. They check nothing but that what begins also ends,
// and return -1 if it does not, or if i is -1.

// SpaceEnd returns where the white space at src[i], if any, ends.
func SpaceEnd(src []byte, i int) int {
	for i >= 0 && i < len(src) && src[i] <= ' ' {
		i++
	}
	return i
}

// ValueEnd returns where the value that begins at src[i] ends.
func ValueEnd(src []byte, i int) int {
	if i < 0 || i >= len(src) {
		return -1
	}
	switch src[i] {
	case '"':
		return TextEnd(src, i)
	case '{', '[':
		return InsideEnd(src, i+1)
	}
	for i++; i < len(src) && isScalar(src[i]); {
		i++
	}
	return i
}

// isScalar reports whether a byte can be part of a number or literal.
func isScalar(c byte) bool {
	const low, high uint64 = 1<<'+' | 1<<'-' | 1<<'.' | (1<<10-1)<<'0', 1<<('E'-64) | (1<<26-1)<<('a'-64)
	if c < 64 {
		return low>>c&1 != 0
	}
	return c < 128 && high>>(c-64)&1 != 0
}

// InsideEnd returns where the object or array ends that src[i] is inside of.
func InsideEnd(src []byte, i int) int {
	for depth := 1; i < len(src); i++ {
		switch src[i] {
		case '"':
			end := TextEnd(src, i)
			if end < 0 {
				return -1
			}
			i = end - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// TextEnd returns where the string that begins at src[i] ends.
func TextEnd(src []byte, i int) int {
	for i++; i < len(src); i++ {
		if i+8 <= len(src) {
			m := special(binary.LittleEndian.Uint64(src[i:]))
			if m == 0 {
				i += 7
				continue
			}
			i += bits.TrailingZeros64(m) >> 3
		}
		switch src[i] {
		case '"':
			return i + 1
		case '\\':
			i++ // an escaped quote does not end the string
		}
	}
	return -1
}
