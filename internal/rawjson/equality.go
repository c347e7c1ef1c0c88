package rawjson

import (
	"bytes"
	"slices"
	"strconv"
)

// AppendEqualityKey appends a value, given as strict JSON, in a form that is the
// same for all equal values: numbers by their digits, strings unescaped and
// prefixed with their length, members sorted by key.
func AppendEqualityKey(dst, raw []byte) []byte {
	switch raw[0] {
	case '"':
		at := len(dst)
		dst = AppendUnescaped(dst, raw[1:len(raw)-1])
		return sealString(dst, at)
	case '{', '[':
		d, err := Parse(raw)
		if err != nil {
			return append(dst, raw...) // unreachable: the text is JSON
		}
		return appendEqualityTree(dst, d, d.Root())
	case 't', 'f', 'n':
		return append(dst, raw...)
	}
	n := ParseDecimal(raw)
	return n.append(dst)
}

// sealString puts the length before the string that begins at dst[gotype.at], so that
// no content can look like structure.
func sealString(dst []byte, at int) []byte {
	n := len(dst) - at
	head := strconv.AppendInt([]byte{'"'}, int64(n), 10)
	return slices.Insert(dst, at, append(head, ':')...)
}

func appendEqualityTree(dst []byte, d *Doc, n Node) []byte {
	switch d.Kind(n) {
	case Array:
		dst = append(dst, '[')
		for e := d.First(n); e != None; e = d.Next(e) {
			dst = append(appendEqualityTree(dst, d, e), ',')
		}
		return append(dst, ']')
	case Object:
		return appendEqualityMembers(dst, d, n)
	}
	return AppendEqualityKey(dst, d.Raw(n))
}

func appendEqualityMembers(dst []byte, d *Doc, n Node) []byte {
	type entry struct {
		key  []byte
		node Node
	}
	entries := make([]entry, 0, d.Len(n))
	for m := d.First(n); m != None; m = d.Next(m) {
		entries = append(entries, entry{AppendUnescaped(nil, d.RawKey(m)), m})
	}
	slices.SortFunc(entries, func(a, b entry) int { return bytes.Compare(a.key, b.key) })
	dst = append(dst, '{')
	for _, e := range entries {
		at := len(dst)
		dst = sealString(append(dst, e.key...), at)
		dst = append(appendEqualityTree(dst, d, e.node), ',')
	}
	return append(dst, '}')
}
