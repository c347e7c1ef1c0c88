package tenon

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

// publishFlowMCP is the output schema of the flowmcp shape: the envelope of
// FlowMCP's output schema page around the data or null.
func publishFlowMCP(policy Policy, answers []Variant) []byte {
	var b schema.Bundle
	answers = slices.Clone(answers)
	for i := range answers {
		if formOf(answers[i].Media) == formBinary {
			answers[i].Media = "application/json" // it is delivered as a base64 string
		}
	}
	data := advised(policy, dataSchema(&b, answers))
	if policy != Warn && len(data) > len("{}") {
		data = appendAnyOf(nil, data, []byte(`{"type":"null"}`))
	}
	doc := []byte(`{"type":"object","properties":{"status":{"type":"boolean"},` +
		`"messages":{"type":"array","items":{"type":"string"}},"data":`)
	doc = append(doc, data...)
	doc = append(doc, `},"required":["status","messages","data"]`...)
	return appendDefs(doc, &b)
}

// shapeFlowMCP writes the envelope of a success; the text copy is the same
// bytes. Binary data is a base64 string, beside the block that also has it.
func shapeFlowMCP(res *Result, r *Reply, f form, data []byte) {
	if f == formBinary {
		data = append(base64.StdEncoding.AppendEncode([]byte{'"'}, r.Body), '"')
	}
	res.Structured = slices.Concat([]byte(`{"status":true,"messages":[],"data":`), data, []byte{'}'})
	res.Content = []Block{{Text: res.Structured}}
}

// appendErrorFlowMCP writes the envelope of a failure: no data, and one
// message with a number. docs/errors.md has the numbers.
func appendErrorFlowMCP(dst []byte, t *Tool, f failure) []byte {
	number := 1 // the upstream's status
	if f.code == CodeContract || f.about.status == 0 || f.about.status/100 == 2 {
		number = 2 + slices.Index([]Code{CodeValidation, CodeNetwork, CodeTimeout, CodeContract, CodeRequest, CodeAuthorization, CodeInternal}, f.code)
	}
	dst = append(dst, `{"status":false,"messages":[`...)
	dst = rawjson.AppendString(dst, "E00"+strconv.Itoa(number)+" "+t.Name+": "+strings.TrimSpace(f.message))
	return append(dst, `],"data":null}`...)
}
