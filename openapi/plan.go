package openapi

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/tenon-mcp/tenon"
)

// plan is what is fixed about an operation's requests. It never changes.
type plan struct {
	base    *url.URL
	baseErr error
	path    []segmentPart
	query   string // literal part of the query, escaped
	params  []parameter
	body    body
	header  func() http.Header // sent with every request; shared, so copied before something is added
	faults  []tenon.Fault
}

// segmentPart is a piece of the path: literal text, which is escaped already,
// or the value of a parameter.
type segmentPart struct {
	literal string
	param   int // index in plan.params; -1: literal
}

func newPlan(o *operation) *plan {
	p := &plan{}
	p.base, p.baseErr = o.baseOf()
	params, legacyBody := p.declared(o)
	params = p.named(o, params)
	p.body = p.bodyOf(o, params, legacyBody)
	p.body.arg = assign(params, p.body.exists())
	p.params = params
	p.path = p.template(o.template())
	p.query = o.literalQuery()
	p.header = sync.OnceValue(func() http.Header { return p.fixedHeader(o) }) // only a call needs it
	return p
}

func (p *plan) fault(o *operation, v value, what string) {
	p.faults = append(p.faults, o.api.doc.fault(v, what, ""))
}

// named adds the parameters that the path names and nobody declared. They are
// common: without them the operation could not be called.
func (p *plan) named(o *operation, ps []parameter) []parameter {
	rest := o.template()
	for {
		_, after, found := strings.Cut(rest, "{")
		name, next, closed := strings.Cut(after, "}")
		if !found || !closed {
			return ps
		}
		rest = next
		if name != "" && find(ps, name) < 0 {
			p.fault(o, o.node, "path parameter "+name+" is not declared; taken as a string")
			s, _ := styleOf("simple")
			ps = append(ps, parameter{name: name, in: inPath, required: true, style: s})
		}
	}
}

// find returns the index of a path parameter, -1 if there is none.
func find(ps []parameter, name string) int {
	for i := range ps {
		if ps[i].in == inPath && ps[i].name == name {
			return i
		}
	}
	return -1
}

// pathKeep are the bytes that literal text of a path may hold besides the
// unreserved ones.
const pathKeep = "/:@!$&'()*+,;="

// template is the path without the literal query that some documents put into
// it.
func (o *operation) template() string {
	path, _, _ := strings.Cut(o.path, "?")
	return path
}

func (o *operation) literalQuery() string {
	_, query, _ := strings.Cut(o.path, "?")
	return escapeLiteral(query, pathKeep+"?")
}

// template splits the path where parameters stand.
func (p *plan) template(path string) (parts []segmentPart) {
	prefix := ""
	if p.base != nil {
		prefix = escapeLiteral(strings.TrimRight(p.base.EscapedPath(), "/"), pathKeep)
	}
	for path != "" {
		before, after, found := strings.Cut(path, "{")
		name, next, closed := strings.Cut(after, "}")
		i := find(p.params, name)
		if !found || !closed || i < 0 {
			return append(parts, segmentPart{prefix + escapeLiteral(path, pathKeep), -1})
		}
		if lit := prefix + escapeLiteral(before, pathKeep); lit != "" {
			parts = append(parts, segmentPart{lit, -1})
		}
		parts = append(parts, segmentPart{"", i})
		prefix, path = "", next
	}
	return parts
}

// fixedHeader holds Accept, Content-Type and, for the host that they are meant
// for, the operator's headers. Those win over everything.
func (p *plan) fixedHeader(o *operation) http.Header {
	h := http.Header{"Accept": {o.accept()}}
	if p.body.media != "" {
		h["Content-Type"] = []string{p.body.media}
	}
	if sameOrigin(p.base, o.api.base) {
		for name, values := range o.api.options.Header {
			h[http.CanonicalHeaderKey(name)] = slices.Clip(values)
		}
	}
	return h
}
