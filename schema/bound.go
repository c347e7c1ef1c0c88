package schema

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
)

// decimal is a number of JSON, exactly: 0.d₁d₂d₃… × 10^point. Its digits are
// the bytes of whole and then those of part, without zeros at either end; the
// number zero has none.
type decimal struct {
	whole, part []byte
	point       int
	negative    bool
}

// maxExponent is where exponents are cut. No double is as small or as large,
// so what lies beyond is only ever compared with what can be told apart.
const maxExponent = 1 << (27 + 13*(math.MaxUint>>63)) // 1<<40, on 32 bits 1<<27

// parseDecimal reads a number that is known to be JSON.
func parseDecimal(text []byte) decimal {
	var d decimal
	if text[0] == '-' {
		d.negative = true
		text = text[1:]
	}
	end := 0
	for end < len(text) && text[end]-'0' <= 9 {
		end++
	}
	d.whole, text = text[:end], text[end:]
	d.point = end
	if len(text) > 0 && text[0] == '.' {
		end = 1
		for end < len(text) && text[end]-'0' <= 9 {
			end++
		}
		d.part, text = text[1:end], text[end:]
	}
	if len(text) > 0 { // the exponent
		d.point += exponent(text[1:])
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

// trim takes the zeros away from both ends.
func (d *decimal) trim() {
	for len(d.whole) > 0 && d.whole[0] == '0' {
		d.whole = d.whole[1:]
		d.point--
	}
	if len(d.whole) == 0 {
		for len(d.part) > 0 && d.part[0] == '0' {
			d.part = d.part[1:]
			d.point--
		}
	}
	for len(d.part) > 0 && d.part[len(d.part)-1] == '0' {
		d.part = d.part[:len(d.part)-1]
	}
	if len(d.part) == 0 {
		for len(d.whole) > 0 && d.whole[len(d.whole)-1] == '0' {
			d.whole = d.whole[:len(d.whole)-1]
		}
	}
	if d.len() == 0 {
		d.point, d.negative = 0, false
	}
}

// len is the number of significant digits.
func (d *decimal) len() int { return len(d.whole) + len(d.part) }

func (d *decimal) digit(i int) byte {
	if i < len(d.whole) {
		return d.whole[i]
	}
	return d.part[i-len(d.whole)]
}

func (d *decimal) isInteger() bool { return d.len() <= d.point || d.len() == 0 }

// compare answers -1, 0 or 1.
func (d *decimal) compare(e *decimal) int {
	switch {
	case d.negative != e.negative:
		if d.negative {
			return -1
		}
		return 1
	case d.negative:
		return e.compareSize(d)
	}
	return d.compareSize(e)
}

// compareSize compares without the signs.
func (d *decimal) compareSize(e *decimal) int {
	switch {
	case d.len() == 0 || e.len() == 0:
		return min(d.len(), 1) - min(e.len(), 1)
	case d.point < e.point:
		return -1
	case d.point > e.point:
		return 1
	}
	for i := range min(d.len(), e.len()) {
		if x, y := d.digit(i), e.digit(i); x != y {
			return int(int8(x) - int8(y)) //nolint:gosec // digits
		}
	}
	return d.len() - e.len()
}

// append writes the digits and the exponent: equal numbers give equal text.
func (d *decimal) append(dst []byte) []byte {
	if d.negative {
		dst = append(dst, '-')
	}
	dst = append(dst, d.whole...)
	dst = append(dst, d.part...)
	dst = append(dst, 'e')
	return strconv.AppendInt(dst, int64(d.point), 10)
}

// int answers the number as a count: cut at the largest int, and -1 if it is
// negative or has a fraction.
func (d *decimal) int() int {
	switch {
	case d.negative || !d.isInteger():
		return -1
	case d.point > 18:
		return math.MaxInt
	}
	n := 0
	for i := range d.point {
		n *= 10
		if i < d.len() {
			n += int(d.digit(i) - '0')
		}
	}
	return n
}

// bound is one of minimum, maximum, exclusiveMinimum, exclusiveMaximum.
type bound struct {
	limit     decimal
	text      []byte
	upper     bool
	exclusive bool
	short     bool // small is the limit
	small     int64
}

func newBound(text []byte, upper, exclusive bool) bound {
	b := bound{limit: parseDecimal(text), text: text, upper: upper, exclusive: exclusive}
	b.small, b.short = smallInteger(text)
	return b
}

// smallInteger reads an integer of up to 18 digits that is written as one.
func smallInteger(text []byte) (n int64, ok bool) {
	digits := text
	if text[0] == '-' {
		digits = text[1:]
	}
	if len(digits) > 18 {
		return 0, false
	}
	for _, c := range digits {
		if c-'0' > 9 {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if len(digits) != len(text) {
		n = -n
	}
	return n, true
}

// admits compares a number with the bound.
func (b *bound) admits(text []byte) bool {
	var c int
	if n, ok := smallInteger(text); ok && b.short {
		switch {
		case n < b.small:
			c = -1
		case n > b.small:
			c = 1
		}
	} else {
		d := parseDecimal(text)
		c = d.compare(&b.limit)
	}
	if b.upper {
		c = -c
	}
	return c > 0 || c == 0 && !b.exclusive
}

func (b *bound) keyword() string {
	switch {
	case b.upper && b.exclusive:
		return "exclusiveMaximum"
	case b.upper:
		return "maximum"
	case b.exclusive:
		return "exclusiveMinimum"
	}
	return "minimum"
}

func (b *bound) words() string {
	switch {
	case b.upper && b.exclusive:
		return "less than " + string(b.text)
	case b.upper:
		return "at most " + string(b.text)
	case b.exclusive:
		return "more than " + string(b.text)
	}
	return "at least " + string(b.text)
}

// divisor is the value of multipleOf.
type divisor struct {
	coefficient uint64 // the significant digits; 0: they do not fit
	exponent    int    // of ten, that the coefficient is multiplied with
	text        []byte
}

func newDivisor(text []byte) *divisor {
	d := parseDecimal(text)
	c, _ := d.coefficient()
	return &divisor{coefficient: c, exponent: d.point - d.len(), text: text}
}

// coefficient answers the significant digits as a number.
func (d *decimal) coefficient() (c uint64, ok bool) {
	if d.len() > 19 {
		return 0, false
	}
	for i := range d.len() {
		c = c*10 + uint64(d.digit(i)-'0')
	}
	return c, true
}

// divides reports whether the number is a multiple.
func (v *divisor) divides(text []byte) bool {
	d := parseDecimal(text)
	if d.len() == 0 {
		return true
	}
	shift := d.point - d.len() - v.exponent
	if shift < 0 {
		return false // the digits do not end in zero, so no power of ten divides them
	}
	c, ok := d.coefficient()
	if !ok || v.coefficient == 0 {
		return v.dividesBig(&d, shift)
	}
	// c × 10^shift mod coefficient, by squaring
	rest, power := c%v.coefficient, 10%v.coefficient
	for ; shift > 0; shift >>= 1 {
		if shift&1 == 1 {
			rest = mulMod(rest, power, v.coefficient)
		}
		power = mulMod(power, power, v.coefficient)
	}
	return rest == 0
}

// mulMod answers x × y mod m, for x and y below m.
func mulMod(x, y, m uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	return bits.Rem64(hi, lo, m)
}

// dividesBig is for numbers of more than nineteen digits.
func (v *divisor) dividesBig(d *decimal, shift int) bool {
	own := parseDecimal(v.text)
	m, c := own.big(), d.big()
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(shift)), m)
	return c.Mul(c, power).Mod(c, m).Sign() == 0
}

func (d *decimal) big() *big.Int {
	n, _ := new(big.Int).SetString(string(d.whole)+string(d.part), 10)
	return n
}
