package schema_test

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon/schema"
)

// TestNumbersAreExact compares with rational numbers.
func TestNumbersAreExact(t *testing.T) {
	numbers := rapid.StringMatching(`-?(0|[1-9][0-9]{0,3}|[1-9][0-9]{15,25})(\.(0{0,3}|[0-9]{1,4}|0{1,5}[0-9]{1,20}))?([eE][+-]?[0-2]?[0-9])?`).
		Filter(func(s string) bool {
			return !strings.HasSuffix(s, ".") && !strings.Contains(s, ".e") && !strings.Contains(s, ".E")
		})
	rapid.Check(t, func(t *rapid.T) {
		limit := numbers.Draw(t, "limit")
		value := numbers.Draw(t, "value")
		if rapid.Bool().Draw(t, "near") {
			value = limit + rapid.SampledFrom([]string{"", "0", "1"}).Draw(t, "digit")
		}
		if (strings.ContainsAny(limit, "eE") || strings.TrimLeft(limit, "-") == "0") && strings.HasPrefix(value, limit) {
			value = limit // no digit can follow
		}
		x, _ := new(big.Rat).SetString(value)
		y, _ := new(big.Rat).SetString(limit)
		if x == nil || y == nil {
			t.Skip("not a number")
		}
		c := x.Cmp(y)
		expect(t, `{"minimum":`+limit+`}`, value, c >= 0)
		expect(t, `{"maximum":`+limit+`}`, value, c <= 0)
		expect(t, `{"exclusiveMinimum":`+limit+`}`, value, c > 0)
		expect(t, `{"exclusiveMaximum":`+limit+`}`, value, c < 0)
		expect(t, `{"const":`+limit+`}`, value, c == 0)
		expect(t, `{"type":"integer"}`, value, x.IsInt())
		if y.Sign() > 0 {
			expect(t, `{"multipleOf":`+limit+`}`, value, new(big.Rat).Quo(x, y).IsInt())
			multiple := new(big.Rat).Mul(y, big.NewRat(7919, 1))
			if digits, exact := multiple.FloatPrec(); exact {
				expect(t, `{"multipleOf":`+limit+`}`, multiple.FloatString(digits), true)
			}
		}
	})
}

func expect(t *rapid.T, doc, value string, fits bool) {
	s, err := schema.Compile([]byte(doc), schema.Options{})
	if err != nil {
		t.Fatalf("%s: %v", doc, err)
	}
	if got := s.Validate([]byte(value)); (got == nil) != fits {
		t.Fatalf("schema %s, value %s: want it to fit: %v, got %v", doc, value, fits, got)
	}
}
