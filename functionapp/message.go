package functionapp

import (
	"fmt"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// ReadMessages parses the result of a prompt's function. Without an envelope it
// is the text of one user message; the envelope contains a whole result (type
// get_prompt_result) or a list of messages (prompt_messages). null and nil are
// no messages.
func ReadMessages(value []byte, envelope bool) ([]tenon.PromptMessage, error) {
	text, kind, err := readValue(value)
	switch {
	case err != nil:
		return nil, err
	case kind == rawjson.Null:
		return nil, nil
	case !envelope:
		return []tenon.PromptMessage{{Role: "user", Content: tenon.Content{Text: []byte(text)}}}, nil
	}
	return openMessages(text, kind)
}

func openMessages(text string, valueKind rawjson.Kind) ([]tenon.PromptMessage, error) {
	o, err := openEnvelope(text, valueKind)
	if err != nil {
		return nil, err
	}
	r := newReader(o)
	kind, content := r.need("type"), r.need("content")
	if r.err != nil {
		return nil, r.err
	}
	if !strings.EqualFold(kind, promptResult) && !strings.EqualFold(kind, promptContent) {
		return nil, o.bad("type", fmt.Sprintf("unknown prompt result type: '%s'", kind))
	}
	doc, err := parseBounded([]byte(content))
	if err != nil {
		return nil, o.wrap("content", err)
	}
	list := doc.Root()
	if strings.EqualFold(kind, promptResult) {
		list = doc.Get(list, "messages")
	}
	if doc.Kind(list) != rawjson.Array {
		return nil, o.bad("content", "must have a list of messages")
	}
	return readMessages(doc, list)
}

func readMessages(doc *rawjson.Doc, list rawjson.Node) ([]tenon.PromptMessage, error) {
	messages := make([]tenon.PromptMessage, 0, doc.Len(list))
	for n := doc.First(list); n != rawjson.None; n = doc.Next(n) {
		m := tenon.PromptMessage{Role: doc.Str(doc.Get(n, "role"))}
		if m.Role != "user" && m.Role != "assistant" {
			return nil, &Error{What: `a message must have the role "user" or "assistant"`}
		}
		var err error
		if m.Content, err = readBlock(doc, doc.Get(n, "content")); err != nil {
			return nil, err
		}
		messages = append(messages, m)
	}
	return messages, nil
}

// AppendMessages writes messages in an envelope of type get_prompt_result.
func AppendMessages(dst []byte, messages []tenon.PromptMessage) []byte {
	list := []byte{'['}
	for i, m := range messages {
		if i > 0 {
			list = append(list, ',')
		}
		o := Object{textMember("role", m.Role), {Key: "content", Value: appendBlock(nil, m.Content)}}
		list = o.Append(list)
	}
	o := Object{{Key: "messages", Value: append(list, ']')}}
	return appendEnvelope(dst, promptResult, o.Append(nil))
}
