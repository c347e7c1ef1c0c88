package gateway

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/envelope"
	"github.com/tenon-mcp/tenon/internal/projection"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

// outputCheck is the result of output validation.
type outputCheck struct {
	verdict    tenon.Verdict
	violations []schema.Violation
	open       []schema.Violation // places whose patterns cannot be compiled
	form       envelope.Kind      // how the result represents the body
	declared   *envelope.Declared // the declared response that covers it; nil: none, or nothing was validated
	against    *schema.Schema     // of the declared response; nil: the body is not described
	repairs    []schema.Fix
}

// validateOutput validates a response and applies the projections; the result is
// not nil if the call failed. record is of the call; nil: it is not observed.
func (g *Gateway) validateOutput(ctx context.Context, record *CallRecord, e *Tool, seen []*projection.View, r *tenon.Response) (outputCheck, *tenon.Result) {
	t := &e.tool
	j := outputCheck{verdict: tenon.Unchecked, form: formOfResponse(r)}
	if j.form == envelope.JSON {
		r.Body = rawjson.WithoutMark(r.Body)
	}
	if j.form == envelope.JSON && t.Policy == tenon.Repair && succeeded(r) {
		var fixes []schema.Fix
		r.Body, fixes = schema.ReplaceSurrogates(r.Body)
		r.Repairs = append(slices.Clip(r.Repairs), fixes...)
	}
	switch encoding := encoding(r); {
	case encoding != "":
		j.encoded(encoding)
		g.logViolation(t, r, &j)
	case t.Policy == tenon.Off:
		j.strict(r.Body)
	default:
		e.checks.validateOutput(r, &j)
		g.logViolation(t, r, &j)
	}
	if t.Policy != tenon.Off {
		record.checked(r, &j)
	}
	if t.Policy == tenon.Repair && succeeded(r) {
		j.repair(r)
	}
	j.repaired(r.Repairs)
	if !succeeded(r) || j.broken() && t.Policy != tenon.Warn && t.Policy != tenon.Off {
		return j, unsuccessful(e, r, j)
	}
	if seen == nil {
		return j, nil
	}
	return g.show(ctx, e, seen, r, j)
}

// unsuccessful is the result of a response that is not a success.
func unsuccessful(e *Tool, r *tenon.Response, j outputCheck) *tenon.Result {
	if !succeeded(r) {
		return errorResult(e, upstreamError(r, j))
	}
	return errorResult(e, contractViolation(&e.tool, r, j))
}

// succeeded reports whether the response is a success: without HTTP it always is.
func succeeded(r *tenon.Response) bool { return r.Status == 0 || r.Status/100 == 2 }

// encoding returns the content encoding of the body that could not be decoded.
// Empty: none, also where the header has a value that is not a content encoding
// (some services send UTF-8).
func encoding(r *tenon.Response) string {
	e := r.Header.Get("Content-Encoding")
	if e == "" || utf8.Valid(r.Body) || envelope.KindOfMedia(r.MediaType) == envelope.Binary && strings.EqualFold(e, "identity") {
		return ""
	}
	return e
}

// encoded validates such a body: it is bytes, whatever its media type is.
func (j *outputCheck) encoded(encoding string) {
	j.form, j.verdict = envelope.Binary, tenon.Violated
	j.violations = append(j.violations, schema.Violation{Keyword: "encoding", Expected: "a body in a supported content encoding", Got: "Content-Encoding: " + envelope.Excerpt([]byte(encoding), 100)})
}

// said adds a line of text to a delivered value that violates its schema, for
// the model, which does not see _meta.
func (j *outputCheck) said() []byte {
	if !j.broken() || len(j.violations) == 0 {
		return nil
	}
	return []byte(envelope.ViolationSummary(j.violations))
}

func (j *outputCheck) broken() bool {
	return j.verdict == tenon.Violated || j.verdict == tenon.Undeclared
}

// repair repairs a body that breaks its schema, where that can safely be done.
func (j *outputCheck) repair(r *tenon.Response) {
	if j.verdict != tenon.Violated || j.against == nil || j.form != envelope.JSON {
		return
	}
	if fixed, fixes, left := j.against.Repair(r.Body); len(left) == 0 {
		r.Body, j.repairs, j.verdict = fixed, fixes, tenon.Repaired
	}
}

