package openapi

import (
	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/schema"
)

var _ tenon.ContractProvider = (*operation)(nil)

// Contract converts all schemas of the operation in full.
func (o *operation) Contract() (tenon.Contract, error) {
	c := tenon.Contract{Input: o.input(checked)}
	for _, a := range o.answers(func(value, string) {}) {
		v := o.variant(a)
		if v.Schema != nil && o.api.doc.discriminated() {
			v.Check = o.bodyOf(a, judged)
		}
		c.Responses = append(c.Responses, v)
	}
	return c, nil
}

// Published converts what clients read, within the budgets. The bodies of
// errors are no part of that, so they stay undescribed.
func (o *operation) PublishedContract() (tenon.Contract, []tenon.Diagnostic) {
	p := o.planned()
	faults := append([]tenon.Diagnostic(nil), p.faults...)
	fault := func(v value, what string) {
		faults = append(faults, o.api.doc.fault(v, what, ""))
	}
	all := o.answers(fault)
	c := tenon.Contract{Input: o.input(input), Responses: make([]tenon.ResponseSchema, 0, len(all))}
	declared := declaresSuccess(all)
	for i := range all {
		if !isSuccess(all[i].status, declared) {
			all[i].schema, all[i].lines = value{}, value{}
		}
	}
	only := onlyDescribed(all)
	for i, a := range all {
		if i == only {
			c.Responses = append(c.Responses, o.shortVariant(a, fault))
		} else {
			c.Responses = append(c.Responses, o.variant(a))
		}
	}
	if in, how := relax(c.Input, o.api.options.MaxInputSchema); how != schema.None {
		fault(o.node, relaxed("input schema", len(c.Input), len(in), how))
		c.Input = in
	}
	if only < 0 {
		o.relaxAnswers(c.Responses, fault)
	}
	for i := range faults { // many documents are all in one line
		faults[i].Message = o.method + " " + o.path + ": " + faults[i].Message
	}
	return c, append(faults, o.api.conversionFaults()...)
}

// relaxAnswers brings the schemas under the budget together. The small ones
// stay whole; what they leave is shared by the others.
func (o *operation) relaxAnswers(answers []tenon.ResponseSchema, fault func(v value, what string)) {
	limit := o.api.options.MaxOutputSchema
	if limit < 0 {
		return
	}
	for i := range answers {
		share := fairShare(answers[i:], limit)
		before := len(answers[i].Schema)
		if s, how := relax(answers[i].Schema, share); how != schema.None {
			fault(o.node, relaxed("output schema "+answers[i].Status, before, len(s), how))
			answers[i].Schema = s
		}
		limit -= len(answers[i].Schema)
	}
}

// fairShare is the size s with which the sum of min(size, s) stays within
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

func relax(doc []byte, limit int) ([]byte, schema.Relaxation) {
	if doc == nil || limit < 0 || len(doc) <= limit {
		return doc, schema.None
	}
	return schema.Relax(doc, limit)
}

// conversionFaults returns what converting found since it was last asked: a
// component that several tools share is reported once.
func (a *api) conversionFaults() []tenon.Diagnostic {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := a.doc.conversionFaults()
	fresh := all[min(a.told, len(all)):]
	a.told = len(all)
	return fresh
}
