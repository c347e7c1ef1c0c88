package gateway

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/envelope"
	"github.com/tenon-mcp/tenon/schema"
)

// answerOf returns the response in the form that envelopes take.
func answerOf(r *tenon.Response, f envelope.Kind) envelope.Answer {
	return envelope.Answer{Form: f, Status: r.Status, Media: r.MediaType, Header: r.Header, Body: r.Body}
}

// successResult puts the value of a response into the published envelope.
func successResult(e *Tool, r *tenon.Response, j outputCheck) *tenon.Result {
	a := answerOf(r, j.form)
	return e.format().result(r, j, e.checks.data(&a))
}

// resultFormat holds what the envelope of a success depends on. It can outlive its
// tool, in the stored parts of a result.
type resultFormat struct {
	Tool     string
	Envelope tenon.Envelope
	Wraps    bool   // native: the value is wrapped as "result"
	Bare     bool   // native: no schema is published, so nothing says how to wrap
	Whole    bool   // native: a list is one text, for clients that get text alone; else each of its items is one
	Next     string // name of the tool that returns further parts
}

func (e *Tool) format() resultFormat {
	d := resultFormat{Tool: e.tool.Name, Envelope: e.tool.Envelope, Next: e.next}
	d.Whole = e.profile != nil && e.profile.TextOnly
	if dependsOnDefinition(&e.tool) { // rendered before: see ready
		d.Wraps, d.Bare = e.wraps, e.output == nil
	}
	return d
}

// result makes the result of value, which represents the body of r.
func (d resultFormat) result(r *tenon.Response, j outputCheck, value []byte) *tenon.Result {
	a := answerOf(r, j.form)
	// Nearly every result has one block, and so needs one allocation.
	made := &struct {
		tenon.Result
		one [1]tenon.Content
	}{}
	res := &made.Result
	res.Value = value
	switch {
	case d.Envelope == tenon.OpenAPIMCP:
		res.Structured = a.OpenAPIMCP(res.Value)
		res.Content = append(made.one[:0], tenon.Content{Text: res.Structured})
	case d.Envelope == tenon.FlowMCP:
		res.Structured = envelope.FlowMCP(res.Value)
		res.Content = append(made.one[:0], tenon.Content{Text: res.Structured})
	case d.Whole && j.form == envelope.JSON && len(value) > 0 && value[0] == '[':
		res.Content = append(made.one[:0], tenon.Content{Text: value})
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
	setOutcome(res, d.Envelope, r, &j, executedOf(r))
	return res
}

// native is the structured content of the envelope native: the value itself if
// it is allowed there.
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

// blockKind returns the content type of binary data.
func blockKind(media string) tenon.ContentType {
	switch envelope.KindOf(media) {
	case envelope.Image:
		return tenon.ImageContent
	case envelope.Audio:
		return tenon.AudioContent
	}
	return tenon.EmbeddedResource
}

// errorResult puts a failure into the tool's envelope.
func errorResult(e *Tool, f toolError) *tenon.Result {
	t := &e.tool
	if f.retryAfter > 0 && f.details == nil {
		f.details = fmt.Appendf(nil, `{"retry_after":%d}`, tenon.RetrySeconds(f.retryAfter))
	}
	form := envelope.Failure{
		Tool: t.Name, Code: string(f.code), Number: f.number(),
		Message: strings.TrimSpace(executedSentence(f.resp.Execution) + f.message), Details: f.details, Suggestions: f.suggestions,
	}
	res := &tenon.Result{IsError: true, Code: f.code, Message: form.Message, Details: f.details, Suggestions: f.suggestions}
	res.Outcome.RetryAfter = f.retryAfter
	setOutcome(res, t.Envelope, &f.resp, &f.judged, f.executed())
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

// setOutcome sets how the call ended, and the _meta object that says so: the
// verdict and, where the envelope has no members for them, status and headers of
// the upstream.
func setOutcome(res *tenon.Result, s tenon.Envelope, r *tenon.Response, j *outputCheck, executed string) {
	res.Outcome = tenon.Outcome{Verdict: j.verdict, Status: r.Status, Executed: executed, Retry: r.Execution.Retry(), RetryAfter: res.Outcome.RetryAfter}
	m := envelope.Meta{
		Verdict: string(j.verdict), Code: string(res.Code), Violations: j.violations, Unchecked: j.open, Repairs: j.repairs, Executed: executed, Retry: res.Outcome.Retry, RetryAfter: tenon.RetrySeconds(res.Outcome.RetryAfter),
		Upstream: s != tenon.OpenAPIMCP, Status: r.Status, Media: cmp.Or(r.UpstreamMediaType, r.MediaType), Header: r.Header,
	}
	res.Meta = m.JSON()
}

// withCoercions returns a copy of the result, which may be shared, with the
// coercions of the arguments in _meta.
func withCoercions(r *tenon.Result, fixes []schema.Fix) *tenon.Result {
	if r == nil || len(fixes) == 0 {
		return r
	}
	with := *r
	with.Meta = envelope.Join(r.Meta, envelope.CoercionsMeta(fixes))
	return &with
}

// executedOf returns the execution state after a response arrived: a call that
// only reads counts as executed as well.
func executedOf(r *tenon.Response) string {
	switch {
	case r.Execution.Unsafe != tenon.NotSent:
		return r.Execution.Executed()
	case !envelope.HasContract(r.Meta): // else the source has set it
		return "yes"
	}
	return tenon.Execution{Unsafe: r.Execution.Reads}.Executed()
}

// unfinished returns s for a response that is incomplete.
func unfinished(s tenon.Execution) tenon.Execution {
	if s.Unsafe == tenon.Responded {
		s.Unsafe = tenon.NoResponse
	}
	return s
}

// executedSentence begins the text of a failure that must not be repeated
// blindly: an agent that reads "failed" repeats a payment.
func executedSentence(s tenon.Execution) string {
	switch {
	case s.Retry() == "safe":
		return ""
	case s.Unsafe == tenon.Responded:
		return "This call was executed and must not be repeated as it is. "
	}
	return "It is not known whether this call was executed: it must not be repeated before that is checked. "
}
