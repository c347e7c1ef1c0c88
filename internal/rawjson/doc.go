package rawjson

import "sync"

// Doc is a parsed document: a flat list of nodes over the source bytes. It is
// safe for concurrent use.
type Doc struct {
	src   []byte
	nodes []node
	index sync.Map // Node of a big object → *index, made on first use
}

func newDoc(src []byte, nodes []node) *Doc { return &Doc{src: src, nodes: nodes} }

// at returns the node itself, nil for None and nodes of another, larger Doc.
func (d *Doc) at(n Node) *node {
	if uint64(n) < uint64(len(d.nodes)) {
		return &d.nodes[n]
	}
	return nil
}

// Root returns the root value of the document.
func (d *Doc) Root() Node { return 0 }

// Source returns the bytes that the Doc was made from.
func (d *Doc) Source() []byte { return d.src }

// Kind returns the type of n.
func (d *Doc) Kind(n Node) Kind {
	if v := d.at(n); v != nil {
		return v.kind
	}
	return Invalid
}

// Len returns the number of members or elements of n, duplicates included.
func (d *Doc) Len(n Node) int {
	if v := d.at(n); v != nil {
		return int(v.count)
	}
	return 0
}

// First returns the first member or element of n.
func (d *Doc) First(n Node) Node {
	if v := d.at(n); v != nil && v.count > 0 {
		return n + 1
	}
	return None
}

// Next returns the member or element that follows n in its object or array.
func (d *Doc) Next(n Node) Node {
	if v := d.at(n); v != nil && v.next != 0 {
		return Node(v.next)
	}
	return None
}

// Key returns the key of member n, without escapes. Elements of arrays and
// the root have none.
func (d *Doc) Key(n Node) string {
	v := d.at(n)
	switch {
	case v == nil:
		return ""
	case v.keyEscaped:
		return unescape(d.src[v.keyStart:v.keyEnd])
	}
	return string(d.src[v.keyStart:v.keyEnd])
}

// KeyText returns the key of member n, as Key does, in bytes: those of the
// source where it has no escapes.
func (d *Doc) KeyText(n Node) []byte {
	if v := d.at(n); v != nil && v.keyEscaped {
		return AppendUnescaped(nil, d.src[v.keyStart:v.keyEnd])
	}
	return d.RawKey(n)
}

// RawKey returns the key of member n as in the source: with escapes, without
// quotes.
func (d *Doc) RawKey(n Node) []byte {
	if v := d.at(n); v != nil {
		return d.src[v.keyStart:v.keyEnd:v.keyEnd]
	}
	return nil
}

// Raw returns the source text of n, strings with their quotes.
func (d *Doc) Raw(n Node) []byte {
	v := d.at(n)
	switch {
	case v == nil:
		return nil
	case v.kind == String:
		return d.src[v.start-1 : v.end+1 : v.end+1]
	}
	return d.src[v.start:v.end:v.end]
}

// Str returns the unescaped string n; "" if n is not a string. An escape of a
// lone surrogate becomes U+FFFD.
func (d *Doc) Str(n Node) string {
	v := d.at(n)
	switch {
	case v == nil || v.kind != String:
		return ""
	case v.escaped:
		return unescape(d.src[v.start:v.end])
	}
	return string(d.src[v.start:v.end])
}

// Text returns the string n, as Str does, in bytes: those of the source where
// it has no escapes. nil if n is not a string.
func (d *Doc) Text(n Node) []byte {
	v := d.at(n)
	switch {
	case v == nil || v.kind != String:
		return nil
	case v.escaped:
		return AppendUnescaped(nil, d.src[v.start:v.end])
	}
	return d.src[v.start:v.end:v.end]
}

// IsStr reports whether n is the string s.
func (d *Doc) IsStr(n Node, s string) bool {
	v := d.at(n)
	switch {
	case v == nil || v.kind != String:
		return false
	case v.escaped:
		return unescape(d.src[v.start:v.end]) == s
	}
	return string(d.src[v.start:v.end]) == s
}

// IsTrue reports whether n is the literal true.
func (d *Doc) IsTrue(n Node) bool {
	v := d.at(n)
	return v != nil && v.kind == Bool && d.src[v.start] == 't'
}

// Offset returns where n begins in the source, a string at its quote.
func (d *Doc) Offset(n Node) int {
	v := d.at(n)
	switch {
	case v == nil:
		return 0
	case v.kind == String:
		return int(v.start) - 1
	}
	return int(v.start)
}

// hasKey reports whether v is a member named key.
func (d *Doc) hasKey(v *node, key string) bool {
	if v.keyEscaped {
		return unescape(d.src[v.keyStart:v.keyEnd]) == key
	}
	return string(d.src[v.keyStart:v.keyEnd]) == key
}
