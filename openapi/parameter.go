package openapi

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
	"github.com/tenon-mcp/tenon/openapi/internal/encode"
)

// parameter is one parameter of an operation.
type parameter struct {
	arg      string // its property in the arguments object
	name     string // its name at the upstream
	wire     string // the name as written: percent-encoded, or a canonical header name
	in       encode.Location
	required bool
	json     bool           // written as JSON text
	style    encode.Style   // how it is written otherwise
	node     document.Value // parameter object; not ok if only the path names it
	schema   document.Value // its schema; in 2.0 the parameter object itself
	overridden
}

// declaredParameters collects the parameters of the path item and of the operation; those
// of the operation replace those of the path item. A body parameter of 2.0 is
// returned separately.
func (p *plan) declaredParameters(o *operation) (ps []parameter, body document.Value) {
	for _, from := range []document.Value{o.item, o.node} {
		list, err := o.api.doc.Deref(from.Get("parameters"))
		if err != nil {
			p.addDiagnostic(o, from.Get("parameters"), "parameters ignored: "+err.Error())
			continue
		}
		ps = slices.Grow(ps, list.Len())
		for _, v := range list.Each() {
			node, err := o.api.doc.Deref(v)
			switch {
			case err != nil:
				p.addDiagnostic(o, v, "parameter ignored: "+err.Error())
			case o.api.legacy() && node.StrAt("in") == "body":
				body = node
			default:
				ps = p.declare(o, ps, node)
			}
		}
	}
	return ps, body
}

func (p *plan) declare(o *operation, ps []parameter, node document.Value) []parameter {
	name := node.StrAt("name")
	in, known := encode.LocationOf(node.StrAt("in"))
	if in == encode.InPath && strings.IndexByte(o.path, '?') >= 0 {
		if key, found := o.queryKey(name); found {
			name, in = key, encode.InQuery
		}
	}
	switch {
	case name == "" && in != encode.InQueryString || !known:
		p.addDiagnostic(o, node, "parameter "+strconv.Quote(name)+" ignored: its name is missing or its location is unknown")
		return ps
	case in == encode.InHeader && !encode.IsToken(name):
		p.addDiagnostic(o, node, "header parameter "+strconv.Quote(name)+" ignored: not a valid header name")
		return ps
	case in == encode.InHeader && overridesRequest(name):
		p.addDiagnostic(o, node, "header parameter "+strconv.Quote(name)+" ignored: some services use it as another method or path of the request")
		return ps
	case in == encode.InHeader && (ignoredHeader(name) || p.isOperatorHeader(o, name)), p.isRequiredCredential(in, name):
		return ps
	case in == encode.InPath && (strings.Contains(name, "/") || !strings.Contains(o.path, "{"+name+"}")):
		p.addDiagnostic(o, node, "path parameter "+strconv.Quote(name)+" ignored: not in the path")
		return ps
	}
	q := parameter{name: name, in: in, node: node, required: in == encode.InPath || node.IsTrue("required")}
	p.write(o, &q)
	for i := range ps {
		if ps[i].in == in && (ps[i].name == name || in == encode.InHeader && strings.EqualFold(ps[i].name, name)) {
			ps[i] = q
			return ps
		}
	}
	return append(ps, q)
}

// isOperatorHeader reports whether the operator sends that header.
func (p *plan) isOperatorHeader(o *operation, name string) bool {
	_, ok := o.api.options.Header[http.CanonicalHeaderKey(name)]
	return ok && document.SameOrigin(p.base, o.api.base)
}

// ignoredHeader reports whether a header is not a parameter: three are excluded
// by the specification (3.1 §4.8.12.2), the others belong to the connection.
func ignoredHeader(name string) bool {
	switch strings.ToLower(strings.ReplaceAll(name, "_", "-")) {
	case "accept", "content-type", "authorization",
		"host", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "te", "trailer",
		"expect", "accept-encoding", "proxy-authorization", "proxy-connection", "http2-settings":
		return true
	}
	return false
}

// write sets how q is written and where its schema is.
func (p *plan) write(o *operation, q *parameter) {
	q.schema = q.node.Get("schema")
	if content := q.node.Get("content"); content.Len() > 0 {
		for media, v := range content.Each() {
			entry, err := o.api.doc.Deref(v)
			if err != nil {
				p.addDiagnostic(o, v, "parameter "+q.name+" has no schema: "+err.Error())
			}
			q.schema = entry.Get("schema")
			q.json = encode.IsJSON(encode.MediaType(media))
			break
		}
	}
	if o.api.legacy() {
		q.schema = q.node
		q.style = encode.LegacyStyle(q.node.StrAt("collectionFormat"), q.in)
	} else {
		q.style = p.styleAt(o, q.node, q.in)
	}
	q.style.Escape = encode.EscapeAll
	switch q.in {
	case encode.InHeader:
		q.style.Escape = encode.EscapeNone
		q.wire = http.CanonicalHeaderKey(q.name)
		return
	case encode.InForm:
		q.style.Escape = encode.EscapeForm
	case encode.InQuery:
		if q.node.IsTrue("allowReserved") {
			q.style.Escape = encode.EscapeReserved
		}
	default:
	}
	q.wire = q.style.Escape.Text(q.name)
}

// styleAt reads style and explode of a parameter or form field.
func (p *plan) styleAt(o *operation, node document.Value, in encode.Location) encode.Style {
	name := node.StrAt("style")
	s, ok := encode.StyleOf(name, in)
	if !ok {
		p.addDiagnostic(o, node, "style "+strconv.Quote(name)+" is not allowed in a "+in.String()+"; the default is used")
	}
	if node.Get("explode").Kind() == rawjson.Bool {
		s.Explode = s.Deep || node.IsTrue("explode")
	}
	return s
}

// assignArguments names the argument of every parameter and of the body, whose name it
// returns. Names that occur in two locations are prefixed with the location.
func assignArguments(ps []parameter, withBody bool) (body string) {
	count := make(map[string]int, len(ps))
	for i := range ps {
		count[argumentName(ps[i].name)]++
	}
	taken := make(map[string]bool, len(ps)+1)
	for i := range ps {
		name := argumentName(ps[i].name)
		if count[name] > 1 {
			name = ps[i].in.String() + "_" + name
		}
		ps[i].arg = uniqueName(taken, name)
	}
	if !withBody {
		return ""
	}
	if taken["body"] {
		return uniqueName(taken, "request_body")
	}
	return "body"
}

func uniqueName(taken map[string]bool, name string) string {
	n := name
	for k := 2; taken[n]; k++ {
		n = name + "_" + strconv.Itoa(k)
	}
	taken[n] = true
	return n
}

// argumentName converts a parameter's name to that of a property of the
// arguments. Some model APIs reject a whole request because of a property such
// as "page[size]" or "$filter", so those become page_size and filter.
func argumentName(name string) string {
	n := sanitizeName(name)
	if n == "" {
		n = "query"
	}
	return shorten(n, maxName)
}
