package envelope

import (
	"bytes"

	"github.com/tenon-mcp/tenon/internal/publish"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Limits of the text copy of a value in the envelope native.
const (
	maxIndented = 8 << 10 // larger objects are not indented, which would cost more than the rest of the call
	maxBlocks   = 1000    // a longer list is one block
)

// PublishNative returns the output schema of the envelope native: the schema of
// the data if that is an object and no wrapper is required, else an object with
// it as "result", which wraps reports; nil: nothing is declared, so nothing is
// published.
func PublishNative(p Contract) (doc []byte, wraps bool) {
	if len(p.Successes) == 0 {
		return nil, false
	}
	var b publish.Bundle
	p.parsed = p.parsed && !p.Advice // a second document can follow
	if len(p.Successes) == 1 && p.Wrapper == "" && p.Successes[0].Schema != nil {
		one := p.Successes[0]
		one.Schema = publish.OpenRoot(one.Schema)
		p.Successes = []Response{one}
	}
	data := p.data(&b)
	if p.Wrapper != "" || !p.allObjects() {
		doc = append(doc, `{"type":"object","properties":{"result":`...)
		doc = append(doc, p.advised(data)...)
		doc = append(doc, `},"required":["result"]`...)
		if p.Wrapper != "" {
			doc = rawjson.AppendString(append(doc, `,"title":`...), p.Wrapper)
		}
		return appendDefs(doc, &b), true
	}
	if p.Advice {
		if members := adviseMembers(data, &b); members != nil {
			return appendDefs(members, &b), false
		}
	}
	data = p.advised(data)
	if !bytes.HasPrefix(data, []byte(`{"type":"object"`)) && !literalObject(data) {
		doc = append(doc, `{"type":"object"`...)
		if len(data) > len("{}") {
			doc = append(doc, ',')
		}
		doc = append(doc, data[1:len(data)-1]...)
	} else {
		doc = append(doc, data[:len(data)-1]...)
	}
	return publish.NameAtRoot(appendDefs(doc, &b)), false
}

// adviseMembers returns the schema of a plain object as advice, without its last
// brace: its properties are at the root, where type generators read them, and
// each accepts any other value as well. nil: the object is not plain.
func adviseMembers(object []byte, b *publish.Bundle) []byte {
	doc, err := rawjson.Parse(object)
	if err != nil {
		return nil
	}
	dst := []byte(`{"type":"object"`)
	var properties, required rawjson.Node
	for m := doc.First(doc.Root()); m != rawjson.None; m = doc.Next(m) {
		switch key := doc.Key(m); key {
		case "type", "additionalProperties":
		case "properties":
			properties = m
		case "required":
			required = m
		case "title", "description":
			dst = append(append(dst, `,"`+key+`":`...), doc.Raw(m)...)
		default:
			return nil
		}
	}
	if properties != doc.Root() && doc.Len(properties) > 0 {
		dst = appendAdvised(dst, doc, properties, b)
	}
	if required != doc.Root() {
		dst = append(append(append(dst, `,"anyOf":[{"required":`...), doc.Raw(required)...), `},{}]`...)
	}
	return dst
}

// appendAdvised appends properties that accept any other value as well; the
// schema for that is one shared definition.
func appendAdvised(dst []byte, doc *rawjson.Doc, properties rawjson.Node, b *publish.Bundle) []byte {
	other, err := b.Add([]byte(`{"$ref":"#/$defs/AnyValue","$defs":{"AnyValue":` + anything + `}}`))
	if err != nil {
		other = []byte("{}")
	}
	dst = append(dst, `,"properties":{`...)
	for m := doc.First(properties); m != rawjson.None; m = doc.Next(m) {
		dst = append(append(append(dst, '"'), doc.RawKey(m)...), `":`...)
		dst = append(append(dst, anyOf(doc.Raw(m), other)...), ',')
	}
	return append(dst[:len(dst)-1], `},"additionalProperties":true`...)
}

// WrapNative wraps a value that is not an object.
func WrapNative(data []byte) []byte {
	return append(append(append(make([]byte, 0, len(data)+12), `{"result":`...), data...), '}')
}

// AppendTexts appends the content blocks of the text copy: an object as JSON, a
// string unchanged, a list as one block per item, also of nested lists, null as
// none.
func AppendTexts[B any](dst []B, f Kind, data []byte, block func(text []byte) B) []B {
	switch {
	case f == Binary:
		return append(dst, block(data))
	case data[0] == 'n':
		return dst
	case data[0] == '[':
		return append(dst, listTexts(data, block)...)
	}
	_, text := itemText(nil, data, len(data))
	return append(dst, block(text))
}

func listTexts[B any](data []byte, block func(text []byte) B) []B {
	items := itemsOf(data)
	if len(items) > maxBlocks {
		return []B{block(data)}
	}
	blocks := make([]B, len(items))
	var buf []byte // texts that are not part of data
	for i, item := range items {
		var text []byte
		buf, text = itemText(buf, item, len(data))
		blocks[i] = block(text)
	}
	return blocks
}

// itemsOf returns the values of a list that get a block each, at most one more
// than is allowed.
func itemsOf(list []byte) [][]byte {
	var items [][]byte
	for item := range rawjson.Leaves(list) {
		if item[0] == 'n' {
			continue
		}
		if items = append(items, item); len(items) > maxBlocks {
			break
		}
	}
	return items
}

// itemText returns the text of an object, a string, a number or a boolean: part
// of item, or appended to buf, whose capacity is the given size.
func itemText(buf, item []byte, size int) (grown, text []byte) {
	start := len(buf)
	switch {
	case item[0] == '"':
		inner := item[1 : len(item)-1]
		if bytes.IndexByte(inner, '\\') < 0 {
			return buf, inner
		}
		buf = rawjson.AppendUnescaped(buf, inner)
	case item[0] == '{' && len(item) <= maxIndented:
		if buf == nil {
			buf = make([]byte, 0, min(2*size, 8*maxIndented)+64)
		}
		buf = rawjson.AppendIndentTrusted(buf, item, "  ")
	default:
		return buf, item
	}
	return buf, buf[start:len(buf):len(buf)]
}

// AppendNative appends the text of the failure: this envelope has no structured
// form of errors.
func (f *Failure) AppendNative(dst []byte) []byte {
	dst = append(dst, "Error executing tool "...)
	dst = append(dst, f.Tool...)
	dst = append(dst, ": "...)
	dst = append(dst, f.Message...)
	for _, s := range f.Suggestions {
		dst = append(dst, "\n- "...)
		dst = append(dst, s...)
	}
	return dst
}
