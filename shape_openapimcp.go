package tenon

import (
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

// publishOpenAPIMCP is the output schema of the openapi-mcp shape: the common
// fields, and one branch for each kind of structure.
func publishOpenAPIMCP(policy Policy, answers []Variant) []byte {
	var b schema.Bundle
	doc := []byte(`{"type":"object","properties":{` +
		`"OutputFormat":{"enum":["structured","unstructured"]},"OutputType":{"type":"string"},` +
		`"type":{"enum":["api_response","error"]}},` +
		`"required":["OutputFormat","OutputType","type"],"anyOf":[` +
		`{"properties":{"type":{"const":"api_response"},"data":`)
	doc = append(doc, advised(policy, dataSchema(&b, answers))...)
	doc = append(doc, `},"required":["data","metadata"]},`+
		`{"properties":{"type":{"const":"error"}},"required":["error"]}]`...)
	return appendDefs(doc, &b)
}

// shapeOpenAPIMCP writes an api_response; the text copy is the same bytes.
func shapeOpenAPIMCP(res *Result, r *Reply, f form, data []byte) {
	dst := make([]byte, 0, len(data)+512)
	dst = append(dst, `{"OutputFormat":"`...)
	if f == formText {
		dst = append(dst, `unstructured","OutputType":"text"`...)
	} else {
		dst = append(dst, `structured","OutputType":"`...)
		dst = append(dst, outputType(r, f)...)
		dst = append(dst, '"')
	}
	dst = append(dst, `,"type":"api_response","data":`...)
	dst = append(dst, data...)
	dst = append(dst, `,"metadata":`...)
	dst = appendUpstream(dst, r.Status, r.Header)
	dst = append(dst, '}')
	res.Structured = dst
	res.Content = []Block{{Text: dst}}
}

func outputType(r *Reply, f form) string {
	if f != formBinary {
		return "json"
	}
	switch blockKind(r.Media) {
	case ImageBlock:
		return "image"
	case AudioBlock:
		return "audio"
	case TextBlock, ResourceBlock, LinkBlock:
	}
	return "binary"
}

// appendErrorOpenAPIMCP writes the error structure.
func appendErrorOpenAPIMCP(dst []byte, f failure) []byte {
	dst = append(dst, `{"OutputFormat":"structured","OutputType":"json","type":"error","error":{"code":"`...)
	dst = append(dst, f.code...)
	dst = append(dst, `","message":`...)
	dst = rawjson.AppendString(dst, strings.TrimSpace(f.message))
	dst = append(dst, `,"details":`...)
	if f.details == nil {
		dst = append(dst, '{', '}')
	} else {
		dst = append(dst, f.details...)
	}
	dst = append(dst, `,"suggestions":[`...)
	for i, s := range f.suggestions {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendString(dst, s)
	}
	return append(dst, `]}}`...)
}
