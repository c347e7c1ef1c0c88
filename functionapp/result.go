package functionapp

import (
	"fmt"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Result is what the function of a tool answers.
type Result struct {
	Blocks     []tenon.Content
	Structured []byte // JSON; nil: none
	IsError    bool
	Meta       []byte // JSON object for _meta; nil: none
}

// The types of an envelope that are not the type of a block. A host compares
// them ignoring case.
const (
	callResult    = "call_tool_result"
	multiContent  = "multi_content_result"
	promptResult  = "get_prompt_result"
	promptContent = "prompt_messages"
)

// ReadResult reads what the function of a tool returned, as JSON; nil is the
// same as null. Without an envelope it is text: a string as it is, anything
// else as JSON. In an envelope it is a string that contains
//
//	{"type": …, "content": "<JSON>", "structuredContent": "<JSON>"}
//
// where content is a whole result (type call_tool_result), a list of blocks
// (multi_content_result) or one block, whose own type counts. null is an
// answer without content.
func ReadResult(value []byte, envelope bool) (Result, error) {
	text, kind, err := readValue(value)
	switch {
	case err != nil:
		return Result{}, err
	case kind == rawjson.Null:
		return Result{Blocks: []tenon.Content{}}, nil
	case envelope:
		return readEnvelope(text, kind)
	}
	return Result{Blocks: []tenon.Content{{Text: []byte(text)}}}, nil
}

// readValue reads what a function returned: the text of a string, the JSON of
// anything else. Nothing is null.
func readValue(value []byte) (text string, kind rawjson.Kind, err error) {
	if len(value) == 0 {
		return "", rawjson.Null, nil
	}
	doc, err := rawjson.Parse(value)
	if err != nil {
		return "", rawjson.Invalid, &Error{What: "what the function returned is not JSON", Err: err}
	}
	kind = doc.Kind(doc.Root())
	if kind == rawjson.String {
		return doc.Str(doc.Root()), kind, nil
	}
	return string(doc.AppendCompact(nil, doc.Root())), kind, nil
}

// openEnvelope reads the envelope in the string that a function returned.
func openEnvelope(text string, kind rawjson.Kind) (Object, error) {
	if kind != rawjson.String {
		return nil, &Error{What: "expected JSON string: with useResultSchema the function returns a string that contains an envelope"}
	}
	return parseObject(rawjson.WithoutMark([]byte(text)), "the envelope")
}

func readEnvelope(text string, valueKind rawjson.Kind) (Result, error) {
	o, err := openEnvelope(text, valueKind)
	if err != nil {
		return Result{}, err
	}
	r := newReader(o)
	kind, structured := r.need("type"), r.text("structuredContent")
	content := r.text("content")
	if r.err != nil {
		return Result{}, r.err
	}
	result, err := readContent(kind, content)
	if err != nil {
		return Result{}, &Error{Key: "content", What: fmt.Sprintf("failed to deserialize content for type '%s'", kind), Err: err}
	}
	if structured == "" || strings.EqualFold(kind, callResult) {
		return result, nil
	}
	doc, err := rawjson.Parse(rawjson.WithoutMark([]byte(structured)))
	if err != nil {
		return Result{}, o.wrap("structuredContent", err)
	}
	if doc.Kind(doc.Root()) == rawjson.Null {
		return Result{}, o.bad("structuredContent", "is null; who has none leaves it out")
	}
	result.Structured = doc.AppendCompact(nil, doc.Root())
	return result, nil
}

func readContent(kind, content string) (Result, error) {
	if content == "" {
		return Result{}, &Error{What: "there is none"}
	}
	doc, err := rawjson.Parse(rawjson.WithoutMark([]byte(content)))
	if err != nil {
		return Result{}, err
	}
	switch root := doc.Root(); {
	case strings.EqualFold(kind, callResult):
		return readCallResult(doc)
	case strings.EqualFold(kind, multiContent):
		if doc.Kind(root) != rawjson.Array {
			return Result{}, &Error{What: "must be a list of content blocks"}
		}
		if doc.Len(root) == 0 {
			return Result{}, &Error{What: "no content items"}
		}
		blocks, err := readBlocks(doc, root)
		return Result{Blocks: blocks}, err
	default:
		b, err := readBlock(doc, root)
		return Result{Blocks: []tenon.Content{b}}, err
	}
}

// readCallResult reads a whole result as MCP has it.
func readCallResult(doc *rawjson.Doc) (Result, error) {
	root := doc.Root()
	if doc.Kind(root) != rawjson.Object {
		return Result{}, &Error{What: "must be a result object"}
	}
	list := doc.Get(root, "content")
	if k := doc.Kind(list); k != rawjson.Array && k > rawjson.Null {
		return Result{}, &Error{Key: "content", What: "must be a list of content blocks"}
	}
	blocks, err := readBlocks(doc, list)
	if err != nil {
		return Result{}, err
	}
	result := Result{Blocks: blocks, IsError: doc.IsTrue(doc.Get(root, "isError"))}
	if n := doc.Get(root, "structuredContent"); doc.Kind(n) > rawjson.Null {
		result.Structured = doc.AppendCompact(nil, n)
	}
	if n := doc.Get(root, "_meta"); doc.Kind(n) == rawjson.Object {
		result.Meta = doc.AppendCompact(nil, n)
	}
	return result, nil
}

// AppendResult writes r as a function returns it: a JSON string that contains
// an envelope of type call_tool_result, the only one that has a place for
// everything.
func AppendResult(dst []byte, r Result) []byte {
	o := Object{{Key: "content", Value: appendBlocks(nil, r.Blocks)}}
	if r.Structured != nil {
		o = append(o, Member{Key: "structuredContent", Value: r.Structured})
	}
	if r.IsError {
		o = append(o, flagMember("isError", true))
	}
	if r.Meta != nil {
		o = append(o, Member{Key: "_meta", Value: r.Meta})
	}
	return appendEnvelope(dst, callResult, o.Append(nil))
}

func appendEnvelope(dst []byte, kind string, content []byte) []byte {
	o := Object{textMember("type", kind), nestedMember("content", content)}
	return rawjson.AppendString(dst, o.Append(nil))
}

// ReadContents reads what the function of a resource returned, as JSON: a
// string is the text, an envelope {"content": "<JSON>"} holds a text or a blob
// with its own address and media type. uri and media stand where it has none.
// null, and nil, are no contents.
func ReadContents(value []byte, uri, media string) ([]tenon.Content, error) {
	text, kind, err := readValue(value)
	switch {
	case err != nil:
		return nil, err
	case kind == rawjson.Null:
		return nil, nil
	case kind != rawjson.String:
		return nil, &Error{What: "expected a string: the function of a resource returns text or an envelope"}
	}
	plain := fill(tenon.Content{Type: tenon.EmbeddedResource, Text: []byte(text)}, uri, media)
	o, err := parseObject(rawjson.WithoutMark([]byte(text)), "the envelope")
	if err != nil || o.Get("content") == nil {
		return plain, nil //nolint:nilerr // a text that is no envelope is what it is
	}
	content, err := o.Text("content")
	if err != nil {
		return plain, nil //nolint:nilerr // likewise
	}
	doc, err := rawjson.Parse(rawjson.WithoutMark([]byte(content)))
	if err != nil {
		return plain, nil //nolint:nilerr // likewise: Azure's host sees no envelope either
	}
	b, err := readContents(doc, doc.Root())
	if err != nil {
		return nil, err
	}
	return fill(b, uri, media), nil
}

func fill(b tenon.Content, uri, media string) []tenon.Content {
	b.URI, b.MediaType = orElse(b.URI, uri), orElse(b.MediaType, media)
	return []tenon.Content{b}
}

// AppendContents writes the contents of a resource as a function returns them.
func AppendContents(dst []byte, b tenon.Content) []byte {
	o := Object{nestedMember("content", appendContents(nil, b))}
	return rawjson.AppendString(dst, o.Append(nil))
}
