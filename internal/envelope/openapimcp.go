package envelope

import (
	"github.com/tenon-mcp/tenon/internal/publish"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// PublishOpenAPIMCP returns the output schema of the envelope openapi-mcp: all
// members at the root, because type generators read only these, and one branch
// with the required ones for each type of structure.
func PublishOpenAPIMCP(p Contract) (doc []byte, wraps bool) {
	var b publish.Bundle
	data := p.advised(p.data(&b))
	const rest = 1280 // bytes around the data
	doc = make([]byte, 0, rest+len(data)+b.Size())
	doc = append(doc, `{"type":"object","properties":{`+
		`"OutputFormat":{"enum":["structured","unstructured"]},"OutputType":{"type":"string"},`+
		`"type":{"enum":["api_response","error"`...)
	if p.Consent {
		doc = append(doc, `,"confirmation_request"`...)
	}
	doc = append(append(doc, `]},"data":`...), data...)
	doc = append(doc, `,"metadata":{"type":"object","properties":{"status_code":{"type":"integer"},"headers":{"type":"object","additionalProperties":{"type":"string"}}}},`+
		`"error":{"type":"object","properties":{"code":{"type":"string"},"message":{"type":"string"},"details":{"type":"object"},"suggestions":{"type":"array","items":{"type":"string"}}}}`...)
	if p.Consent {
		doc = append(doc, `,"confirmation_required":{"type":"boolean"},"message":{"type":"string"},"action":{"type":"string"}`...)
	}
	if p.MayBeCut() || p.Streams() {
		doc = append(doc, `,"partial":{"type":"boolean"},"resume_token":{"type":"string"}`...)
	}
	doc = append(doc, `},"required":["OutputFormat","OutputType","type"],"anyOf":[`+
		`{"properties":{"type":{"const":"api_response"}},"required":["data","metadata"]},`+
		`{"properties":{"type":{"const":"error"}},"required":["error"]}`...)
	if p.Consent {
		doc = append(doc, `,{"properties":{"type":{"const":"confirmation_request"}},"required":["confirmation_required","message","action"]}`...)
	}
	doc = append(doc, ']')
	return appendDefs(doc, &b), false
}

// OpenAPIMCP writes an api_response.
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
	dst = append(dst, `{"OutputFormat":"structured","OutputType":"json","type":"error","error":{"code":`...)
	dst = rawjson.AppendString(dst, f.Code) // an author's own can be any text
	dst = append(dst, `,"message":`...)
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
