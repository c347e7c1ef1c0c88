package schema

import (
	"bytes"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// AddOnly is Add for the one document of a bundle, when what is made of it is
// parsed afterwards: of what is no JSON it may return anything that is none
// either. Most documents refer to nothing but their definitions, which then keep
// their names: such a one is taken apart without a look into it.
func (b *Bundle) AddOnly(doc []byte) ([]byte, error) {
	if body, defs, ok := apart(doc); ok {
		b.only = defs
		return body, nil
	}
	return b.Add(doc)
}

// apart answers doc without its definitions, and the inside of those. It is not
// ok where more is to be done than to cut them out.
func apart(doc []byte) (body, defs []byte, ok bool) {
	if !refersToDefsOnly(doc) {
		return nil, nil, false
	}
	body = doc
	last := 0
	for m := range rawjson.Members(doc) {
		last = m.End
		if string(m.Key) != "$defs" {
			continue
		}
		value := doc[m.Value:m.End]
		if defs != nil || len(value) < len(`{"":{}}`) || value[0] != '{' || value[len(value)-1] != '}' {
			return nil, nil, false
		}
		defs = value[1 : len(value)-1]
		if body, ok = without(doc, m); !ok {
			return nil, nil, false
		}
	}
	return body, defs, last > 0 && string(doc[last:]) == "}"
}

// without is doc without one of its members, and the comma that goes with it. It
// is not ok where the commas are not those of an object.
func without(doc []byte, m rawjson.Member) (rest []byte, ok bool) {
	const space = " \t\r\n"
	before, comma := bytes.CutSuffix(bytes.TrimRight(doc[:m.Start], space), []byte{','})
	after := bytes.TrimLeft(doc[m.End:], space)
	switch first := string(before) == "{"; {
	case comma && first:
		return nil, false
	case first:
		if after, comma = bytes.CutPrefix(after, []byte{','}); comma {
			after = bytes.TrimLeft(after, space)
		}
		ok = comma != (string(after) == "}")
	default:
		ok = comma
	}
	return append(append(make([]byte, 0, len(before)+len(after)), before...), after...), ok
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
