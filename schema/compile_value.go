package schema

import (
	"bytes"
	"hash/maphash"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// types compiles the keyword type: a name or a list of names.
func (b *builder) types(m rawjson.Node) {
	d := b.c.doc
	switch d.Kind(m) {
	case rawjson.String:
		b.n.types = b.typeName(m)
	case rawjson.Array:
		b.n.types = 0
		var given [][]byte
		for e := d.First(m); e != rawjson.None; e = d.Next(e) {
			b.n.types |= b.typeName(e)
			given = append(given, d.Raw(e))
		}
		if len(given) == 0 {
			b.c.fail(m, "must not be empty")
		}
		b.distinct(m, given)
	default:
		b.c.fail(m, "must be the name of a type or a list of names")
	}
}

func (b *builder) typeName(m rawjson.Node) rawjson.Types {
	var t rawjson.Types
	if b.c.doc.Kind(m) == rawjson.String {
		t = rawjson.TypeNamed(string(b.c.decoded(m)))
	}
	if t == 0 {
		b.c.fail(m, "%s is not the name of a type", rawjson.Excerpt(b.c.doc.Raw(m)))
	}
	return t
}

// distinct rejects a list with duplicates.
func (b *builder) distinct(m rawjson.Node, names [][]byte) {
	if len(names) <= fewKeys {
		for i := range names {
			for j := range i {
				if bytes.Equal(names[i], names[j]) {
					b.c.fail(m, "%q is in the list twice", names[i])
				}
			}
		}
		return
	}
	seen := make(map[string]struct{}, len(names))
	for _, n := range names {
		if _, twice := seen[string(n)]; twice {
			b.c.fail(m, "%q is in the list twice", n)
		}
		seen[string(n)] = struct{}{}
	}
}

// names checks a list of different strings.
func (b *builder) names(m rawjson.Node) bool {
	if !b.kind(m, rawjson.Array, "a list of names") {
		return false
	}
	names := make([][]byte, 0, b.c.doc.Len(m))
	for e := b.c.doc.First(m); e != rawjson.None; e = b.c.doc.Next(e) {
		if !b.kind(e, rawjson.String, "a string") {
			return false
		}
		names = append(names, b.c.decoded(e))
	}
	b.distinct(m, names)
	return b.c.err == nil
}

func (b *builder) dependent(m rawjson.Node) {
	if !b.kind(m, rawjson.Object, "an object of lists") {
		return
	}
	for e := b.c.doc.First(m); e != rawjson.None; e = b.c.doc.Next(e) {
		b.names(e)
	}
}

func (b *builder) enum(m rawjson.Node) {
	if !b.kind(m, rawjson.Array, "a list of values") {
		return
	}
	raws := make([][]byte, 0, b.c.doc.Len(m))
	for e := b.c.doc.First(m); e != rawjson.None; e = b.c.doc.Next(e) {
		raws = append(raws, b.c.doc.Raw(e))
	}
	b.exact().enum = newValueSet(raws)
}

// whole returns a count: an integer that is not negative.
func (b *builder) whole(m rawjson.Node) int {
	if !b.kind(m, rawjson.Number, "a number") {
		return 0
	}
	d := rawjson.ParseDecimal(b.c.doc.Raw(m))
	n := d.Int()
	if n < 0 {
		b.c.fail(m, "must be an integer that is not negative")
	}
	return n
}

func (b *builder) bound(m rawjson.Node, upper, exclusive bool) {
	if b.kind(m, rawjson.Number, "a number") {
		n := b.number()
		n.bounds = append(n.bounds, newBound(b.c.doc.Raw(m), upper, exclusive))
	}
}

func (b *builder) multiple(m rawjson.Node) {
	if !b.kind(m, rawjson.Number, "a number") {
		return
	}
	raw := b.c.doc.Raw(m)
	if d := rawjson.ParseDecimal(raw); d.Negative || d.Len() == 0 {
		b.c.fail(m, "must be more than 0")
		return
	}
	b.number().multiple = newDivisor(raw)
}

// id checks $id. At the root it names the document; anywhere else it begins an
// embedded document, in which references have other targets.
func (b *builder) id(m rawjson.Node) {
	if !b.kind(m, rawjson.String, "a string") {
		return
	}
	id := b.c.doc.Str(m)
	if strings.Contains(strings.TrimSuffix(id, "#"), "#") {
		b.c.fail(m, "must not have a fragment")
	}
	if b.at != b.c.doc.Root() {
		b.c.nested = true
		b.c.needsFallback("$id")
	}
}

func (b *builder) anchor(m rawjson.Node) {
	if !b.kind(m, rawjson.String, "a string") {
		return
	}
	name := b.c.doc.Str(m)
	if !anchorName(name) {
		b.c.fail(m, "%q is not the name of an anchor", name)
		return
	}
	if b.c.anchors == nil {
		b.c.anchors = map[string]rawjson.Node{}
	}
	if other, twice := b.c.anchors[name]; twice && other != b.at {
		b.c.needsFallback("$anchor") // valid only in an embedded document
	}
	b.c.anchors[name] = b.at
}

// anchorName follows the meta-schema: ^[A-Za-z_][-A-Za-z0-9._]*$
func anchorName(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c|0x20 >= 'a' && c|0x20 <= 'z', c == '_':
		case i > 0 && (c == '-' || c == '.' || c >= '0' && c <= '9'):
		default:
			return false
		}
	}
	return s != ""
}

// newMembers joins properties and required.
func newMembers(list []memberRule, required [][]byte, seed maphash.Seed) members {
	m := members{list: list}
	m.index(len(required), seed)
	wanted := make([]int, 0, len(required))
	for _, name := range required {
		i := m.find(name, seed)
		if i < 0 {
			i = len(m.list)
			m.list = append(m.list, memberRule{name: name})
			m.enter(i, seed)
		}
		wanted = append(wanted, i)
	}
	m.quote()
	m.required = make([]uint64, m.sets())
	for _, i := range wanted {
		m.required[i/64] |= 1 << (i % 64)
		m.needed = true
	}
	return m
}

// quote prepares the names with quotes, as most values have them.
func (m *members) quote() {
	size := 0
	for i := range m.list {
		size += len(m.list[i].name) + 2
	}
	buf := make([]byte, 0, size)
	for i := range m.list {
		start, name := len(buf), m.list[i].name
		buf = append(append(append(buf, '"'), name...), '"')
		if !needsEscapes(name) {
			m.list[i].quoted = buf[start:]
		}
	}
}

func needsEscapes(name []byte) bool {
	for _, c := range name {
		if c < ' ' || c == '"' || c == '\\' {
			return true
		}
	}
	return false
}

// shortList is how many names are compared one by one.
const shortList = 6

// index builds the table, with space for more names.
func (m *members) index(more int, seed maphash.Seed) {
	n := len(m.list) + more
	if n <= shortList {
		return
	}
	size := 16
	for size < 2*n {
		size *= 2
	}
	m.table = make([]uint32, size)
	for i := range m.list {
		m.enter(i, seed)
	}
}

func (m *members) enter(i int, seed maphash.Seed) {
	if m.table == nil {
		return
	}
	mask := uint64(len(m.table) - 1) //nolint:gosec // a table has entries
	h := maphash.Bytes(seed, m.list[i].name) & mask
	for m.table[h] != 0 {
		h = (h + 1) & mask
	}
	m.table[h] = uint32(i + 1) //nolint:gosec // fewer names than bytes
}
