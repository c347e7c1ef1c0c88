package schema

import "github.com/tenon-mcp/tenon/internal/rawjson"

// ParseJSON is the kind of fix that [Schema.Heal] makes: a string became the
// JSON that it holds.
const ParseJSON FixKind = "read-json"

// Coerce reads strings as the JSON that they hold, only where the schema admits
// no string and the JSON is of a type that it admits: some models write an
// object, a list or a number as text. A member of the whole that is null, not
// required and never null goes: some clients send one for each argument that
// is left out. Farther down null may mean that something is to be taken away,
// and stays. Nothing else is changed, and what comes back need not fit: a
// second look tells.
func (s *Schema) Coerce(value []byte) (healed []byte, fixes []Fix) {
	if rawjson.Check(value) != nil {
		return value, nil
	}
	const rounds = 4 // what was read can hold such strings again
	for range rounds {
		m := mender{guide: guide{run: s.borrow(), must: true}, heals: true}
		text, more := m.mend(s.root, value)
		s.giveBack(m.run)
		if len(more) == 0 {
			break
		}
		value, fixes = text, append(fixes, more...)
	}
	return value, fixes
}

// read puts the JSON that a string holds in its place.
func (m *mender) read(at rawjson.Node, kind, admitted types) {
	if kind != isString {
		return
	}
	raw := m.patches.doc.Raw(at)
	text := rawjson.AppendUnescaped(nil, raw[1:len(raw)-1])
	if rawjson.Check(text) != nil {
		return
	}
	inner, err := rawjson.Parse(text)
	if err != nil {
		return
	}
	if text = inner.Raw(inner.Root()); kindOf(text[0])&admitted != 0 {
		m.put(at, ParseJSON, string(text))
	}
}
