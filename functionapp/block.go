package functionapp

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// readBlock reads a content block of MCP.
func readBlock(doc *rawjson.Doc, n rawjson.Node) (tenon.Content, error) {
	b, err := readKind(doc, n)
	b.Annotations, b.Meta = rawObject(doc, doc.Get(n, "annotations")), rawObject(doc, doc.Get(n, "_meta"))
	return b, err
}

// rawObject returns an object as compact JSON, or nil.
func rawObject(doc *rawjson.Doc, n rawjson.Node) []byte {
	if doc.Kind(n) != rawjson.Object {
		return nil
	}
	return doc.AppendCompact(nil, n)
}

func readKind(doc *rawjson.Doc, n rawjson.Node) (tenon.Content, error) {
	kind := doc.Get(n, "type")
	if doc.Kind(kind) != rawjson.String {
		return tenon.Content{}, &Error{What: "a content block must be an object with a type"}
	}
	switch name := doc.Str(kind); name {
	case "text":
		text := doc.Get(n, "text")
		if doc.Kind(text) != rawjson.String {
			return tenon.Content{}, &Error{What: "a text block must have a text"}
		}
		return tenon.Content{Type: tenon.TextContent, Text: []byte(doc.Str(text))}, nil
	case "image", "audio":
		b := tenon.Content{Type: tenon.ImageContent, MediaType: doc.Str(doc.Get(n, "mimeType"))}
		if name == "audio" {
			b.Type = tenon.AudioContent
		}
		var err error
		b.Data, err = readBase64(doc, doc.Get(n, "data"))
		return b, err
	case "resource":
		return readContents(doc, doc.Get(n, "resource"))
	case "resource_link":
		b := tenon.Content{
			Type: tenon.ResourceLink, URI: doc.Str(doc.Get(n, "uri")), Name: doc.Str(doc.Get(n, "name")), MediaType: doc.Str(doc.Get(n, "mimeType")),
			Title: doc.Str(doc.Get(n, "title")), Description: doc.Str(doc.Get(n, "description")),
		}
		if size := doc.Get(n, "size"); doc.Kind(size) == rawjson.Number {
			b.Size, _ = strconv.ParseInt(string(doc.Raw(size)), 10, 64) // an invalid size counts as unknown
		}
		if b.URI == "" {
			return b, &Error{What: "a resource link must have a uri"}
		}
		b.Name = orElse(b.Name, b.URI)
		return b, nil
	default:
		return tenon.Content{}, &Error{What: fmt.Sprintf("there is no content block of type %q", name)}
	}
}

// readContents reads the contents of a resource: text or a blob.
func readContents(doc *rawjson.Doc, n rawjson.Node) (tenon.Content, error) {
	b := tenon.Content{Type: tenon.EmbeddedResource, URI: doc.Str(doc.Get(n, "uri")), MediaType: doc.Str(doc.Get(n, "mimeType"))}
	if text := doc.Get(n, "text"); doc.Kind(text) == rawjson.String {
		b.Text = append([]byte{}, doc.Str(text)...)
		return b, nil
	}
	blob := doc.Get(n, "blob")
	if blob == rawjson.None {
		return b, &Error{What: "the contents of a resource must have a text or a blob"}
	}
	var err error
	b.Data, err = readBase64(doc, blob)
	return b, err
}

// readBase64 decodes base64 with or without padding, like Azure's host.
func readBase64(doc *rawjson.Doc, n rawjson.Node) ([]byte, error) {
	if doc.Kind(n) != rawjson.String {
		return nil, &Error{What: "data must be a string in base64"}
	}
	data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(doc.Str(n), "="))
	if err != nil {
		return nil, &Error{What: "data must be a string in base64", Err: err}
	}
	return data, nil
}

func readBlocks(doc *rawjson.Doc, list rawjson.Node) ([]tenon.Content, error) {
	blocks := make([]tenon.Content, 0, doc.Len(list))
	for n := doc.First(list); n != rawjson.None; n = doc.Next(n) {
		b, err := readBlock(doc, n)
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, b)
	}
	return blocks, nil
}

// appendBlock writes a content block of MCP.
func appendBlock(dst []byte, b tenon.Content) []byte {
	var o Object
	switch b.Type {
	case tenon.ImageContent, tenon.AudioContent:
		name := "image"
		if b.Type == tenon.AudioContent {
			name = "audio"
		}
		o = Object{textMember("type", name), dataMember("data", b.Data), textMember("mimeType", b.MediaType)}
	case tenon.EmbeddedResource:
		o = Object{textMember("type", "resource"), {Key: "resource", Value: appendContents(nil, b)}}
	case tenon.ResourceLink:
		o = Object{textMember("type", "resource_link"), textMember("uri", b.URI), textMember("name", orElse(b.Name, b.URI))}
		for _, m := range [...]struct{ key, text string }{{"mimeType", b.MediaType}, {"title", b.Title}, {"description", b.Description}} {
			if m.text != "" {
				o = append(o, textMember(m.key, m.text))
			}
		}
		if b.Size > 0 {
			o = append(o, Member{Key: "size", Value: strconv.AppendInt(nil, b.Size, 10)})
		}
	case tenon.TextContent:
		o = Object{textMember("type", "text"), {Key: "text", Value: rawjson.AppendString(nil, b.Text)}}
	}
	if b.Annotations != nil {
		o = append(o, Member{Key: "annotations", Value: b.Annotations})
	}
	if b.Meta != nil {
		o = append(o, Member{Key: "_meta", Value: b.Meta})
	}
	return o.Append(dst)
}

// appendContents writes the contents of a resource.
func appendContents(dst []byte, b tenon.Content) []byte {
	o := Object{textMember("uri", b.URI)}
	if b.MediaType != "" {
		o = append(o, textMember("mimeType", b.MediaType))
	}
	if b.Text != nil || b.Data == nil {
		o = append(o, Member{Key: "text", Value: rawjson.AppendString(nil, b.Text)})
	} else {
		o = append(o, dataMember("blob", b.Data))
	}
	return o.Append(dst)
}

func appendBlocks(dst []byte, blocks []tenon.Content) []byte {
	dst = append(dst, '[')
	for i, b := range blocks {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendBlock(dst, b)
	}
	return append(dst, ']')
}

func dataMember(key string, data []byte) Member {
	value := base64.StdEncoding.AppendEncode([]byte{'"'}, data)
	return Member{Key: key, Value: append(value, '"')}
}
