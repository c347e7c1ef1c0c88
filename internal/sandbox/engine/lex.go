//go:build amd64 || arm64

package engine

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// lexer splits a JSON text into tokens. It is strict: it accepts only JSON in
// UTF-8.
type lexer struct {
	text []byte
	at   int

	ascii   bool   // the last string is plain ASCII
	changed bool   // the last string had escapes
	unread  []byte // buffer for unescaped strings
}

// space skips white space and returns the next byte, or 0.
func (l *lexer) space() byte {
	if l.at < len(l.text) && l.text[l.at] > ' ' {
		return l.text[l.at]
	}
	return l.blank()
}

func (l *lexer) blank() byte {
	for l.at < len(l.text) {
		switch c := l.text[l.at]; c {
		case ' ', '\n', '\r', '\t':
			l.at++
		default:
			return c
		}
	}
	return 0
}

func (l *lexer) word(w string) bool {
	ok := bytes.HasPrefix(l.text[l.at:], []byte(w))
	l.at += len(w)
	return ok
}

// separator reads a comma or the closing bracket.
func (l *lexer) separator(end byte) (ends, ok bool) {
	c := l.space()
	l.at++
	return c == end, c == end || c == ','
}

// token reads a string and returns it unescaped, valid until the next call.
func (l *lexer) token() ([]byte, bool) {
	begin := l.at + 1
	l.ascii, l.changed = true, false
	for i := begin; ; {
		i += plain(l.text[i:])
		if i >= len(l.text) {
			return nil, false
		}
		switch c := l.text[i]; {
		case c == '"':
			l.at = i + 1
			token := l.text[begin:i]
			return token, l.ascii || utf8.Valid(token)
		case c == '\\':
			if !l.ascii && !utf8.Valid(l.text[begin:i]) {
				return nil, false
			}
			return l.escaped(begin, i)
		case c < ' ':
			return nil, false
		default:
			l.ascii = false
			i++
		}
	}
}

// plain counts the leading bytes of a string that need no escape, eight or
// thirty-two at a time.
func plain(b []byte) int {
	i := 0
	for ; i+32 <= len(b); i += 32 {
		four := b[i : i+32 : i+32]
		if odd(binary.LittleEndian.Uint64(four))|odd(binary.LittleEndian.Uint64(four[8:]))|
			odd(binary.LittleEndian.Uint64(four[16:]))|odd(binary.LittleEndian.Uint64(four[24:])) != 0 {
			break
		}
	}
	for ; i+8 <= len(b); i += 8 {
		if o := odd(binary.LittleEndian.Uint64(b[i:])); o != 0 {
			return i + bits.TrailingZeros64(o)/8
		}
	}
	for ; i < len(b) && b[i] >= ' ' && b[i] < utf8.RuneSelf && b[i] != '"' && b[i] != '\\'; i++ {
	}
	return i
}

// odd marks the bytes of a word that end a plain run; bytes above the first may
// be marked wrongly.
func odd(w uint64) uint64 {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote, slash := w^ones*'"', w^ones*'\\'
	return (w | (w - ones*' ') | (quote - ones) | (slash - ones)) & tops
}

// escaped continues a string from its first escape at i. An unpaired surrogate
// becomes its three bytes, as in the engine.
func (l *lexer) escaped(begin, i int) ([]byte, bool) {
	out := append(l.unread[:0], l.text[begin:i]...)
	for i < len(l.text) {
		switch c := l.text[i]; {
		case c == '"':
			l.at, l.unread, l.ascii, l.changed = i+1, out, false, true
			return out, true
		case c < ' ':
			return nil, false
		case c == '\\':
			longer, n := unescape(out, l.text[i+1:])
			if n == 0 {
				return nil, false
			}
			out = longer
			i += 1 + n
		case c < utf8.RuneSelf:
			n := max(plain(l.text[i:]), 1)
			out = append(out, l.text[i:i+n]...)
			i += n
		default:
			c, n := utf8.DecodeRune(l.text[i:])
			if c == utf8.RuneError && n == 1 {
				return nil, false
			}
			out = append(out, l.text[i:i+n]...)
			i += n
		}
	}
	return nil, false
}

// unescape appends the character of the escape at the beginning of b, after its
// backslash, and returns its length, or 0.
func unescape(dst, b []byte) ([]byte, int) {
	if len(b) == 0 {
		return dst, 0
	}
	switch c := b[0]; c {
	case '"', '\\', '/':
		return append(dst, c), 1
	case 'b':
		return append(dst, '\b'), 1
	case 'f':
		return append(dst, '\f'), 1
	case 'n':
		return append(dst, '\n'), 1
	case 'r':
		return append(dst, '\r'), 1
	case 't':
		return append(dst, '\t'), 1
	case 'u':
	default:
		return dst, 0
	}
	high, ok := hex4(b[1:])
	if !ok {
		return dst, 0
	}
	if high < 0xD800 || high > 0xDFFF {
		return utf8.AppendRune(dst, high), 5
	}
	if high < 0xDC00 && len(b) >= 7 && b[5] == '\\' && b[6] == 'u' {
		if low, ok := hex4(b[7:]); ok && low >= 0xDC00 && low <= 0xDFFF {
			return utf8.AppendRune(dst, (high-0xD800)<<10+(low-0xDC00)+0x10000), 11
		}
	}
	return append(dst, 0xE0|byte(high>>12), 0x80|byte(high>>6)&0x3F, 0x80|byte(high)&0x3F), 5 //nolint:gosec // cut on purpose
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[:4]), 16, 16)
	return rune(n), err == nil
}

// number reads a number; integer reports whether it has at most nine digits and
// is not -0.
func (l *lexer) number() (token []byte, integer, ok bool) {
	begin := l.at
	l.skip('-')
	zero := l.at < len(l.text) && l.text[l.at] == '0'
	whole := l.digits()
	if whole == 0 || zero && whole > 1 {
		return nil, false, false
	}
	integer = whole <= 9 && (!zero || l.at == begin+1)
	if l.skip('.') {
		if integer = false; l.digits() == 0 {
			return nil, false, false
		}
	}
	if l.skip('e') || l.skip('E') {
		if !l.skip('+') {
			l.skip('-')
		}
		if integer = false; l.digits() == 0 {
			return nil, false, false
		}
	}
	return l.text[begin:l.at], integer, true
}

func (l *lexer) skip(c byte) bool {
	if l.at == len(l.text) || l.text[l.at] != c {
		return false
	}
	l.at++
	return true
}

// skipText skips a text if it is next.
func (l *lexer) skipText(text []byte) bool {
	ok := bytes.HasPrefix(l.text[l.at:], text)
	if ok {
		l.at += len(text)
	}
	return ok
}

// since returns the text read from begin on.
func (l *lexer) since(begin int) []byte { return l.text[begin:l.at] }

func (l *lexer) digits() int {
	begin := l.at
	for l.at < len(l.text) && l.text[l.at]-'0' <= 9 {
		l.at++
	}
	return l.at - begin
}

// smallInt converts an integer token of number.
func smallInt(token []byte) int32 {
	digits := bytes.TrimPrefix(token, []byte{'-'})
	n := int32(0)
	for _, c := range digits {
		n = n*10 + int32(c-'0')
	}
	if len(digits) < len(token) {
		return -n
	}
	return n
}
