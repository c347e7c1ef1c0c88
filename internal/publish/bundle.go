package publish

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/schemadoc"
)

// Bundle collects the definitions of several schema documents, so that their
// bodies can be embedded in one document. The zero value is an empty bundle. A
// Bundle is not safe for concurrent use.
type Bundle struct {
	Defs   []*definition
	origin map[string][]*definition // by their original names
	taken  map[string]bool          // names in use or reserved
	only   []byte                   // the contents of $defs when a single document was added; nil: see defs
}

// definition is one member of the bundle's $defs.
type definition struct {
	Name  string        // in the bundle
	Wish  string        // in its document, or WholeDocument
	raw   []byte        // as in its document
	Text  []byte        // as in the bundle
	links []*definition // the target of each reference; nil: no definition
}

// Add moves doc's definitions into the bundle and returns the remaining body.
// Embedded anywhere in a document that has the bundle's $defs at its root, the
// body accepts what doc accepts. Definitions that are equal, including
// everything they refer to, are kept once; where two differ under one name, the
// later one is renamed. A document that refers to itself, or into its body,
// becomes a definition as a whole.
//
// Unresolvable references stay unresolvable, and references to other documents
// are kept: [Compatible] removes them. The result may share memory with doc,
// which must not change afterwards. An error means that doc is not JSON, or not
// a schema.
func (b *Bundle) Add(doc []byte) ([]byte, error) {
	parsed, err := rawjson.Parse(doc)
	if err != nil {
		return nil, fmt.Errorf("add to bundle: %w", err)
	}
	switch parsed.Kind(parsed.Root()) {
	case rawjson.Bool:
		return doc, nil
	case rawjson.Object:
	default:
		return nil, fmt.Errorf("add to bundle: a schema is an object or a boolean, not %s", rawjson.Excerpt(doc))
	}
	x := schemadoc.FindLocations(parsed)
	if x.NeedFlattening() {
		f := schemadoc.Flatten{Locations: x, Edits: schemadoc.Edits{Doc: parsed}, Note: func(int32, rawjson.Node, string) {}}
		f.Run()
		if flat := f.Edits.Apply(0); !bytes.Equal(flat, doc) {
			doc = flat
			if parsed, err = rawjson.Parse(flat); err != nil {
				return nil, fmt.Errorf("add to bundle: %w", err)
			}
			x = schemadoc.FindLocations(parsed)
		}
	}
	a := addition{bundle: b, locations: x, edits: schemadoc.Edits{Doc: parsed}}
	a.dropIdentity()
	for i := range x.Refs {
		if x.Refs[i].Kind == schemadoc.RefPointer {
			return a.addWhole(doc), nil
		}
	}
	a.addDefinitions()
	if len(a.edits.List) == 0 {
		return doc, nil
	}
	return a.edits.Apply(0), nil
}

// Size returns approximately how many bytes AppendDefs appends; 0 if there is
// nothing to append.
func (b *Bundle) Size() int {
	size := len(b.only)
	for _, d := range b.Defs {
		size += len(d.Name) + len(d.Text) + len(`"":,`)
	}
	if size > 0 {
		size += len(`"$defs":{}`)
	}
	return size
}

// AppendDefs appends the member "$defs", or nothing if the bundle is empty.
func (b *Bundle) AppendDefs(dst []byte) []byte {
	if b.only != nil {
		return append(append(append(dst, `"$defs":{`...), b.only...), '}')
	}
	for i, d := range b.Defs {
		if i == 0 {
			dst = append(dst, `"$defs":{`...)
		} else {
			dst = append(dst, ',')
		}
		dst = append(rawjson.AppendString(dst, d.Name), ':')
		dst = append(dst, d.Text...)
	}
	if len(b.Defs) > 0 {
		dst = append(dst, '}')
	}
	return dst
}

// WholeDocument stands for the name of documents that became a definition as a
// whole. It is not valid UTF-8, so no definition has this name.
const WholeDocument = "\xff"

// addDefinition adds a definition under a free name. Others are names that must stay
// free as well.
func (b *Bundle) addDefinition(wish, from string, raw []byte, others map[string]bool) *definition {
	if b.taken == nil {
		b.taken, b.origin = map[string]bool{}, map[string][]*definition{}
	}
	d := &definition{Name: wish, Wish: from, raw: raw}
	if b.taken[wish] {
		d.Name = b.freeName(wish, others)
	}
	b.taken[d.Name] = true
	b.origin[from] = append(b.origin[from], d)
	b.Defs = append(b.Defs, d)
	return d
}

// freeName derives an unused name from the wished one.
func (b *Bundle) freeName(wish string, others map[string]bool) string {
	name := wish
	for i := 2; b.taken[name] || others[name]; i++ {
		name = wish + "_" + strconv.Itoa(i)
	}
	return name
}

// AddOnly is Add for the only document of a bundle whose result is parsed
// afterwards: given invalid JSON it may return other invalid JSON instead of an
// error. Most documents refer to nothing but their definitions, which then keep
// their names; such a document is split without parsing it.
func (b *Bundle) AddOnly(doc []byte) ([]byte, error) {
	if body, defs, ok := splitDefs(doc); ok {
		b.only = defs
		return body, nil
	}
	return b.Add(doc)
}

// splitDefs returns doc without its definitions, and the contents of those. It is
// not ok where cutting them out is not enough.
func splitDefs(doc []byte) (body, defs []byte, ok bool) {
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
		if body, ok = withoutMember(doc, m); !ok {
			return nil, nil, false
		}
	}
	return body, defs, last > 0 && string(doc[last:]) == "}"
}

// withoutMember returns doc without one of its members and the member's comma. It is
// not ok where the commas are not those of an object.
func withoutMember(doc []byte, m rawjson.Member) (rest []byte, ok bool) {
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

// refersToDefsOnly reports whether every keyword in doc that begins with a
// dollar sign is $defs or a reference to a definition.
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