// repaired adds the repairs that the source made.
func (j *outputCheck) repaired(before []schema.Fix) {
	if len(before) == 0 {
		return
	}
	j.repairs = append(slices.Clip(before), j.repairs...)
	if j.verdict == tenon.Fits {
		j.verdict = tenon.Repaired
	}
}

func (g *Gateway) logViolation(t *tenon.Tool, r *tenon.Response, j *outputCheck) {
	if len(j.violations) == 0 {
		return
	}
	v := j.violations[0]
	g.log.Warn("the answer violates its schema", "tool", t.Name, "policy", string(t.Policy), "verdict", string(j.verdict),
		"status", r.Status, "path", v.Path, "keyword", v.Keyword, "expected", v.Expected, "violations", len(j.violations))
}

// validateOutput picks the declared response for status and media type and
// validates the body against it.
func (c *validators) validateOutput(r *tenon.Response, j *outputCheck) {
	body, described := c.described(r, j)
	if !described {
		j.strict(r.Body)
		return
	}
	j.violations, j.open = j.against.Check(body)
	switch {
	case len(j.violations) > 0:
		j.verdict = tenon.Violated
		j.strict(r.Body)
	case len(j.open) > 0:
		j.verdict = tenon.Unchecked
	default:
		j.verdict = tenon.Fits
	}
}

// described picks the declared response and reports whether it describes the
// body, whose value must then be valid. A success is validated against the
// published successes only; without any, it is not validated.
func (c *validators) described(r *tenon.Response, j *outputCheck) (body []byte, described bool) {
	declared := c.answers
	if succeeded(r) {
		declared = c.good
	}
	if len(declared) == 0 {
		return nil, false
	}
	a := answerOf(r, j.form)
	v, missing := envelope.Match(declared, &a)
	if v == nil {
		j.verdict, j.violations = tenon.Undeclared, append(j.violations, missing)
		return nil, false
	}
	j.declared = v
	switch {
	case v.Open && j.form != envelope.Empty:
		return nil, false
	case v.Body == nil || envelope.KindOfMedia(v.Media) != envelope.JSON && !envelope.IsStream(v.Media):
		j.as(v.Media, r.Items != nil)
		return nil, false
	}
	j.against = v.Body
	if j.form != envelope.JSON { // covered by a media type range: the value that represents the body must be valid
		return c.data(&a), true
	}
	return r.Body, true
}

// as treats a body as its declared media type says, where the schema says no
// more. A range can cover bodies of several forms (image/* covers the text of
// image/svg+xml); the form of the range is published.
func (j *outputCheck) as(media string, listed bool) {
	switch form := envelope.KindOfMedia(media); {
	case form == envelope.JSON && j.form == envelope.JSON:
		return
	case form == envelope.JSON:
	case listed:
		j.verdict = tenon.Violated
		j.violations = append(j.violations, schema.Violation{Keyword: "mediaType", Expected: media, Got: "a stream of items"})
		return
	default:
		j.form = form
	}
	j.verdict = tenon.Fits
}

// data returns the value that represents a body in the tool's envelope.
func (c *validators) data(a *envelope.Answer) []byte {
	if c.base64 && a.Form == envelope.Binary {
		return a.Base64()
	}
	return a.Data()
}

// strict ensures that a body that will be spliced as JSON is JSON; any other
// becomes text and a violation with the keyword syntax.
func (j *outputCheck) strict(body []byte) {
	if j.form != envelope.JSON {
		return
	}
	err := rawjson.Check(body)
	if err == nil {
		return
	}
	j.form = envelope.Text
	j.verdict = tenon.Violated
	if !slices.ContainsFunc(j.violations, func(v schema.Violation) bool { return v.Keyword == "syntax" }) {
		j.violations = append(j.violations, schema.Violation{Keyword: "syntax", Expected: "strict JSON", Got: err.Error()})
	}
}

// formOfResponse returns the form of a response's body. A body without a media type
// is treated as JSON; strict corrects that if it is not.
func formOfResponse(r *tenon.Response) envelope.Kind {
	switch {
	case r.Items != nil:
		return envelope.JSON
	case len(r.Body) == 0:
		return envelope.Empty
	case r.MediaType == "":
		return envelope.JSON
	}
	return envelope.KindOfMedia(r.MediaType)
}
