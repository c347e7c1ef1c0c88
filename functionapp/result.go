package functionapp

import (
	"fmt"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Result is the result of a tool's function.
type Result struct {
	Blocks     []tenon.Content
	Structured []byte // JSON; nil: none
	IsError    bool
	Meta       []byte // JSON object for _meta; nil: none
}

// Types of envelopes that are not types of blocks. Hosts compare them ignoring
// case.
const (
	callResult    = "call_tool_result"
	multiContent  = "multi_content_result"
	promptResult  = "get_prompt_result"
	promptContent = "prompt_messages"
)

// ReadResult parses the result of a tool's function; nil means null. Without an
// envelope it is text: a string unchanged, anything else as JSON. An envelope
// is a string that contains {"type": …, "content": "<JSON>",
// "structuredContent": "<JSON>"} where content is a whole result (type
// call_tool_result), a list of blocks (multi_content_result) or one block,
// whose own type counts. null is a result without content.
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

// readValue returns the text of a string, or the JSON of any other value.
func readValue(value []byte) (text string, kind rawjson.Kind, err error) {
	if len(value) == 0 {
		return "", rawjson.Null, nil
	}
	compact, err := rawjson.AppendCompact(nil, value)
	switch {
	case err != nil:
		return "", rawjson.Invalid, &Error{What: "what the function returned is not JSON", Err: err}
	case compact[0] == '"':
		return unquote(compact), rawjson.String, nil
	}
	return string(compact), kindOf(compact), nil
}

// kindOf is the kind of a value by its first byte.
func kindOf(value []byte) rawjson.Kind {
	switch value[0] {
	case '{':
		return rawjson.Object
	case '[':
		return rawjson.Array
	case '"':
		return rawjson.String
	case 't', 'f':
		return rawjson.Bool
	case 'n':
		return rawjson.Null
	}
	return rawjson.Number
}

// openEnvelope parses the envelope in a string.
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
	value, err := rawjson.AppendCompact(nil, rawjson.WithoutMark([]byte(structured)))
	if err != nil {
		return Result{}, o.wrap("structuredContent", err)
	}
	if kindOf(value) == rawjson.Null {
		return Result{}, o.bad("structuredContent", "is null; who has none leaves it out")
	}
	result.Structured = value
	return result, nil
}

func readContent(kind, content string) (Result, error) {
	if content == "" {
		return Result{}, &Error{What: "there is none"}
	}
	text := rawjson.WithoutMark([]byte(content))
	if strings.EqualFold(kind, callResult) {
		return readCallResult(text)
	}
	doc, err := parseBounded(text)
	if err != nil {
		return Result{}, err
	}
	switch root := doc.Root(); {
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

// readCallResult parses a whole MCP result.
func readCallResult(text []byte) (Result, error) {
	whole, err := rawjson.AppendCompact(nil, text)
	if err != nil {
		return Result{}, err
	}
	if kindOf(whole) != rawjson.Object {
		return Result{}, &Error{What: "must be a result object"}
	}
	var structured []byte
	var others Object
	for m := range rawjson.Members(whole) {
		key, value := string(rawjson.AppendUnescaped(nil, m.Key)), whole[m.Value:m.End:m.End]
		if key == "structuredContent" {
			structured = value
			continue
		}
		others = append(others, Member{Key: key, Value: value})
	}
	doc, err := parseBounded(others.Append(nil))
	if err != nil {
		return Result{}, err
	}
	root := doc.Root()
	list := doc.Get(root, "content")
	if k := doc.Kind(list); k != rawjson.Array && k > rawjson.Null {
		return Result{}, &Error{Key: "content", What: "must be a list of content blocks"}
	}
	blocks, err := readBlocks(doc, list)
	if err != nil {
		return Result{}, err
	}
	result := Result{Blocks: blocks, IsError: doc.IsTrue(doc.Get(root, "isError"))}
	if structured != nil && kindOf(structured) != rawjson.Null {
		result.Structured = structured
	}
	if n := doc.Get(root, "_meta"); doc.Kind(n) == rawjson.Object {
		result.Meta = doc.AppendCompact(nil, n)
	}
	return result, nil
}

// AppendResult writes r as a JSON string with an envelope of type
// call_tool_result, the only type that can represent everything.
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

// ReadContents parses the result of a resource's function: a string is text, an
// envelope {"content": "<JSON>"} contains text or a blob with its own address
// and media type, by default uri and media. null and nil are no contents.
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
		return plain, nil //nolint:nilerr // text without an envelope
	}
	content, err := o.Text("content")
	if err != nil {
		return plain, nil //nolint:nilerr // likewise
	}
	doc, err := parseBounded(rawjson.WithoutMark([]byte(content)))
	if err != nil {
		return plain, nil //nolint:nilerr // likewise
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

// AppendContents writes the contents of a resource as its function returns
// them.
func AppendContents(dst []byte, b tenon.Content) []byte {
	o := Object{nestedMember("content", appendContents(nil, b))}
	return rawjson.AppendString(dst, o.Append(nil))
}
