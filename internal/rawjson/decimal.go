package rawjson

import (
	"math"
	"math/big"
	"strconv"
)

// Decimal is an exact JSON number: 0.d₁d₂d₃… × 10^point. Its digits are the
// bytes of whole followed by those of part, without zeros at either end; zero
// has none.
type Decimal struct {
	Whole, Part []byte
	Point       int
	Negative    bool
}

// maxExponent limits exponents. It is far beyond the range of a double, so that
// clipped numbers still compare correctly with all others.
const maxExponent = 1 << (27 + 13*(math.MaxUint>>63)) // 1<<40, on 32 bits 1<<27

// ParseDecimal reads a number that is known to be JSON.
func ParseDecimal(text []byte) Decimal {
	var d Decimal
	if text[0] == '-' {
		d.Negative = true
		text = text[1:]
	}
	end := 0
	for end < len(text) && text[end]-'0' <= 9 {
		end++
	}
	d.Whole, text = text[:end], text[end:]
	d.Point = end
	if len(text) > 0 && text[0] == '.' {
		end = 1
		for end < len(text) && text[end]-'0' <= 9 {
			end++
		}
		d.Part, text = text[1:end], text[end:]
	}
	if len(text) > 0 { // the exponent
		d.Point += exponent(text[1:])
	}
	d.trim()
	return d
}

func exponent(text []byte) int {
	e, sign := 0, 1
	switch text[0] {
	case '-':
		sign, text = -1, text[1:]
	case '+':
		text = text[1:]
	}
	for _, c := range text {
		if e = e*10 + int(c-'0'); e > maxExponent {
			return sign * maxExponent
		}
	}
	return sign * e
}

// trim removes the zeros at both ends.
func (d *Decimal) trim() {
	for len(d.Whole) > 0 && d.Whole[0] == '0' {
		d.Whole = d.Whole[1:]
		d.Point--
	}
	if len(d.Whole) == 0 {
		for len(d.Part) > 0 && d.Part[0] == '0' {
			d.Part = d.Part[1:]
			d.Point--
		}
	}
	for len(d.Part) > 0 && d.Part[len(d.Part)-1] == '0' {
		d.Part = d.Part[:len(d.Part)-1]
	}
	if len(d.Part) == 0 {
		for len(d.Whole) > 0 && d.Whole[len(d.Whole)-1] == '0' {
			d.Whole = d.Whole[:len(d.Whole)-1]
		}
	}
	if d.Len() == 0 {
		d.Point, d.Negative = 0, false
	}
}

// Len is the number of significant digits.
func (d *Decimal) Len() int { return len(d.Whole) + len(d.Part) }

func (d *Decimal) digit(i int) byte {
	if i < len(d.Whole) {
		return d.Whole[i]
	}
	return d.Part[i-len(d.Whole)]
}

// IsInteger reports whether the number has no fraction.
func (d *Decimal) IsInteger() bool { return d.Len() <= d.Point || d.Len() == 0 }

// Compare returns -1, 0 or 1.
func (d *Decimal) Compare(e *Decimal) int {
	switch {
	case d.Negative != e.Negative:
		if d.Negative {
			return -1
		}
		return 1
	case d.Negative:
		return e.compareSize(d)
	}
	return d.compareSize(e)
}

// compareSize compares without the signs.
func (d *Decimal) compareSize(e *Decimal) int {
	switch {
	case d.Len() == 0 || e.Len() == 0:
		return min(d.Len(), 1) - min(e.Len(), 1)
	case d.Point < e.Point:
		return -1
	case d.Point > e.Point:
		return 1
	}
	for i := range min(d.Len(), e.Len()) {
		if x, y := d.digit(i), e.digit(i); x != y {
			return int(int8(x) - int8(y)) //nolint:gosec // digits
		}
	}
	return d.Len() - e.Len()
}

// append appends the digits and the exponent: equal numbers give equal text.
func (d *Decimal) append(dst []byte) []byte {
	if d.Negative {
		dst = append(dst, '-')
	}
	dst = append(dst, d.Whole...)
	dst = append(dst, d.Part...)
	dst = append(dst, 'e')
	return strconv.AppendInt(dst, int64(d.Point), 10)
}

// Int returns the number as a count: at most the largest int, and -1 if it is
// negative or has a fraction.
func (d *Decimal) Int() int {
	switch {
	case d.Negative || !d.IsInteger():
		return -1
	case d.Point > 18:
		return math.MaxInt
	}
	n := 0
	for i := range d.Point {
		n *= 10
		if i < d.Len() {
			n += int(d.digit(i) - '0')
		}
	}
	return n
}

// Coefficient returns the significant digits as a number.
func (d *Decimal) Coefficient() (c uint64, ok bool) {
	if d.Len() > 19 {
		return 0, false
	}
	for i := range d.Len() {
		c = c*10 + uint64(d.digit(i)-'0')
	}
	return c, true
}

// Big returns the significant digits as an integer.
func (d *Decimal) Big() *big.Int {
	n, _ := new(big.Int).SetString(string(d.Whole)+string(d.Part), 10)
	return n
}
