package envelope

import (
	"encoding/base64"
	"fmt"
	"slices"

	"github.com/tenon-mcp/tenon/internal/publish"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// PublishFlowMCP returns the output schema of the envelope flowmcp: that of
// FlowMCP's output-schema page around the data or null.
func PublishFlowMCP(p Contract) (doc []byte, wraps bool) {
	var b publish.Bundle
	p = p.AsTexts()
	data := p.advised(p.data(&b))
	if !p.Advice && len(data) > len("{}") {
		data = anyOf(data, []byte(`{"type":"null"}`))
	}
	doc = []byte(`{"type":"object","properties":{"status":{"type":"boolean"},` +
		`"messages":{"type":"array","items":{"type":"string"}},"data":`)
	doc = append(doc, data...)
	doc = append(doc, `},"required":["status","messages","data"]`...)
	return appendDefs(doc, &b), false
}

// AsTexts returns the contract with strings in place of binary data and texts: the
// data of this envelope.
func (p Contract) AsTexts() Contract {
	p.Successes = slices.Clone(p.Successes)
	for i, v := range p.Successes {
		if form := v.Form(); form == Binary || form == Text {
			p.Successes[i] = asText(v) // binary data is delivered as a base64 string
		}
	}
	return p
}

// asText returns the response with a string as data, and the description of its
// schema.
func asText(v Response) Response {
	doc, err := rawjson.Parse(v.Schema)
	if err != nil {
		return Response{Media: "text/plain"}
	}
	text := doc.Str(doc.Get(doc.Root(), "description"))
	if text == "" {
		return Response{Media: "text/plain"}
	}
	return Response{Media: "application/json", Schema: append(rawjson.AppendString([]byte(`{"type":"string","description":`), text), '}')}
}

// Base64 returns binary data as a JSON string: the data of this envelope, beside
// the content block with the same bytes.
func (a *Answer) Base64() []byte {
	return append(base64.StdEncoding.AppendEncode([]byte{'"'}, a.Body), '"')
}

// FlowMCP writes the envelope of a success.
func FlowMCP(data []byte) []byte {
	return slices.Concat([]byte(`{"status":true,"messages":[],"data":`), data, []byte{'}'})
}

// AppendFlowMCP appends the envelope of a failure: null as data, and one message
// with a number.
func (f *Failure) AppendFlowMCP(dst []byte) []byte {
	dst = append(dst, `{"status":false,"messages":[`...)
	dst = rawjson.AppendString(dst, numbered(f.Number, f.Tool, f.Message))
	return append(dst, `],"data":null}`...)
}

// numbered is a message as the format's page has it: E001 getPrice: what failed.
func numbered(number int, tool, message string) string {
	return fmt.Sprintf("E%03d %s: %s", number, tool, message)
}
