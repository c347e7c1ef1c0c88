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
	"github.com/tenon-mcp/tenon/openapi/internal/document"
	"github.com/tenon-mcp/tenon/openapi/internal/encode"
)

// plan is the part of an operation's requests that does not depend on
// arguments. It is immutable.
type plan struct {
	base         *url.URL
	baseErr      error
	params       []parameter
	body         body
	requirement  requirement
	guardedNames guardedNames
	key          string // canonical name of the header for an idempotency key; empty: the operation takes none
	keyOfCaller  bool   // only the caller can make one
	diagnostics  []tenon.Diagnostic

	// Needed by calls only.
	header func() http.Header // sent with every request; shared, so callers copy it before adding to it
	route  func() *route
}

// route is the target of the requests, and the kind of response.
type route struct {
	path    []segment
	tail    string // literal text after the last segment of path, escaped
	query   []part // query of the path's template
	streams bool   // a success response is declared as a stream
}

// segment is a path segment with parameters.
type segment struct {
	lead  string // literal text before it, up to the slash; escaped
	parts []part
}

// part is a piece of a segment or query: literal text, escaped, or the value of
// a parameter.
type part struct {
	literal string
	param   int // index in plan.params; -1: literal
}

func newPlan(o *operation) *plan {
	p := new(plan)
	p.base, p.baseErr = o.baseOf()
	if p.baseErr == nil {
		p.baseErr = p.checkHeaderDestination(o)
	}
	p.requirement = o.requirement(p)
	params, legacyBody := p.declaredParameters(o)
	params = p.addUndeclaredQuery(o, p.addUndeclared(o, params))
	p.body = p.bodyOf(o, params, legacyBody)
	p.body.arg = assignArguments(params, p.body.isArgument())
	p.params = params
	p.overrideParameters(o)
	p.guard(o)
	p.offerKey(o)
	p.reportUncountable(o)
	p.header = sync.OnceValue(func() http.Header { return p.fixedHeader(o) })
	p.route = sync.OnceValue(func() *route {
		path, tail := p.segments(o.template())
		return &route{path, tail, p.literalQuery(o), o.streams()}
	})
	return p
}

func (p *plan) addDiagnostic(o *operation, v document.Value, what string) {
	p.diagnostics = append(p.diagnostics, o.api.doc.Diagnostic(v, what, ""))
}

// addUndeclared adds the parameters of the path that are not declared. This is a common
// mistake, and without them the operation could not be called.
func (p *plan) addUndeclared(o *operation, ps []parameter) []parameter {
	rest := o.template() + "?" + o.literalQueryText()
	for {
		_, after, found := strings.Cut(rest, "{")
		name, next, closed := strings.Cut(after, "}")
		if !found || !closed {
			return ps
		}
		rest = next
		if name != "" && !strings.Contains(name, "/") && find(ps, name) < 0 {
			p.addDiagnostic(o, o.node, "path parameter "+name+" is not declared; assumed to be a string")
			simple, _ := encode.StyleOf("", encode.InPath)
			ps = append(ps, parameter{name: name, in: encode.InPath, required: true, style: simple})
		}
	}
}

// addUndeclaredQuery adds undeclared parameters of a query in the template, which
// some documents write like a path: "/fax?q={q}".
func (p *plan) addUndeclaredQuery(o *operation, ps []parameter) []parameter {
	for key := range o.queryTemplate() {
		declared := slices.ContainsFunc(ps, func(q parameter) bool { return q.in == encode.InQuery && q.name == key })
		if !declared {
			p.addDiagnostic(o, o.node, "query parameter "+key+" is not declared; assumed to be a string")
			form, _ := encode.StyleOf("", encode.InQuery)
			q := parameter{name: key, in: encode.InQuery, style: form}
			q.wire = q.style.Escape.Text(key)
			ps = append(ps, q)
		}
	}
	return ps
}

// queryTemplate iterates over the pairs in the query of the path whose value is
// a parameter: key, and name of the parameter.
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

// pairOf splits "key={name}"; for other pairs name is empty.
func pairOf(pair string) (key, name string) {
	key, text, _ := strings.Cut(pair, "=")
	name, found := strings.CutPrefix(text, "{")
	name, closed := strings.CutSuffix(name, "}")
	if !found || !closed || key == "" || strings.ContainsAny(key+name, "{}") {
		return key, ""
	}
	return key, name
}

// queryKey returns the key in the template's query whose value is the parameter
// of that name.
func (o *operation) queryKey(name string) (key string, found bool) {
	for key, n := range o.queryTemplate() {
		if n == name {
			return key, true
		}
	}
	return "", false
}

// find returns the index of a path parameter, or -1.
func find(ps []parameter, name string) int {
	for i := range ps {
		if ps[i].in == encode.InPath && ps[i].name == name {
			return i
		}
	}
	return -1
}

// pathKeep are the bytes that are legal in a path in addition to the unreserved
// ones.
const pathKeep = "/:@!$&'()*+,;="

// template returns the path without the literal query that some documents add
// to it.
func (o *operation) template() string {
	path, _, _ := strings.Cut(o.path, "?")
	return path
}

// literalQueryText returns the template's query without the pairs that are
// parameters.
func (o *operation) literalQueryText() string {
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

// literalQuery splits literalQueryText at parameters, which can be in a key or a
// part of a value.
func (p *plan) literalQuery(o *operation) []part {
	const keep = pathKeep + "?"
	text := o.literalQueryText()
	if parts := p.parts(text, keep); parts != nil || text == "" {
		return parts
	}
	return []part{{encode.EscapeLiteral(text, keep), -1}}
}

// segments splits the path at parameters. It starts with a slash.
func (p *plan) segments(path string) (all []segment, tail string) {
	if p.base != nil {
		tail = encode.EscapeLiteral(strings.TrimRight(p.base.EscapedPath(), "/"), pathKeep)
	}
	for text := range strings.SplitSeq(path[1:], "/") {
		tail += "/"
		if parts := p.parts(text, pathKeep); parts != nil {
			all = append(all, segment{tail, parts})
			tail = ""
		} else {
			tail += encode.EscapeLiteral(text, pathKeep)
		}
	}
	return all, tail
}

// parts splits one segment, or a query, whose literal text may contain the
// bytes of keep unescaped; nil if it contains no parameter.
func (p *plan) parts(text, keep string) (parts []part) {
	for {
		before, after, found := strings.Cut(text, "{")
		name, next, closed := strings.Cut(after, "}")
		i := find(p.params, name)
		if !found || !closed || i < 0 {
			if parts != nil && text != "" {
				parts = append(parts, part{encode.EscapeLiteral(text, keep), -1})
			}
			return parts
		}
		if before != "" {
			parts = append(parts, part{encode.EscapeLiteral(before, keep), -1})
		}
		parts = append(parts, part{"", i})
		text = next
	}
}

// fixedHeader returns Accept, Content-Type and, for their origin, the
// operator's headers, which take precedence.
func (p *plan) fixedHeader(o *operation) http.Header {
	h := http.Header{"Accept": {o.accept()}}
	if p.body.media != "" {
		h["Content-Type"] = []string{p.body.media}
	}
	if document.SameOrigin(p.base, o.api.base) {
		maps.Copy(h, o.api.options.Header)
	}
	return h
}
