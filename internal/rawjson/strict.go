package rawjson

import "bytes"

// ParseStrict is [Parse] with the rules of [Check].
func ParseStrict(src []byte) (*Doc, error) {
	d, err := Parse(src)
	return strict(src, d, err)
}

// strict checks the result of parsing src.
func strict(src []byte, d *Doc, err error) (*Doc, error) {
	if err != nil || d.plain() {
		return d, err
	}
	if err := Check(src); err != nil {
		return nil, err
	}
	return d, nil
}

// plain reports whether d needs no closer check: no two equal keys, no escape
// of a surrogate, no number so large that it may be beyond a double. What is
// not plain may still be strict.
func (d *Doc) plain() bool {
	for i := range d.nodes {
		v := &d.nodes[i]
		ok := !v.keyEscaped
		switch v.kind {
		case String:
			ok = ok && (!v.escaped || !bytes.Contains(d.src[v.start:v.end], []byte(`\u`)))
		case Number:
			text := d.src[v.start:v.end]
			ok = ok && len(text) < 309 && bytes.IndexByte(text, 'e') < 0 && bytes.IndexByte(text, 'E') < 0
		case Object:
			ok = ok && d.distinct(Node(i))
		default:
		}
		if !ok {
			return false
		}
	}
	return true
}

// distinct reports whether no two keys of an object are equal; keys with
// escapes count as equal to others.
func (d *Doc) distinct(n Node) bool {
	if d.Len(n) > scanLimit {
		return d.indexOf(n).size == d.Len(n)
	}
	for c := d.First(n); c != None; c = d.Next(c) {
		v := &d.nodes[c]
		for b := d.First(n); b != c; b = Node(d.nodes[b].next) {
			w := &d.nodes[b]
			if v.keyEnd-v.keyStart == w.keyEnd-w.keyStart && bytes.Equal(d.src[v.keyStart:v.keyEnd], d.src[w.keyStart:w.keyEnd]) {
				return false
			}
		}
	}
	return true
}
