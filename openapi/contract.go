package openapi

import (
	"fmt"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/publish"
	"github.com/tenon-mcp/tenon/openapi/internal/convert"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
)

var _ tenon.ContractProvider = (*operation)(nil)

// Contract returns the full schemas of the operation.
func (o *operation) Contract() (tenon.Contract, error) {
	c := tenon.Contract{Input: o.input(convert.InputCheck)}
	for _, a := range o.responses(func(document.Value, string) {}) {
		v := o.responseSchema(a)
		if v.Schema != nil && o.api.doc.MayHaveDiscriminator() {
			v.Check = o.responseBodySchema(a, convert.OutputCheck)
		}
		c.Responses = append(c.Responses, v)
	}
	return c, nil
}

// PublishedContract returns the schemas that clients read, within the size
// limits. Bodies of errors are not published.
func (o *operation) PublishedContract() (tenon.Contract, []tenon.Diagnostic) {
	p := o.planned()
	diagnostics := append([]tenon.Diagnostic(nil), p.diagnostics...)
	report := func(v document.Value, what string) {
		diagnostics = append(diagnostics, o.api.doc.Diagnostic(v, what, ""))
	}
	all := o.responses(report)
	c := tenon.Contract{Input: o.input(convert.Input), Responses: make([]tenon.ResponseSchema, 0, len(all))}
	declared := declaresSuccess(all)
	for i := range all {
		if !isSuccess(all[i].status, declared) {
			all[i].schema, all[i].lines = document.Value{}, document.Value{}
		}
	}
	only := onlyDescribed(all)
	for i, a := range all {
		if i == only {
			c.Responses = append(c.Responses, o.publishedResponse(a, report))
		} else {
			c.Responses = append(c.Responses, o.responseSchema(a))
		}
	}
	if in, how := relax(c.Input, o.api.options.MaxInputSchema); how != publish.None {
		report(o.node, relaxed("input schema", len(c.Input), len(in), how))
		c.Input = in
	}
	if only < 0 {
		o.relaxResponses(c.Responses, report)
	}
	for i := range diagnostics { // many documents have only one line, so the line number alone says little
		diagnostics[i].Message = o.method + " " + o.path + ": " + diagnostics[i].Message
	}
	return c, append(diagnostics, o.api.conversionDiagnostics()...)
}

// relaxResponses reduces the schemas until they fit the limit together. Small
// ones stay complete; the space that they leave is shared by the others.
func (o *operation) relaxResponses(answers []tenon.ResponseSchema, report func(v document.Value, what string)) {
	limit := o.api.options.MaxOutputSchema
	if limit < 0 {
		return
	}
	for i := range answers {
		share := fairShare(answers[i:], limit)
		before := len(answers[i].Schema)
		if s, how := relax(answers[i].Schema, share); how != publish.None {
			report(o.node, relaxed("output schema "+answers[i].Status, before, len(s), how))
			answers[i].Schema = s
		}
		limit -= len(answers[i].Schema)
	}
}

// fairShare returns the size s for which the sum of min(size, s) stays within
// limit.
func fairShare(answers []tenon.ResponseSchema, limit int) int {
	left := 0
	for i := range answers {
		if answers[i].Schema != nil {
			left++
		}
	}
	if left == 0 {
		return limit
	}
	share := limit / left
	for range left {
		small, big := 0, 0
		for i := range answers {
			switch n := len(answers[i].Schema); {
			case n > share:
				big++
			default:
				small += n
			}
		}
		if big == 0 || (limit-small)/big <= share {
			return share
		}
		share = (limit - small) / big
	}
	return share
}

func relax(doc []byte, limit int) ([]byte, publish.Relaxation) {
	if doc == nil || limit < 0 || len(doc) <= limit {
		return doc, publish.None
	}
	return publish.Relax(doc, limit)
}

// conversionDiagnostics returns the conversion diagnostics since its last call: a
// component that several tools share is reported once.
func (a *api) conversionDiagnostics() []tenon.Diagnostic {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := a.doc.Diagnostics()
	fresh := all[min(a.reportedConversions, len(all)):]
	a.reportedConversions = len(all)
	return fresh
}

// publishedSchema is the published schema of a response.
type publishedSchema struct {
	doc        []byte
	full       int // bytes of the full schema
	relaxation publish.Relaxation
}

// maxPublishedCache bounds the cache of published schemas in bytes.
const maxPublishedCache = 8 << 20

// publishedSchemas caches the published schemas of responses that are components: half of
// the operations of a document share their response with another one.
type publishedSchemas struct {
	known map[*convert.Definition]publishedSchema
	bytes int
}

// onlyDescribed returns the index of the only response with a schema, which
// then has the whole size limit; -1: there is none or more than one.
func onlyDescribed(all []declaredResponse) int {
	only := -1
	for i := range all {
		switch {
		case isStream(all[i].media):
			return -1
		case !all[i].schema.OK():
		case only >= 0:
			return -1
		default:
			only = i
		}
	}
	return only
}

// publishedResponse is variant within the size limit.
func (o *operation) publishedResponse(a declaredResponse, report func(v document.Value, what string)) tenon.ResponseSchema {
	s := o.api.publish(a.schema)
	if s.relaxation != publish.None {
		report(o.node, relaxed("output schema "+a.status, s.full, len(s.doc), s.relaxation))
	}
	return tenon.ResponseSchema{Status: a.status, MediaType: a.media, Schema: s.doc, Example: o.example(a.entry)}
}

func (a *api) publish(s document.Value) publishedSchema {
	f := a.schemas.Schema(s, convert.Output)
	body := objectSchema(f.Body)
	shared := len(f.Deps) == 1 && f.Deps[0].IsReferenceIn(body)
	if shared {
		a.mu.Lock()
		made, ok := a.published.known[f.Deps[0]]
		a.mu.Unlock()
		if ok {
			return made
		}
	}
	full := convert.Assemble(body, f.Deps)
	made := publishedSchema{full: len(full)}
	made.doc, made.relaxation = relax(full, a.options.MaxOutputSchema)
	if shared {
		a.cachePublished(f.Deps[0], made)
	}
	return made
}

func (a *api) cachePublished(d *convert.Definition, s publishedSchema) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.published.bytes += len(s.doc); a.published.bytes > maxPublishedCache {
		return
	}
	if a.published.known == nil {
		a.published.known = map[*convert.Definition]publishedSchema{}
	}
	a.published.known[d] = s
}

// relaxed is the message for a schema that is not published in full.
func relaxed(which string, before, after int, how publish.Relaxation) string {
	return fmt.Sprintf("%s of %d bytes is relaxed to %d: %v", which, before, after, how)
}
