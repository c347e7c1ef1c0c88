package envelope

import (
	"bytes"
	"slices"

	"github.com/tenon-mcp/tenon/internal/publish"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// binarySchema describes the value that represents an image, a sound or other
// binary data: the bytes are in the content block of that index.
const binarySchema = `{"type":"object","properties":{` +
	`"mimeType":{"type":"string"},"bytes":{"type":"integer"},"sha256":{"type":"string"},` +
	`"block":{"type":"integer","description":"index of the content block that holds the bytes"}},` +
	`"required":["mimeType","bytes","sha256","block"]}`

// Contract describes the successes of a tool.
type Contract struct {
	Successes []Response // nil: nothing is declared
	Advice    bool       // the schema is advice: any value is valid
	Consent   bool       // the caller can be asked for confirmation first
	parsed    bool       // the schema is parsed afterwards
	Wrapper   string     // title of the object in which native wraps every value; empty: only values that are no objects are wrapped
}

// Response is one declared success.
type Response struct {
	Media  string // media type or range; empty: no body
	Open   bool   // any body is valid, or none
	Schema []byte // of a JSON body; nil: it is not described

	Example []byte // a JSON body that the description gives; nil: none
}

// DataSchema returns the schema of the data alone, as a document of its own.
func DataSchema(p Contract) []byte {
	var b publish.Bundle
	body := p.data(&b)
	return appendDefs(append([]byte(nil), body[:len(body)-1]...), &b)
}

// Own returns the schema that native can publish unchanged: the only one, of
// objects, without advice or wrapper; else nil.
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

// data returns the union of the successes' schemas as the body of one schema in
// a bundle; {} if one of them is not described.
func (p Contract) data(b *publish.Bundle) []byte {
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

// Form returns the kind of the response's body. A described stream is returned
// as a list.
func (v Response) Form() Kind {
	if v.Open || v.Schema != nil && IsStream(v.Media) {
		return JSON
	}
	return KindOfMedia(v.Media)
}

// body returns the response's schema and passes its definitions to add.
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

// anything accepts every value and lists all types, those of items as well: with {},
// type generators would drop the schema beside it.
const anything = `{"type":["object","array","string","integer","number","boolean","null"],` +
	`"items":{"type":["object","array","string","integer","number","boolean","null"]}}`

// advised returns the published form of s: advice accepts any other value too.
func (p Contract) advised(s []byte) []byte {
	if !p.Advice || bytes.Equal(s, []byte("{}")) {
		return s
	}
	return anyOf(s, []byte(anything))
}

// allObjects reports whether the schemas of all successes describe objects.
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

// objectOnly reports whether the schema at n accepts only objects, by its type,
// its reference or a member of its allOf.
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

// literalObject reports whether a schema's root has "type":"object", as clients
// expect.
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
func appendDefs(dst []byte, b *publish.Bundle) []byte {
	size := b.Size()
	if size > 0 {
		dst = slices.Grow(dst, size+2)
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
	}
	return append(b.AppendDefs(dst), '}')
}

// MayBeCut reports whether a success can contain a list, since only lists are
// split. A value that is not described can be one.
func (p Contract) MayBeCut() bool {
	return p.Successes == nil || slices.ContainsFunc(p.Successes, func(v Response) bool {
		return v.Form() == JSON && (v.Schema == nil || bytes.Contains(v.Schema, []byte(`"array"`)) || bytes.Contains(v.Schema, []byte(`{}`)))
	})
}

// Streams reports whether the items of a success can arrive one by one.
func (p Contract) Streams() bool {
	return slices.ContainsFunc(p.Successes, func(v Response) bool { return IsStream(v.Media) })
}

// Size returns the bytes of all schemas.
func (p Contract) Size() int {
	n := 0
	for _, v := range p.Successes {
		n += len(v.Schema)
	}
	return n
}
