package openapi

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// location is where a parameter stands in a request.
type location uint8

const (
	inPath location = iota
	inQuery
	inHeader
	inCookie
	inForm        // a field of a form (2.0)
	inQueryString // the whole query (3.2)
)

func (l location) String() string {
	return [...]string{"path", "query", "header", "cookie", "form", "query"}[l]
}

func locationOf(in string) (location, bool) {
	switch in {
	case "path":
		return inPath, true
	case "query":
		return inQuery, true
	case "header":
		return inHeader, true
	case "cookie":
		return inCookie, true
	case "formData":
		return inForm, true
	case "querystring":
		return inQueryString, true
	}
	return 0, false
}

// parameter is one parameter of an operation.
type parameter struct {
	arg      string // its property in the arguments object
	name     string // its name at the upstream
	wire     string // the name as it is written: escaped, or a canonical header
	in       location
	required bool
	json     bool  // written as JSON text
	style    style // how else
	node     value // parameter object; not ok where only the path names it
	schema   value // its schema; of 2.0 the parameter object itself
	altered
}

// declared collects the parameters of the path item and of the operation; of
// two with one name and place the operation's counts. A body of 2.0 comes back
// on its own.
func (p *plan) declared(o *operation) (ps []parameter, body value) {
	for _, from := range []value{o.item, o.node} {
		list, err := o.api.doc.deref(from.get("parameters"))
		if err != nil {
			p.fault(o, from.get("parameters"), "parameters are left out: "+err.Error())
			continue
		}
		ps = slices.Grow(ps, list.len())
		for _, v := range list.each() {
			node, err := o.api.doc.deref(v)
			switch {
			case err != nil:
				p.fault(o, v, "parameter is left out: "+err.Error())
			case o.api.legacy() && node.strAt("in") == "body":
				body = node
			default:
				ps = p.declare(o, ps, node)
			}
		}
	}
	return ps, body
}

func (p *plan) declare(o *operation, ps []parameter, node value) []parameter {
	name := node.strAt("name")
	in, known := locationOf(node.strAt("in"))
	if in == inPath && strings.IndexByte(o.path, '?') >= 0 {
		if key, found := o.queryKey(name); found {
			name, in = key, inQuery
		}
	}
	switch {
	case name == "" && in != inQueryString || !known:
		p.fault(o, node, "parameter "+strconv.Quote(name)+" is left out: no name or no known place")
		return ps
	case in == inHeader && !isToken(name):
		p.fault(o, node, "header parameter "+strconv.Quote(name)+" is left out: no header has such a name")
		return ps
	case in == inHeader && reroutes(name):
		p.fault(o, node, "header parameter "+strconv.Quote(name)+" is left out: by it a service may take the request for another one")
		return ps
	case in == inHeader && (ignoredHeader(name) || p.fromOperator(o, name)), p.asksFor(in, name):
		return ps
	case in == inPath && (strings.Contains(name, "/") || !strings.Contains(o.path, "{"+name+"}")):
		p.fault(o, node, "path parameter "+strconv.Quote(name)+" is left out: the path has no place for it")
		return ps
	}
	q := parameter{name: name, in: in, node: node, required: in == inPath || node.isTrue("required")}
	p.write(o, &q)
	for i := range ps {
		if ps[i].in == in && (ps[i].name == name || in == inHeader && strings.EqualFold(ps[i].name, name)) {
			ps[i] = q
			return ps
		}
	}
	return append(ps, q)
}

// fromOperator tells whether the operator sends that header.
func (p *plan) fromOperator(o *operation, name string) bool {
	_, ok := o.api.options.Header[http.CanonicalHeaderKey(name)]
	return ok && sameOrigin(p.base, o.api.base)
}

// ignoredHeader names the headers that are not parameters: three because the
// specification says so (3.1 §4.8.12.2), the others because they belong to the
// connection.
func ignoredHeader(name string) bool {
	switch strings.ToLower(strings.ReplaceAll(name, "_", "-")) {
	case "accept", "content-type", "authorization",
		"host", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "te", "trailer",
		"expect", "accept-encoding", "proxy-authorization", "proxy-connection", "http2-settings":
		return true
	}
	return false
}

// write decides how q is written and where its schema is.
func (p *plan) write(o *operation, q *parameter) {
	q.schema = q.node.get("schema")
	if content := q.node.get("content"); content.len() > 0 {
		for media, v := range content.each() {
			entry, err := o.api.doc.deref(v)
			if err != nil {
				p.fault(o, v, "parameter "+q.name+" has no schema: "+err.Error())
			}
			q.schema = entry.get("schema")
			q.json = isJSON(mediaType(media))
			break
		}
	}
	if o.api.legacy() {
		q.schema = q.node
		q.style = legacyStyle(q.node.strAt("collectionFormat"), q.in)
	} else {
		q.style = p.styleAt(o, q.node, q.in)
	}
	q.style.escape = escapeAll
	switch q.in {
	case inHeader:
		q.style.escape = escapeNone
		q.wire = http.CanonicalHeaderKey(q.name)
		return
	case inForm:
		q.style.escape = escapeForm
	case inQuery:
		if q.node.isTrue("allowReserved") {
			q.style.escape = escapeReserved
		}
	default:
	}
	q.wire = q.style.escape.text(q.name)
}

// styleAt reads style and explode of a parameter or a form field.
func (p *plan) styleAt(o *operation, node value, in location) style {
	name := node.strAt("style")
	if name != "" && !in.allows(name) {
		p.fault(o, node, "style "+strconv.Quote(name)+" does not exist in a "+in.String()+"; its default is used")
		name = ""
	}
	if name == "" {
		name = "form"
		if in == inPath || in == inHeader {
			name = "simple"
		}
	}
	s := styleOf(name)
	if in == inCookie {
		s.between = "; "
	}
	if node.get("explode").kind() == rawjson.Bool {
		s.explode = s.deep || node.isTrue("explode")
	}
	return s
}

// allows tells which styles a place has (3.1 §4.8.12.4, 3.2 adds cookie).
func (l location) allows(style string) bool {
	switch style {
	case "simple":
		return l == inPath || l == inHeader
	case "label", "matrix":
		return l == inPath
	case "form":
		return l != inPath && l != inHeader
	case "spaceDelimited", "pipeDelimited", "deepObject":
		return l == inQuery || l == inForm
	case "cookie":
		return l == inCookie
	}
	return false
}

// assign gives every parameter its property in the arguments object, and the
// body its own. Names that two places share carry their place.
func assign(ps []parameter, withBody bool) (body string) {
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
		ps[i].arg = free(taken, name)
	}
	if !withBody {
		return ""
	}
	if taken["body"] {
		return free(taken, "request_body")
	}
	return "body"
}

func free(taken map[string]bool, name string) string {
	n := name
	for k := 2; taken[n]; k++ {
		n = name + "_" + strconv.Itoa(k)
	}
	taken[n] = true
	return n
}

// argumentName is a parameter's name as a property of the arguments. Some
// models' interfaces refuse a whole request over a property such as "page[size]"
// or "$filter", so those become page_size and filter.
func argumentName(name string) string {
	n := legal(name)
	if n == "" {
		n = "query"
	}
	return shorten(n, maxName)
}
