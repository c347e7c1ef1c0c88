package schema

import (
	"math/big"
	"math/bits"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// bound is one of minimum, maximum, exclusiveMinimum, exclusiveMaximum.
type bound struct {
	limit     rawjson.Decimal
	text      []byte
	upper     bool
	exclusive bool
	short     bool // small is valid
	small     int64
}

func newBound(text []byte, upper, exclusive bool) bound {
	b := bound{limit: rawjson.ParseDecimal(text), text: text, upper: upper, exclusive: exclusive}
	b.small, b.short = smallInteger(text)
	return b
}

// smallInteger parses an integer of up to 18 digits without fraction or
// exponent.
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

// admits reports whether a number is within the bound.
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
		d := rawjson.ParseDecimal(text)
		c = d.Compare(&b.limit)
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
	coefficient uint64 // the significant digits; 0: too many
	exponent    int    // the power of ten of the coefficient
	text        []byte
}

func newDivisor(text []byte) *divisor {
	d := rawjson.ParseDecimal(text)
	c, _ := d.Coefficient()
	return &divisor{coefficient: c, exponent: d.Point - d.Len(), text: text}
}

// divides reports whether the number is a multiple.
func (v *divisor) divides(text []byte) bool {
	d := rawjson.ParseDecimal(text)
	if d.Len() == 0 {
		return true
	}
	shift := d.Point - d.Len() - v.exponent
	if shift < 0 {
		return false // the digits do not end in zero, so they have no factor of ten
	}
	c, ok := d.Coefficient()
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

// mulMod returns x × y mod m, for x and y below m.
func mulMod(x, y, m uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	return bits.Rem64(hi, lo, m)
}

// dividesBig handles numbers of more than nineteen digits.
func (v *divisor) dividesBig(d *rawjson.Decimal, shift int) bool {
	own := rawjson.ParseDecimal(v.text)
	m, c := own.Big(), d.Big()
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(shift)), m)
	return c.Mul(c, power).Mod(c, m).Sign() == 0
}
