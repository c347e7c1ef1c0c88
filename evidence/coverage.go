package evidence

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Coverage says which places of a schema came in responses that were looked into, one
// bit for each in the order of their pointers. The zero value: none was looked into.
type Coverage struct {
	of   int    // places
	bits string // one byte for eight of them
}

// has reports whether place i came.
func (c Coverage) has(i int) bool { return c.bits[i/8]>>(i%8)&1 == 1 }

// union is what came by either. Of coverages of different schemas, which only share a
// key that is not told apart, the longer one stays: so the order does not matter.
func (c Coverage) union(o Coverage) Coverage {
	switch {
	case c.of < o.of:
		return o
	case c.of > o.of || c.bits == o.bits:
		return c
	}
	both := []byte(c.bits)
	for i := range both {
		both[i] |= o.bits[i]
	}
	return Coverage{c.of, string(both)}
}

// text is c as a ledger has it: "12:AAA".
func (c Coverage) text() string {
	if c.of == 0 {
		return ""
	}
	return strconv.Itoa(c.of) + ":" + base64.RawURLEncoding.EncodeToString([]byte(c.bits))
}

func parseCoverage(text string) (Coverage, error) {
	if text == "" {
		return Coverage{}, nil
	}
	number, rest, _ := strings.Cut(text, ":")
	of, err := strconv.Atoi(number)
	bits, wrong := base64.RawURLEncoding.Strict().DecodeString(rest)
	if err != nil || wrong != nil || of < 1 || of > maxPlacesOf || len(bits) != (of+7)/8 || of%8 != 0 && bits[len(bits)-1]>>(of%8) != 0 {
		return Coverage{}, errors.New("places are not a number and as many bits")
	}
	if c := (Coverage{of, string(bits)}); c.text() == text {
		return c, nil
	}
	return Coverage{}, fmt.Errorf("places are written %q, not as tenon does", text)
}
