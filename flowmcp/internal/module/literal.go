package module

import (
	"bytes"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Unquote resolves the escapes of an ECMAScript string. An unpaired surrogate
// becomes its three bytes, which are not valid UTF-8.
func Unquote(s []byte) string {
	if bytes.IndexByte(s, '\\') < 0 {
		return string(s)
	}
	out := make([]byte, 0, len(s))
	for len(s) > 0 {
		if s[0] != '\\' || len(s) == 1 {
			out = append(out, s[0])
			s = s[1:]
			continue
		}
		out, s = escape(out, s[1:])
	}
	return string(out)
}

// escape appends the character of the escape at the beginning of s (after its
// backslash) and returns the rest.
func escape(out, s []byte) (_, rest []byte) {
	switch c := s[0]; c {
	case 'n', 't', 'r', 'b', 'f', 'v':
		return append(out, "\n\t\r\b\f\v"[strings.IndexByte("ntrbfv", c)]), s[1:]
	case '\r':
		return out, bytes.TrimPrefix(s[1:], []byte{'\n'})
	case '\n':
		return out, s[1:]
	case 'x', 'u':
		if r, n := hexEscape(s); n > 0 {
			if lead := r; lead >= 0xD800 && lead < 0xDC00 && bytes.HasPrefix(s[n:], []byte(`\u`)) {
				if low, m := hexEscape(s[n+1:]); m > 0 && low >= 0xDC00 && low < 0xE000 {
					r, n = 0x10000+(lead-0xD800)<<10+(low-0xDC00), n+1+m
				}
			}
			return appendUnit(out, r), s[n:]
		}
	case '0', '1', '2', '3', '4', '5', '6', '7':
		if c == '0' && (len(s) == 1 || s[1] < '0' || s[1] > '9') {
			return append(out, 0), s[1:]
		}
	}
	if bytes.HasPrefix(s, []byte("\u2028")) || bytes.HasPrefix(s, []byte("\u2029")) {
		return out, s[3:]
	}
	return append(out, s[0]), s[1:]
}

// hexEscape reads xHH, uHHHH or u{H…} and returns its length, or 0.
func hexEscape(s []byte) (r rune, n int) {
	var digits string
	switch {
	case len(s) >= 3 && s[0] == 'x':
		digits, n = string(s[1:3]), 3
	case len(s) >= 3 && s[0] == 'u' && s[1] == '{':
		end := bytes.IndexByte(s, '}')
		if end < 0 {
			return 0, 0
		}
		digits, n = string(s[2:end]), end+1
	case len(s) >= 5 && s[0] == 'u':
		digits, n = string(s[1:5]), 5
	default:
		return 0, 0
	}
	v, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || v > utf8.MaxRune {
		return 0, 0
	}
	return rune(v), n
}

func appendUnit(out []byte, r rune) []byte {
	if r >= 0xD800 && r < 0xE000 {
		return append(out, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F) //nolint:gosec // the bits of a surrogate
	}
	return utf8.AppendRune(out, r)
}

// normalBreaks normalizes line breaks of a template (ECMA-262 §12.9.6).
func normalBreaks(s []byte) []byte {
	s = bytes.ReplaceAll(s, []byte("\r\n"), []byte{'\n'})
	return bytes.ReplaceAll(s, []byte{'\r'}, []byte{'\n'})
}

// NumberText formats a numeric literal as ECMAScript does; false where JSON has
// no such number.
func NumberText(literal string) (string, bool) {
	literal = strings.ReplaceAll(literal, "_", "")
	if strings.HasSuffix(literal, "n") {
		return "", false // a bigint
	}
	var f float64
	if len(literal) > 1 && literal[0] == '0' && strings.ContainsAny(literal[1:2], "xXoObB01234567") {
		i, ok := new(big.Int).SetString(literal, 0)
		if !ok {
			return "", false
		}
		f, _ = new(big.Float).SetInt(i).Float64()
	} else {
		var err error
		if f, err = strconv.ParseFloat(literal, 64); err != nil {
			return "", false
		}
	}
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return "", false
	}
	return FormatNumber(f), true
}

// FormatNumber writes f as Number::toString does (ECMA-262 §6.1.6.1.20).
func FormatNumber(f float64) string {
	if f == 0 {
		return "0"
	}
	if a := math.Abs(f); a >= 1e-6 && a < 1e21 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	text := strconv.FormatFloat(f, 'e', -1, 64)
	text = strings.Replace(text, "e-0", "e-", 1)
	return strings.Replace(text, "e+0", "e+", 1)
}

// Negate changes the sign of a number in text form.
func Negate(text string) string {
	if text == "0" {
		return text // JSON.stringify(-0)
	}
	if rest, ok := strings.CutPrefix(text, "-"); ok {
		return rest
	}
	return "-" + text
}
