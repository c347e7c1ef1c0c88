package schema

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// kindOf answers what a value is from its first byte, 0 if no value begins
// so. Numbers answer isNumber: whether there is a fraction is not known yet.
func kindOf(c byte) types {
	switch c {
	case '"':
		return isString
	case '{':
		return isObject
	case '[':
		return isArray
	case 't', 'f':
		return isBool
	case 'n':
		return isNull
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return isNumber
	}
	return 0
}

const spaces uint64 = 1<<' ' | 1<<'\n' | 1<<'\r' | 1<<'\t'

// next skips white space and answers the byte behind it, 0 at the end. It is
// short enough to be inlined.
func (r *run) next() byte {
	for ; r.i < len(r.b); r.i++ {
		if c := r.b[r.i]; c > ' ' || spaces>>c&1 == 0 {
			return c
		}
	}
	return 0
}

// Patterns for looking at eight bytes at once.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// str reads the string whose opening quote is at the position, and answers
// what stands between the quotes.
func (r *run) str() (s piece, ok bool) {
	b := r.b
	i := r.i + 1
	s.start = i
	var high uint64
	for {
		for i+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[i:])
			quote, slash := w^'"'*ones, w^'\\'*ones
			if m := ((quote-ones)&^quote | (slash-ones)&^slash | (w-' '*ones)&^w) & highs; m != 0 {
				n := bits.TrailingZeros64(m) &^ 7
				high |= w & (1<<n - 1)
				i += n >> 3
				break
			}
			high |= w
			i += 8
		}
		for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= ' ' {
			high |= uint64(b[i])
			i++
		}
		if i >= len(b) || b[i] < ' ' {
			return s, r.broken()
		}
		if b[i] == '"' {
			s.end = i
			s.wide = high&highs != 0
			r.i = i + 1
			return s, !s.wide || utf8.Valid(b[s.start:i]) || r.broken()
		}
		n := escapeLen(b[i:])
		if n == 0 {
			return s, r.broken()
		}
		s.escaped = true
		i += n
	}
}

// piece is a string in the value: what stands between its quotes.
type piece struct {
	start, end int
	escaped    bool
	wide       bool // not all of it is ASCII
}

// escapeLen answers the length of the escape that b begins with, both halves
// of a surrogate pair counted; 0 if it is not legal.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		r, ok := hex4(b[2:])
		if !ok {
			return 0
		}
		if !utf16.IsSurrogate(r) {
			return 6
		}
		if len(b) < 12 || b[6] != '\\' || b[7] != 'u' {
			return 0
		}
		low, ok := hex4(b[8:])
		if ok && utf16.DecodeRune(r, low) != utf8.RuneError {
			return 12
		}
	}
	return 0
}

func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// numeral is a number in the value.
type numeral struct {
	start, end int
	plain      bool // neither fraction nor exponent
}

// num reads the number at the position.
func (r *run) num() (n numeral, ok bool) {
	b, i := r.b, r.i
	n.start = i
	if b[i] == '-' {
		i++
	}
	whole := skipDigits(b, i)
	if whole == i || b[i] == '0' && whole > i+1 {
		return n, r.broken()
	}
	i = whole
	n.plain = true
	if i < len(b) && b[i] == '.' {
		n.plain = false
		end := skipDigits(b, i+1)
		if end == i+1 {
			return n, r.broken()
		}
		i = end
	}
	long := i-n.start >= 309
	if i < len(b) && b[i]|0x20 == 'e' {
		n.plain, long = false, true
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		end := skipDigits(b, i)
		if end == i {
			return n, r.broken()
		}
		i = end
	}
	n.end = i
	r.i = i
	return n, !long || inRange(b[n.start:i]) || r.broken()
}

// inRange reports whether a double can hold the number.
func inRange(text []byte) bool {
	if d := parseDecimal(text); d.point <= 308 {
		return true
	}
	_, err := strconv.ParseFloat(string(text), 64)
	return err == nil
}

func skipDigits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}

// word reads one of true, false and null.
func (r *run) word() bool {
	b := r.b[r.i:]
	switch {
	case len(b) >= 4 && (string(b[:4]) == "true" || string(b[:4]) == "null"):
		r.i += 4
	case len(b) >= 5 && string(b[:5]) == "false":
		r.i += 5
	default:
		return r.broken()
	}
	return true
}
