package ecmaregexp

import (
	"fmt"
	"slices"
	"unicode"
)

// set is a set of characters: pairs of the first and the last of a range,
// sorted, not overlapping.
type set []rune

// Sets of ECMA-262: CharacterClassEscape, LineTerminator.
//
//nolint:gochecknoglobals // tables
var (
	digits = set{'0', '9'}
	words  = set{'0', '9', 'A', 'Z', '_', '_', 'a', 'z'}
	spaces = set{
		'\t', '\r', ' ', ' ', 0xA0, 0xA0, 0x1680, 0x1680, 0x2000, 0x200A, 0x2028, 0x2029,
		0x202F, 0x202F, 0x205F, 0x205F, 0x3000, 0x3000, 0xFEFF, 0xFEFF,
	}
	dot = set{'\n', '\n', '\r', '\r', 0x2028, 0x2029}.not()
)

func one(r rune) set { return set{r, r} }

// join sorts and merges ranges.
func join(ranges set) set {
	type pair struct{ low, high rune }
	list := make([]pair, 0, len(ranges)/2)
	for i := 0; i < len(ranges); i += 2 {
		list = append(list, pair{ranges[i], ranges[i+1]})
	}
	slices.SortFunc(list, func(a, b pair) int { return int(a.low - b.low) })
	out := make(set, 0, len(ranges))
	for _, p := range list {
		if n := len(out); n > 0 && p.low <= out[n-1]+1 {
			out[n-1] = max(out[n-1], p.high)
			continue
		}
		out = append(out, p.low, p.high)
	}
	return out
}

// not returns all other characters.
func (s set) not() set {
	out := make(set, 0, len(s)+2)
	next := rune(0)
	for i := 0; i < len(s); i += 2 {
		if s[i] > next {
			out = append(out, next, s[i]-1)
		}
		next = s[i+1] + 1
	}
	if next <= unicode.MaxRune {
		out = append(out, next, unicode.MaxRune)
	}
	return out
}

// without returns the characters of s that are not in other.
func (s set) without(other set) set {
	return join(append(s.not(), other...)).not()
}

// has reports whether r is in the set.
func (s set) has(r rune) bool {
	if len(s) <= 8 {
		for i := 0; i < len(s); i += 2 {
			if r <= s[i+1] {
				return r >= s[i]
			}
		}
		return false
	}
	low, high := 0, len(s)/2
	for low < high {
		if mid := (low + high) / 2; s[2*mid+1] < r {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return 2*low < len(s) && s[2*low] <= r
}

// appendRE2 writes the set for RE2.
func (s set) appendRE2(dst []byte) []byte {
	if len(s) == 0 {
		return append(dst, `[^\x00-\x{10FFFF}]`...)
	}
	dst = append(dst, '[')
	for i := 0; i < len(s); i += 2 {
		if dst = fmt.Appendf(dst, `\x{%X}`, s[i]); s[i] != s[i+1] {
			dst = fmt.Appendf(dst, `-\x{%X}`, s[i+1])
		}
	}
	return append(dst, ']')
}

// table returns the characters of tables of Unicode.
func table(tables ...*unicode.RangeTable) set {
	var ranges set
	add := func(low, high, stride rune) {
		if stride == 1 {
			ranges = append(ranges, low, high)
			return
		}
		for r := low; r <= high; r += stride {
			ranges = append(ranges, r, r)
		}
	}
	for _, t := range tables {
		for _, r := range t.R16 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range t.R32 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride)) //nolint:gosec // characters
		}
	}
	return join(ranges)
}
