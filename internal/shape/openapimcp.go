package shape

import (
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

// PublishOpenAPIMCP is the output schema of the openapi-mcp shape: the common
// fields, and one branch for each kind of structure. It wraps nothing.
func PublishOpenAPIMCP(p Promise) (doc []byte, wraps bool) {
	var b schema.Bundle
	data := p.advised(p.data(&b))
	const rest = 768 // what stands around the data
	doc = make([]byte, 0, rest+len(data)+b.Size())
	doc = append(doc, `{"type":"object","properties":{`+
		`"OutputFormat":{"enum":["structured","unstructured"]},"OutputType":{"type":"string"},`+
		`"type":{"enum":["api_response","error"`...)
	if p.Consent {
		doc = append(doc, `,"confirmation_request"`...)
	}
	doc = append(doc, `]}},"required":["OutputFormat","OutputType","type"],"anyOf":[`+
		`{"properties":{"type":{"const":"api_response"},"data":`...)
	doc = append(doc, data...)
	doc = append(doc, `},"required":["data","metadata"]},`+
		`{"properties":{"type":{"const":"error"}},"required":["error"]}`...)
	if p.Consent {
		doc = append(doc, `,{"properties":{"type":{"const":"confirmation_request"}},"required":["confirmation_required","message","action"]}`...)
	}
	doc = append(doc, ']')
	return appendDefs(doc, &b), false
}

// OpenAPIMCP writes an api_response around the answer's data.
func (a *Answer) OpenAPIMCP(data []byte) []byte {
	dst := make([]byte, 0, len(data)+512)
	dst = append(dst, `{"OutputFormat":"`...)
	if a.Form == Text {
		dst = append(dst, `unstructured","OutputType":"text"`...)
	} else {
		dst = append(dst, `structured","OutputType":"`...)
		dst = append(dst, a.outputType()...)
		dst = append(dst, '"')
	}
	dst = append(dst, `,"type":"api_response","data":`...)
	dst = append(dst, data...)
	dst = append(dst, `,"metadata":`...)
	dst = appendUpstream(dst, a.Status, a.Header)
	return append(dst, '}')
}

func (a *Answer) outputType() string {
	if a.Form != Binary {
		return "json"
	}
	return KindOf(a.Media)
}

// AppendOpenAPIMCP appends the error structure.
func (f *Failure) AppendOpenAPIMCP(dst []byte) []byte {
	dst = append(dst, `{"OutputFormat":"structured","OutputType":"json","type":"error","error":{"code":"`...)
	dst = append(dst, f.Code...)
	dst = append(dst, `","message":`...)
	dst = rawjson.AppendString(dst, f.Message)
	dst = append(dst, `,"details":`...)
	if f.Details == nil {
		dst = append(dst, '{', '}')
	} else {
		dst = append(dst, f.Details...)
	}
	dst = append(dst, `,"suggestions":[`...)
	for i, s := range f.Suggestions {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendString(dst, s)
	}
	return append(dst, `]}}`...)
}
