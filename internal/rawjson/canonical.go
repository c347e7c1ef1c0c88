package rawjson

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// AppendCanonical appends the JSON value src in a form in which equal values
// have equal bytes: no white space, members sorted by the UTF-16 code units of
// their keys and strings escaped as in RFC 8785. Unlike there the text of
// numbers is kept, so 1 and 1.0 differ. src must be accepted by [Check]; the
// error is a *[SyntaxError].
func AppendCanonical(dst, src []byte) ([]byte, error) {
	if err := Check(src); err != nil {
		return dst, err
	}
	d, err := Parse(src)
	if err != nil {
		return dst, err
	}
	return d.appendCanonical(dst, d.Root()), nil
}

func (d *Doc) appendCanonical(dst []byte, n Node) []byte {
	switch d.Kind(n) {
	case Object:
		return d.appendSorted(dst, n)
	case Array:
		dst = append(dst, '[')
		for c := d.First(n); c != None; c = d.Next(c) {
			if c != n+1 {
				dst = append(dst, ',')
			}
			dst = d.appendCanonical(dst, c)
		}
		return append(dst, ']')
	case String:
		return AppendString(dst, d.Str(n))
	}
	return append(dst, d.Raw(n)...)
}

func (d *Doc) appendSorted(dst []byte, n Node) []byte {
	type member struct {
		key  string
		node Node
	}
	members := make([]member, 0, d.Len(n))
	for c := d.First(n); c != None; c = d.Next(c) {
		members = append(members, member{d.Key(c), c})
	}
	slices.SortFunc(members, func(a, b member) int { return compareUTF16(a.key, b.key) })
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(AppendString(dst, m.key), ':')
		dst = d.appendCanonical(dst, m.node)
	}
	return append(dst, '}')
}

// compareUTF16 compares by UTF-16 code units. They sort as code points do,
// except for the surrogates of code points above U+FFFF, which come before
// U+E000.
func compareUTF16(a, b string) int {
	for a != "" && b != "" {
		x, n := utf8.DecodeRuneInString(a)
		y, m := utf8.DecodeRuneInString(b)
		if x != y {
			return cmp.Compare(unit(x), unit(y))
		}
		a, b = a[n:], b[m:]
	}
	return cmp.Compare(len(a), len(b))
}

// unit maps a code point to a number that sorts like its UTF-16 code units.
func unit(r rune) int64 {
	if r > 0xFFFF {
		return 0xD800<<32 | int64(r)
	}
	return int64(r) << 32
}
