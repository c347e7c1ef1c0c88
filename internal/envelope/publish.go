package envelope

import (
	"bytes"
	"slices"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

// binarySchema describes what stands in the place of an image, a sound or
// other binary data: the bytes are in the content block of that index.
const binarySchema = `{"type":"object","properties":{` +
	`"mimeType":{"type":"string"},"bytes":{"type":"integer"},"sha256":{"type":"string"},` +
	`"block":{"type":"integer","description":"index of the content block that holds the bytes"}},` +
	`"required":["mimeType","bytes","sha256","block"]}`

// Contract is what a tool promises of its successes.
type Contract struct {
	Successes []Response // nil: nothing is declared
	Advice    bool       // the schema is advice: any value may come
	Consent   bool       // the caller may be asked for consent first
	parsed    bool       // what is made of it is parsed afterwards
	Wrapper   string     // title of the object in which Native holds even an object; empty: no such object
}

// Response is one declared success.
type Response struct {
	Media  string // media type or range; empty: no body
	Open   bool   // any body may come, or none
	Schema []byte // of a JSON body; nil: it is not described

	Example []byte // a JSON body that the description gives; nil: none
	Name    string // of the schema in its source; empty: none
}

// DataSchema is the schema of the data alone, a document that stands by
// itself.
func DataSchema(p Contract) []byte {
	var b schema.Bundle
	body := p.data(&b)
	return appendDefs(append([]byte(nil), body[:len(body)-1]...), &b)
}

// Own returns the schema that Native can publish to the letter: the only one,
// of objects, without advice or wrapper. nil: there is none.
func (p Contract) Own() []byte {
	if len(p.Successes) != 1 || p.Advice || p.Wrapper != "" {
		return nil
	}
	v := p.Successes[0]
	if v.Form() != JSON || v.Schema == nil || !literalObject(v.Schema) {
		return nil
	}
	return v.Schema
}

// data is the union of the successes' schemas as the body of one schema
// inside a bundle. An unknown member makes the union say nothing: {}.
func (p Contract) data(b *schema.Bundle) []byte {
	var union [][]byte
	add := b.Add
	if p.parsed && len(p.Successes) == 1 {
		add = b.AddOnly
	}
	for _, v := range p.Successes {
		body := v.body(add)
		if bytes.Equal(body, []byte("{}")) {
			return body
		}
		if !slices.ContainsFunc(union, func(x []byte) bool { return bytes.Equal(x, body) }) {
			union = append(union, body)
		}
	}
	switch len(union) {
	case 0:
		return []byte("{}")
	case 1:
		return union[0]
	}
	return anyOf(union...)
}

// Form is the form of the variant's body. A stream that is described is
// answered as a list.
func (v Response) Form() Kind {
	if v.Open || v.Schema != nil && IsStream(v.Media) {
		return JSON
	}
	return KindOfMedia(v.Media)
}

// body is the variant's schema, whose definitions add takes.
func (v Response) body(add func(doc []byte) ([]byte, error)) []byte {
	switch v.Form() {
	case Empty:
		return []byte(`{"type":"null"}`)
	case Text:
		return []byte(`{"type":"string"}`)
	case Binary:
		return []byte(binarySchema)
	case JSON:
	}
	if v.Schema == nil {
		return []byte("{}")
	}
	body, err := add(v.Schema)
	if err != nil {
		return []byte("{}")
	}
	return body
}

// anything admits every value, and says so in types: beside {} generators of
// types take the schema that is advised for any value as well.
const anything = `{"type":["object","array","string","integer","number","boolean","null"],` +
	`"items":{"type":["object","array","string","integer","number","boolean","null"]}}`

// advised is s as it is published: advice admits any other value too.
func (p Contract) advised(s []byte) []byte {
	if !p.Advice || bytes.Equal(s, []byte("{}")) {
		return s
	}
	return anyOf(s, []byte(anything))
}

// allObjects reports whether every success is a JSON object by its schema.
func (p Contract) allObjects() bool {
	for _, v := range p.Successes {
		if v.Form() != JSON || v.Schema == nil {
			return false
		}
		doc, err := rawjson.Parse(v.Schema)
		if err != nil || !objectOnly(doc, doc.Root(), 0) {
			return false
		}
	}
	return true
}

// objectOnly reports whether the schema at n says that its values are objects,
// itself, by its reference or by a member of its allOf.
func objectOnly(d *rawjson.Doc, n rawjson.Node, depth int) bool {
	if depth > 16 || d.Kind(n) != rawjson.Object {
		return false
	}
	if t := d.Get(n, "type"); t != rawjson.None {
		return d.Str(t) == "object"
	}
	if ref := d.Str(d.Get(n, "$ref")); len(ref) > 1 && ref[0] == '#' {
		return objectOnly(d, d.Pointer(ref[1:]), depth+1)
	}
	for c := d.First(d.Get(n, "allOf")); c != rawjson.None; c = d.Next(c) {
		if objectOnly(d, c, depth+1) {
			return true
		}
	}
	return false
}

// literalObject reports whether a schema's root has "type":"object" as clients
// look for it.
func literalObject(body []byte) bool {
	doc, err := rawjson.Parse(body)
	return err == nil && doc.Str(doc.Get(doc.Root(), "type")) == "object"
}

func anyOf(bodies ...[]byte) []byte {
	size := len(`{"anyOf":[]}`)
	for _, body := range bodies {
		size += len(body) + 1
	}
	dst := append(make([]byte, 0, size), `{"anyOf":[`...)
	for i, body := range bodies {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, body...)
	}
	return append(dst, `]}`...)
}

// appendDefs closes the schema in dst, an object without its last brace, with
// the definitions of the bundle.
func appendDefs(dst []byte, b *schema.Bundle) []byte {
	size := b.Size()
	if size > 0 {
		dst = slices.Grow(dst, size+2)
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
	}
	return append(b.AppendDefs(dst), '}')
}

// MayBeCut reports whether a list may be among what is promised: only lists
// are cut. What is not described may be one.
func (p Contract) MayBeCut() bool {
	return p.Successes == nil || slices.ContainsFunc(p.Successes, func(v Response) bool {
		return v.Form() == JSON && (v.Schema == nil || bytes.Contains(v.Schema, []byte(`"array"`)) || bytes.Contains(v.Schema, []byte(`{}`)))
	})
}

// Streams reports whether items of a success may arrive one by one.
func (p Contract) Streams() bool {
	return slices.ContainsFunc(p.Successes, func(v Response) bool { return IsStream(v.Media) })
}

// Size is how many bytes the schemas have.
func (p Contract) Size() int {
	n := 0
	for _, v := range p.Successes {
		n += len(v.Schema)
	}
	return n
}
