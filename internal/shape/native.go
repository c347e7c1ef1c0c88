package shape

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

// PublishNative is the output schema of the native shape: the data's own
// schema where that is an object and no wrapper is asked for, else under
// "result". wraps tells which; nil: nothing is declared, so nothing is
// published.
func PublishNative(p Promise) (doc []byte, wraps bool) {
	if len(p.Successes) == 0 {
		return nil, false
	}
	var b schema.Bundle
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
	return appendDefs(doc, &b), false
}

// WrapNative holds a value that is no object.
func WrapNative(data []byte) []byte {
	return append(append(append(make([]byte, 0, len(data)+12), `{"result":`...), data...), '}')
}

// Texts makes blocks of the copy for the model: an object as JSON, a string as
// it is, a list as one block per item, null as none.
func Texts[B any](f Form, data []byte, block func(text []byte) B) []B {
	if f != Binary {
		switch data[0] {
		case 'n':
			return []B{}
		case '[':
			return listTexts(data, block)
		}
		data = valueText(data)
	}
	return []B{block(data)}
}

func listTexts[B any](data []byte, block func([]byte) B) []B {
	doc, err := rawjson.Parse(data)
	if err != nil {
		return []B{block(data)}
	}
	blocks := appendItems(make([]B, 0, min(doc.Len(doc.Root()), maxBlocks)), doc, doc.Root(), block)
	if len(blocks) > maxBlocks {
		return []B{block(data)}
	}
	return blocks
}

// appendItems makes blocks of the items of a list and of the lists in it; null
// has none. It stops once there are too many.
func appendItems[B any](blocks []B, doc *rawjson.Doc, list rawjson.Node, block func([]byte) B) []B {
	for n := doc.First(list); n != rawjson.None && len(blocks) <= maxBlocks; n = doc.Next(n) {
		switch doc.Kind(n) {
		case rawjson.Array:
			blocks = appendItems(blocks, doc, n, block)
		case rawjson.Null:
		default:
			blocks = append(blocks, block(valueText(doc.Raw(n))))
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

// AppendNative appends the text of the failure: this shape has no error form
// for structuredContent.
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
