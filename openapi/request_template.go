package openapi

import (
	"iter"
	"maps"
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
	params  []parameter
	body    body
	demand  demand
	guarded guarded
	faults  []tenon.Diagnostic

	// Only calls need these.
	header func() http.Header // sent with every request; shared, so copied before something is added
	route  func() *route
}

// route is where requests go, and what for.
type route struct {
	path    []segment
	tail    string // literal text behind the last of path, escaped
	query   []part // the query that the path brings along
	streams bool   // a success is declared to be a stream
}

// segment is a segment of the path that holds parameters.
type segment struct {
	lead  string // literal text before it, to the slash; escaped
	parts []part
}

// part is a piece of a segment or a query: literal text, escaped, or the value of a
// parameter.
type part struct {
	literal string
	param   int // index in plan.params; -1: literal
}

func newPlan(o *operation) *plan {
	p := new(plan)
	p.base, p.baseErr = o.baseOf()
	if p.baseErr == nil {
		p.baseErr = p.strayHeaders(o)
	}
	p.demand = o.demand(p)
	params, legacyBody := p.declared(o)
	params = p.namedInQuery(o, p.named(o, params))
	p.body = p.bodyOf(o, params, legacyBody)
	p.body.arg = assign(params, p.body.exists())
	p.params = params
	p.settle(o)
	p.guard(o)
	p.tellUncounted(o)
	p.header = sync.OnceValue(func() http.Header { return p.fixedHeader(o) })
	p.route = sync.OnceValue(func() *route {
		path, tail := p.segments(o.template())
		return &route{path, tail, p.literalQuery(o), o.streams()}
	})
	return p
}

func (p *plan) fault(o *operation, v value, what string) {
	p.faults = append(p.faults, o.api.doc.fault(v, what, ""))
}

// named adds the parameters that the path names and nobody declared. They are
// common: without them the operation could not be called.
func (p *plan) named(o *operation, ps []parameter) []parameter {
	rest := o.template() + "?" + o.restOfQuery()
	for {
		_, after, found := strings.Cut(rest, "{")
		name, next, closed := strings.Cut(after, "}")
		if !found || !closed {
			return ps
		}
		rest = next
		if name != "" && !strings.Contains(name, "/") && find(ps, name) < 0 {
			p.fault(o, o.node, "path parameter "+name+" is not declared; taken as a string")
			ps = append(ps, parameter{name: name, in: inPath, required: true, style: styleOf("simple")})
		}
	}
}

// namedInQuery adds those of a query in the template, which some documents
// write like a path: "/fax?q={q}".
func (p *plan) namedInQuery(o *operation, ps []parameter) []parameter {
	for key := range o.queryTemplate() {
		declared := slices.ContainsFunc(ps, func(q parameter) bool { return q.in == inQuery && q.name == key })
		if !declared {
			p.fault(o, o.node, "query parameter "+key+" is not declared; taken as a string")
			q := parameter{name: key, in: inQuery, style: styleOf("form")}
			q.wire = q.style.escape.text(key)
			ps = append(ps, q)
		}
	}
	return ps
}

// queryTemplate goes over the pairs of the query in the path whose value is a
// parameter: its key, and the parameter's name.
func (o *operation) queryTemplate() iter.Seq2[string, string] {
	_, query, found := strings.Cut(o.path, "?")
	return func(yield func(string, string) bool) {
		if !found {
			return
		}
		for pair := range strings.SplitSeq(query, "&") {
			if key, name := pairOf(pair); name != "" && !yield(key, name) {
				return
			}
		}
	}
}

// pairOf takes "key={name}" apart; of other pairs the name is empty.
func pairOf(pair string) (key, name string) {
	key, text, _ := strings.Cut(pair, "=")
	name, found := strings.CutPrefix(text, "{")
	name, closed := strings.CutSuffix(name, "}")
	if !found || !closed || key == "" || strings.ContainsAny(key+name, "{}") {
		return key, ""
	}
	return key, name
}

// queryKey is the key whose value in the template's query is the parameter of
// that name.
func (o *operation) queryKey(name string) (key string, found bool) {
	for key, n := range o.queryTemplate() {
		if n == name {
			return key, true
		}
	}
	return "", false
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

// restOfQuery is the template's query without the pairs that are parameters.
func (o *operation) restOfQuery() string {
	_, query, found := strings.Cut(o.path, "?")
	if !found {
		return ""
	}
	var kept []string
	for pair := range strings.SplitSeq(query, "&") {
		if _, name := pairOf(pair); name == "" && pair != "" {
			kept = append(kept, pair)
		}
	}
	return strings.Join(kept, "&")
}

// literalQuery splits restOfQuery where parameters stand: in a key, or in a part
// of a value.
func (p *plan) literalQuery(o *operation) []part {
	const keep = pathKeep + "?"
	text := o.restOfQuery()
	if parts := p.parts(text, keep); parts != nil || text == "" {
		return parts
	}
	return []part{{escapeLiteral(text, keep), -1}}
}

// segments splits the path where parameters stand. It begins with a slash.
func (p *plan) segments(path string) (all []segment, tail string) {
	if p.base != nil {
		tail = escapeLiteral(strings.TrimRight(p.base.EscapedPath(), "/"), pathKeep)
	}
	for text := range strings.SplitSeq(path[1:], "/") {
		tail += "/"
		if parts := p.parts(text, pathKeep); parts != nil {
			all = append(all, segment{tail, parts})
			tail = ""
		} else {
			tail += escapeLiteral(text, pathKeep)
		}
	}
	return all, tail
}

// parts splits one segment, or a query, whose literal text may hold the bytes of
// keep; nil if no parameter is in it.
func (p *plan) parts(text, keep string) (parts []part) {
	for {
		before, after, found := strings.Cut(text, "{")
		name, next, closed := strings.Cut(after, "}")
		i := find(p.params, name)
		if !found || !closed || i < 0 {
			if parts != nil && text != "" {
				parts = append(parts, part{escapeLiteral(text, keep), -1})
			}
			return parts
		}
		if before != "" {
			parts = append(parts, part{escapeLiteral(before, keep), -1})
		}
		parts = append(parts, part{"", i})
		text = next
	}
}

// fixedHeader holds Accept, Content-Type and, for the origin that they are
// meant for, the operator's headers. Those win over everything.
func (p *plan) fixedHeader(o *operation) http.Header {
	h := http.Header{"Accept": {o.accept()}}
	if p.body.media != "" {
		h["Content-Type"] = []string{p.body.media}
	}
	if sameOrigin(p.base, o.api.base) {
		maps.Copy(h, o.api.options.Header)
	}
	return h
}
