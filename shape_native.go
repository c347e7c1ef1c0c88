package tenon

import (
	"bytes"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

// Limits of the text copy of a native value.
const (
	maxIndented = 8 << 10 // a larger object is written compact: indenting costs more than all else
	maxBlocks   = 1000    // a longer list is one block
)

// publishNative is the output schema of the native shape: the data's own
// schema where that is an object and no wrapper is asked for, else under
// "result". wraps tells which; nil: nothing is declared, so nothing is
// published.
func publishNative(policy Policy, answers []Variant, wrapper string) (doc []byte, wraps bool) {
	if len(answers) == 0 {
		return nil, false
	}
	var b schema.Bundle
	data := dataSchema(&b, answers)
	if wrapper != "" || !allObjects(answers) {
		doc = append(doc, `{"type":"object","properties":{"result":`...)
		doc = append(doc, advised(policy, data)...)
		doc = append(doc, `},"required":["result"]`...)
		if wrapper != "" {
			doc = rawjson.AppendString(append(doc, `,"title":`...), wrapper)
		}
		return appendDefs(doc, &b), true
	}
	data = advised(policy, data)
	if !bytes.HasPrefix(data, []byte(`{"type":"object"`)) && !literalObject(data) {
		doc = append(doc, `{"type":"object"`...)
		if len(data) > len("{}") {
			doc = append(doc, ',')
		}
		doc = append(doc, data[1:len(data)-1]...)
	} else {
		doc = append(doc, data[:len(data)-1]...)
	}
	return appendDefs(doc, &b), false
}

// allObjects reports whether every success is a JSON object by its schema.
func allObjects(answers []Variant) bool {
	for _, v := range answers {
		if formOf(v.Media) != formJSON || v.Schema == nil {
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

// shapeNative puts the value itself into both channels.
func shapeNative(res *Result, e *Entry, f form, data []byte) {
	e.publish.Do(e.render)
	res.Content = nativeText(f, data)
	isObject := len(data) > 0 && data[0] == '{'
	switch {
	case isObject && !e.wraps:
		res.Structured = data
	case e.output == nil: // nothing is published, so nothing says how to wrap
	default:
		res.Structured = append(append(append(make([]byte, 0, len(data)+12), `{"result":`...), data...), '}')
	}
}

// nativeText is the copy for the model: objects as JSON, strings as they are,
// a list as one block per item.
func nativeText(f form, data []byte) []Block {
	if f == formBinary {
		return []Block{{Text: data}}
	}
	switch data[0] {
	case 'n':
		return []Block{}
	case '[':
		return listText(data)
	}
	return []Block{{Text: valueText(data)}}
}

func listText(data []byte) []Block {
	doc, err := rawjson.Parse(data)
	if err != nil {
		return []Block{{Text: data}}
	}
	blocks := appendItems(make([]Block, 0, min(doc.Len(doc.Root()), maxBlocks)), doc, doc.Root())
	if len(blocks) > maxBlocks {
		return []Block{{Text: data}}
	}
	return blocks
}

// appendItems makes blocks of the items of a list and of the lists in it; null
// has none. It stops once there are too many.
func appendItems(blocks []Block, doc *rawjson.Doc, list rawjson.Node) []Block {
	for n := doc.First(list); n != rawjson.None && len(blocks) <= maxBlocks; n = doc.Next(n) {
		switch doc.Kind(n) {
		case rawjson.Array:
			blocks = appendItems(blocks, doc, n)
		case rawjson.Null:
		default:
			blocks = append(blocks, Block{Text: valueText(doc.Raw(n))})
		}
	}
	return blocks
}

func valueText(value []byte) []byte {
	switch value[0] {
	case '"':
		if doc, err := rawjson.Parse(value); err == nil {
			return []byte(doc.Str(doc.Root()))
		}
	case '{', '[':
		if len(value) <= maxIndented {
			if text, err := rawjson.AppendIndent(nil, value, "  "); err == nil {
				return text
			}
		}
	}
	return value
}

// appendErrorNative is the text of a failure: the native shape has no error
// form for structuredContent.
func appendErrorNative(dst []byte, t *Tool, f failure) []byte {
	dst = append(dst, "Error executing tool "...)
	dst = append(dst, t.Name...)
	dst = append(dst, ": "...)
	dst = append(dst, f.message...)
	for _, s := range f.suggestions {
		dst = append(dst, "\n- "...)
		dst = append(dst, s...)
	}
	return dst
}
