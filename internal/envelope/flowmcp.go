package envelope

import (
	"encoding/base64"
	"slices"
	"strconv"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

// PublishFlowMCP is the output schema of the flowmcp shape: the envelope of
// FlowMCP's output schema page around the data or null. It wraps nothing.
func PublishFlowMCP(p Contract) (doc []byte, wraps bool) {
	var b schema.Bundle
	p.Successes = slices.Clone(p.Successes)
	for i, v := range p.Successes {
		if form := v.Form(); form == Binary || form == Text {
			p.Successes[i] = asText(v) // binary data is delivered as a base64 string
		}
	}
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

// asText is a variant whose data is a string, with what its schema says of it
// to people.
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

// Base64 is a JSON string of binary data: in this shape it stands in the place
// of the data, beside the block that also has it.
func (a *Answer) Base64() []byte {
	return append(base64.StdEncoding.AppendEncode([]byte{'"'}, a.Body), '"')
}

// FlowMCP writes the envelope of a success around its data.
func FlowMCP(data []byte) []byte {
	return slices.Concat([]byte(`{"status":true,"messages":[],"data":`), data, []byte{'}'})
}

// AppendFlowMCP appends the envelope of a failure: no data, and one message
// with a number.
func (f *Failure) AppendFlowMCP(dst []byte) []byte {
	dst = append(dst, `{"status":false,"messages":[`...)
	dst = rawjson.AppendString(dst, "E00"+strconv.Itoa(f.Number)+" "+f.Tool+": "+f.Message)
	return append(dst, `],"data":null}`...)
}
