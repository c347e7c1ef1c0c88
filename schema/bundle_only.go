package schema

import (
	"bytes"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// AddOnly is Add for the one document of a bundle. Most documents refer to
// nothing but their definitions, which then keep their names: such a one is
// taken apart without a look into it.
func (b *Bundle) AddOnly(doc []byte) ([]byte, error) {
	if body, defs, ok := apart(doc); ok {
		b.only = defs
		return body, nil
	}
	return b.Add(doc)
}

// apart answers doc without its definitions, and the inside of those. It is not
// ok where more is to be done than to cut them out, nor where doc is no strict
// JSON.
func apart(doc []byte) (body, defs []byte, ok bool) {
	if !refersToDefsOnly(doc) || rawjson.Check(doc) != nil {
		return nil, nil, false
	}
	body = doc
	for m := range rawjson.Members(doc) {
		if string(m.Key) != "$defs" {
			continue
		}
		defs = doc[m.Value+1 : m.End-1]
		if doc[m.Value] != '{' || len(bytes.TrimSpace(defs)) == 0 {
			return nil, nil, false
		}
		body = without(doc, m)
	}
	return body, defs, true
}

// without is doc without one of its members, and the comma that goes with it.
func without(doc []byte, m rawjson.Member) []byte {
	const space = " \t\r\n"
	before, comma := bytes.CutSuffix(bytes.TrimRight(doc[:m.Start], space), []byte{','})
	after := bytes.TrimLeft(doc[m.End:], space)
	if !comma {
		after = bytes.TrimPrefix(after, []byte{','})
	}
	return append(append(make([]byte, 0, len(before)+len(after)), before...), after...)
}

// refersToDefsOnly reports whether no keyword that begins with a dollar sign is
// in doc but references to definitions, and definitions.
func refersToDefsOnly(doc []byte) bool {
	if !bytes.HasPrefix(doc, []byte("{")) || !bytes.HasSuffix(doc, []byte("}")) || bytes.Contains(doc, []byte(`\u0024`)) {
		return false
	}
	for rest := doc; ; {
		_, after, found := bytes.Cut(rest, []byte(`"$`))
		switch {
		case !found:
			return true
		case !bytes.HasPrefix(after, []byte(`ref":"#/$defs/`)) && !bytes.HasPrefix(after, []byte(`defs":{`)):
			return false
		}
		rest = after
	}
}
