package rawjson

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Scanner reads the tokens of JSON in one pass over its bytes. Its methods
// return false after a syntax error, which is then the reason in stop.
type Scanner struct {
	B       []byte
	I       int // the position
	Depth   int // open containers
	Stop    stop
	Scratch []byte // of PlainText
}

// stop is the reason why a scan ended early.
type stop uint8

// NotJSON is the reason of the scanner; users of a scanner have further ByteOnes.
const NotJSON stop = 1

// SpaceBits has the bits of the white space of JSON.
const SpaceBits uint64 = 1<<' ' | 1<<'\n' | 1<<'\r' | 1<<'\t'

// Next skips white space and returns the next byte, 0 at the end. It is short
// enough to be inlined.
func (r *Scanner) Next() byte {
	for ; r.I < len(r.B); r.I++ {
		if c := r.B[r.I]; c > ' ' || SpaceBits>>c&1 == 0 {
			return c
		}
	}
	return 0
}

// Bit patterns for comparing eight bytes at a time.
const (
	ByteOnes  = 0x0101010101010101
	ByteHighs = 0x8080808080808080
)

// Str reads the string whose opening quote is at the position, and returns its
// contents.
func (r *Scanner) Str() (s Piece, ok bool) {
	b := r.B
	i := r.I + 1
	s.Start = i
	var high uint64
	for {
		for i+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[i:])
			quote, slash := w^'"'*ByteOnes, w^'\\'*ByteOnes
			if m := ((quote-ByteOnes)&^quote | (slash-ByteOnes)&^slash | (w-' '*ByteOnes)&^w) & ByteHighs; m != 0 {
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
			return s, r.Broken()
		}
		if b[i] == '"' {
			s.End = i
			s.Wide = high&ByteHighs != 0
			r.I = i + 1
			return s, !s.Wide || utf8.Valid(b[s.Start:i]) || r.Broken()
		}
		n := escapeLen(b[i:])
		if n == 0 {
			return s, r.Broken()
		}
		s.Escaped = true
		i += n
	}
}

// Piece is the contents of a string in the value.
type Piece struct {
	Start, End int
	Escaped    bool
	Wide       bool // not all of it is ASCII
}

// escapeLen returns the length of the escape that b begins with, including both
// halves of a surrogate pair; 0 if it is not valid.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		r, ok := hexQuad(b[2:])
		if !ok {
			return 0
		}
		if !utf16.IsSurrogate(r) {
			return 6
		}
		if len(b) < 12 || b[6] != '\\' || b[7] != 'u' {
			return 0
		}
		low, ok := hexQuad(b[8:])
		if ok && utf16.DecodeRune(r, low) != utf8.RuneError {
			return 12
		}
	}
	return 0
}

func hexQuad(b []byte) (r rune, ok bool) {
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

// Numeral is a number in the value.
type Numeral struct {
	Start, End int
	Plain      bool // neither fraction nor exponent
}

// Num reads the number at the position.
func (r *Scanner) Num() (n Numeral, ok bool) {
	b, i := r.B, r.I
	n.Start = i
	if b[i] == '-' {
		i++
	}
	whole := SkipDigits(b, i)
	if whole == i || b[i] == '0' && whole > i+1 {
		return n, r.Broken()
	}
	i = whole
	n.Plain = true
	if i < len(b) && b[i] == '.' {
		n.Plain = false
		end := SkipDigits(b, i+1)
		if end == i+1 {
			return n, r.Broken()
		}
		i = end
	}
	long := i-n.Start >= 309
	if i < len(b) && b[i]|0x20 == 'e' {
		n.Plain, long = false, true
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		end := SkipDigits(b, i)
		if end == i {
			return n, r.Broken()
		}
		i = end
	}
	n.End = i
	r.I = i
	return n, !long || inRange(b[n.Start:i]) || r.Broken()
}

// inRange reports whether a double can hold the number.
func inRange(text []byte) bool {
	if d := ParseDecimal(text); d.Point <= 308 {
		return true
	}
	_, err := strconv.ParseFloat(string(text), 64)
	return err == nil
}

// SkipDigits returns the end of the digits that begin at b[i].
func SkipDigits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}

// Word reads one of true, false and null.
func (r *Scanner) Word() bool {
	b := r.B[r.I:]
	switch {
	case len(b) >= 4 && (string(b[:4]) == "true" || string(b[:4]) == "null"):
		r.I += 4
	case len(b) >= 5 && string(b[:5]) == "false":
		r.I += 5
	default:
		return r.Broken()
	}
	return true
}

// Key reads the key at the position.
func (r *Scanner) Key() (at int, s Piece, ok bool) {
	if r.Next() != '"' {
		return 0, s, r.Broken()
	}
	at = r.I
	s, ok = r.Str()
	return at, s, ok
}

// Colon reads the colon after a key.
func (r *Scanner) Colon() bool {
	if r.Next() != ':' {
		return r.Broken()
	}
	r.I++
	return true
}

// Enter and leave read the brackets of a container.
func (r *Scanner) Enter() bool {
	if r.Depth++; r.Depth > MaxDepth {
		return r.Broken()
	}
	r.I++
	return true
}

// Leave reads a closing bracket.
func (r *Scanner) Leave() {
	r.Depth--
	r.I++
}

// PlainText returns an unescaped string, valid until the next call.
func (r *Scanner) PlainText(s Piece) []byte {
	raw := r.B[s.Start:s.End]
	if s.Escaped {
		r.Scratch = AppendUnescaped(r.Scratch[:0], raw)
		return r.Scratch
	}
	return raw
}

// Broken ends the validation because the input is not JSON.
func (r *Scanner) Broken() bool {
	r.Stop = NotJSON
	return false
}
