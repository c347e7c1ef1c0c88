package gateway

import (
	"cmp"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/envelope"
	"github.com/tenon-mcp/tenon/schema"
)

// answerOf is the response as the envelopes see it.
func answerOf(r *tenon.Response, f envelope.Kind) envelope.Answer {
	return envelope.Answer{Form: f, Status: r.Status, Media: r.MediaType, Header: r.Header, Body: r.Body}
}

// shapeSuccess gives a response the envelope that the tool published.
func shapeSuccess(e *Tool, r *tenon.Response, j outputCheck) *tenon.Result {
	a := answerOf(r, j.form)
	return e.format().shape(r, j, e.checks.data(&a))
}

// dress is what a success is given its form by. It outlives its tool.
type resultFormat struct {
	Tool  string
	Shape tenon.Envelope
	Wraps bool   // native: the value stands under "result"
	Bare  bool   // native: no schema is published, so nothing says how to wrap
	Next  string // the tool that hands out parts
}

func (e *Tool) format() resultFormat {
	d := resultFormat{Tool: e.tool.Name, Shape: e.tool.Envelope, Next: e.next}
	if shapesByDefinition(&e.tool) { // it was rendered: see ready
		d.Wraps, d.Bare = e.wraps, e.output == nil
	}
	return d
}

// shape forms value, which stands for the body of r.
func (d resultFormat) shape(r *tenon.Response, j outputCheck, value []byte) *tenon.Result {
	a := answerOf(r, j.form)
	// A result with one block, which is nearly every one, is one piece of memory.
	made := &struct {
		tenon.Result
		one [1]tenon.Content
	}{}
	res := &made.Result
	res.Value = value
	switch d.Shape {
	case tenon.OpenAPIMCP:
		res.Structured = a.OpenAPIMCP(res.Value)
		res.Content = append(made.one[:0], tenon.Content{Text: res.Structured})
	case tenon.FlowMCP:
		res.Structured = envelope.FlowMCP(res.Value)
		res.Content = append(made.one[:0], tenon.Content{Text: res.Structured})
	default:
		res.Structured = d.native(res.Value)
		res.Content = envelope.AppendTexts(made.one[:0], j.form, res.Value, textBlock)
		if len(res.Content) == 0 && res.Value[0] == 'n' && r.Status != 0 {
			res.Content = append(res.Content, tenon.Content{Text: []byte(a.Nothing())})
		}
	}
	if j.form == envelope.Binary {
		res.Content = append(res.Content, tenon.Content{Type: blockKind(r.MediaType), Data: r.Body, MediaType: envelope.Essence(r.MediaType), URI: "tenon:answer"})
	}
	if told := j.said(); told != nil {
		res.Content = append(res.Content, tenon.Content{Text: told})
	}
	res.Meta = metaOf(d.Shape, r, &j, executedOf(r))
	return res
}

// native is the structured content of the native shape: the value itself where
// it can stand there.
func (d resultFormat) native(data []byte) []byte {
	isObject := len(data) > 0 && data[0] == '{'
	switch {
	case isObject && !d.Wraps:
		return data
	case d.Bare:
		return nil
	}
	return envelope.WrapNative(data)
}

func textBlock(text []byte) tenon.Content { return tenon.Content{Text: text} }

// blockKind returns the kind of content block that carries binary data.
func blockKind(media string) tenon.ContentType {
	switch envelope.KindOf(media) {
	case envelope.Image:
		return tenon.ImageContent
	case envelope.Audio:
		return tenon.AudioContent
	}
	return tenon.EmbeddedResource
}

// errorResult gives a failure the error form of the tool's shape.
func errorResult(e *Tool, f toolError) *tenon.Result {
	t := &e.tool
	form := envelope.Failure{
		Tool: t.Name, Code: string(f.code), Number: f.number(),
		Message: strings.TrimSpace(executedSentence(f.reply.Execution) + f.message), Details: f.details, Suggestions: f.suggestions,
	}
	res := &tenon.Result{IsError: true, Code: f.code, Message: form.Message, Details: f.details, Suggestions: f.suggestions, Meta: metaOf(t.Envelope, &f.reply, &f.judged, f.executed())}
	switch {
	case t.Envelope == tenon.OpenAPIMCP, e.describes:
		res.Structured = form.AppendOpenAPIMCP(nil)
	case t.Envelope == tenon.FlowMCP:
		res.Structured = form.AppendFlowMCP(nil)
	default:
	}
	text := res.Structured
	if text == nil {
		text = form.AppendNative(nil)
	}
	res.Content = []tenon.Content{{Text: text}}
	if f.text != nil {
		res.Content = append(res.Content, tenon.Content{Text: f.text})
	}
	return res
}

// metaOf writes the _meta object: the contract's verdict and, where the envelope
// has no place for them, status and headers of the upstream.
func metaOf(s tenon.Envelope, r *tenon.Response, j *outputCheck, executed string) []byte {
	m := envelope.Meta{
		Verdict: string(j.verdict), Violations: j.violations, Unchecked: j.open, Repairs: j.repairs, Executed: executed, Retry: r.Execution.Retry(),
		Upstream: s != tenon.OpenAPIMCP, Status: r.Status, Media: cmp.Or(r.UpstreamMediaType, r.MediaType), Header: r.Header,
	}
	return m.JSON()
}

// withCoercions returns the result, which others may have too, with what was
// changed in the arguments.
func withCoercions(r *tenon.Result, fixes []schema.Fix) *tenon.Result {
	if r == nil || len(fixes) == 0 {
		return r
	}
	with := *r
	with.Meta = envelope.Join(r.Meta, envelope.CoercionsMeta(fixes))
	return &with
}

// executedOf says of a call that was answered what its requests did: one that only
// reads was executed as well.
func executedOf(r *tenon.Response) string {
	switch {
	case r.Execution.Unsafe != tenon.NotSent:
		return r.Execution.Executed()
	case !envelope.HasContract(r.Meta): // else the source has said it
		return "yes"
	}
	return tenon.Execution{Unsafe: r.Execution.Reads}.Executed()
}

// unfinished is s where an answer began and did not end.
func unfinished(s tenon.Execution) tenon.Execution {
	if s.Unsafe == tenon.Responded {
		s.Unsafe = tenon.NoResponse
	}
	return s
}

// executedSentence stands first in the text of a failure that must not be
// repeated blindly: an agent that reads "failed" repeats a payment.
func executedSentence(s tenon.Execution) string {
	switch {
	case s.Retry() == "safe":
		return ""
	case s.Unsafe == tenon.Responded:
		return "This call was executed and must not be repeated as it is. "
	}
	return "It is not known whether this call was executed: it must not be repeated before that is checked. "
}
