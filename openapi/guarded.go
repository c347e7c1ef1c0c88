package openapi

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// The rule of this file: a name that the operator decides, because its value is
// fixed, hidden or a credential, stands in a request once. Arguments that become
// names (free-form objects, whole queries, forms, a Cookie header) must not write
// it a second time, nor in a spelling that some service reads as the same: which
// of the two counts is for each service to choose.

// guarded are the names that arguments must not write.
type guarded struct {
	query   []string // of queries and forms, which many services read as one
	literal []string // keys of the query in the path's template
	path    []string
	cookie  []string
	header  []string
}

// guard collects the names and hides the parameters that are other spellings of
// them.
func (p *plan) guard(o *operation) {
	g := &p.guarded
	g.collect(p, o)
	for i := range p.params {
		q := &p.params[i]
		if !q.hidden && g.decides(q) {
			p.fault(o, q.node, "parameter "+q.name+" ("+q.in.String()+") is left out: it is another spelling of one that the operator decides")
			q.hidden, q.required = true, false
		}
	}
}

// collect finds the names of credentials, of the path's own query, of headers
// that the operator sends and of parameters that are fixed.
func (g *guarded) collect(p *plan, o *operation) {
	for _, together := range p.demand {
		for _, s := range together {
			if from, _ := s.at(p.base); s.spoken && (from == nil || !from.None) {
				g.add(s.place, s.wire)
			}
		}
	}
	for pair := range strings.SplitSeq(o.restOfQuery(), "&") {
		if name, _, _ := strings.Cut(pair, "="); name != "" && !strings.Contains(name, "{") {
			g.literal = append(g.literal, plainName(name))
		}
	}
	if sameOrigin(p.base, o.api.base) {
		g.collectHeaders(o.api.options.Header)
	}
	for i := range p.params {
		if q := &p.params[i]; q.hidden {
			g.add(q.in, q.name, q.fixedNames()...)
		}
	}
}

func (g *guarded) collectHeaders(h http.Header) {
	for name, values := range h {
		if name == "Cookie" {
			g.cookie = append(g.cookie, cookieNames(strings.Join(values, "; "))...)
		}
		g.header = append(g.header, name)
	}
}

func (g *guarded) add(in location, name string, more ...string) {
	list := map[location]*[]string{inQuery: &g.query, inForm: &g.query, inQueryString: &g.query, inPath: &g.path, inCookie: &g.cookie, inHeader: &g.header}[in]
	*list = append(append(*list, name), more...)
}

// decides tells whether a parameter is one of the names. One in the path has a
// place of its own.
func (g *guarded) decides(q *parameter) bool {
	switch q.in {
	case inQuery, inForm:
		return slices.ContainsFunc(g.query, func(name string) bool { return sameSpelling(name, q.name) })
	case inCookie:
		return slices.ContainsFunc(g.cookie, func(name string) bool { return sameSpelling(name, q.name) })
	case inHeader:
		return slices.ContainsFunc(g.header, func(name string) bool { return sameHeader(name, q.name) })
	default:
		return false
	}
}

// fixedNames are the names that the fixed value of q writes.
func (q *parameter) fixedNames() []string {
	doc, err := rawjson.Parse(q.fixed)
	if q.fixed == nil || err != nil {
		return nil
	}
	v := argument{doc, doc.Root()}
	switch q.in {
	case inQuery, inQueryString:
		return namesIn(string(q.appendQuery(nil, v)), "&")
	case inForm:
		return namesIn(string(appendField(nil, q.style, q.wire, v, true)), "&")
	case inCookie:
		return cookieNames(string(q.append(nil, v)))
	case inPath:
		return pathNames(string(q.append(nil, v)))
	default:
		return nil
	}
}

// checkPairs refuses what q wrote into a query or a form where it holds a name
// of the operator's.
func (g *guarded) checkPairs(arg, written string) error {
	if len(g.query)+len(g.literal) == 0 {
		return nil
	}
	for _, name := range namesIn(written, "&;") {
		if err := g.checkField(arg, name); err != nil {
			return err
		}
	}
	return nil
}

// checkBody refuses a form, made of v, that holds a name of the operator's.
func (p *plan) checkBody(v argument, content []byte) error {
	switch p.body.write {
	case formBody:
		return p.guarded.checkPairs(p.body.arg, string(content))
	case partsBody:
		for n := v.doc.First(v.node); n != rawjson.None; n = v.doc.Next(n) {
			if err := p.guarded.checkField(p.body.arg, v.doc.Key(n)); err != nil && (argument{v.doc, n}).given() {
				return err
			}
		}
	default:
	}
	return nil
}

// checkTemplate is checkPairs for the query of the path's template, whose own
// keys may stand there.
func (g *guarded) checkTemplate(written string) error {
	only := guarded{query: g.query}
	return only.checkPairs("of the path", written)
}

// checkField refuses a name of a query or a form.
func (g *guarded) checkField(arg, name string) error {
	name = plainName(name)
	if holdsName(g.query, name) || holdsName(g.literal, name) {
		return taken(arg, name)
	}
	return nil
}

// checkPath refuses what q wrote into the path.
func (g *guarded) checkPath(arg, written string) error {
	if len(g.path)+len(g.query) == 0 || !strings.Contains(written, "=") {
		return nil
	}
	for _, name := range pathNames(written) {
		if holdsName(g.path, name) || holdsName(g.query, name) {
			return taken(arg, name)
		}
	}
	return nil
}

// checkCookies refuses what q wrote into the line of cookies.
func (g *guarded) checkCookies(arg, written string) error {
	if len(g.cookie) == 0 {
		return nil
	}
	for _, name := range cookieNames(written) {
		if holdsName(g.cookie, name) {
			return taken(arg, name)
		}
	}
	return nil
}

func taken(arg, name string) error {
	return invalid("argument %s must not hold the name %q: its value is not the caller's to say", arg, name)
}

// namesIn are the names of pairs, decoded; seps are what may stand between them.
func namesIn(pairs, seps string) (names []string) {
	for pair := range strings.FieldsFuncSeq(pairs, func(r rune) bool { return strings.ContainsRune(seps, r) }) {
		name, _, _ := strings.Cut(pair, "=")
		names = append(names, plainName(name))
	}
	return names
}

// cookieNames are the names in a line of cookies. Some services separate them
// by commas, too.
func cookieNames(line string) []string { return namesIn(line, ";,") }

// pathNames are the names in a segment of the styles matrix and label, or of a
// list of members. A dot may separate them, or be part of one.
func pathNames(segment string) (names []string) {
	for _, seps := range []string{";,", ";,."} {
		for piece := range strings.FieldsFuncSeq(segment, func(r rune) bool { return strings.ContainsRune(seps, r) }) {
			if name, _, found := strings.Cut(piece, "="); found {
				names = append(names, plainName(name))
			}
		}
	}
	return names
}

// plainName decodes a name, also one that is encoded twice.
func plainName(name string) string {
	for range 3 {
		next, err := url.QueryUnescape(name)
		if err != nil || next == name {
			break
		}
		name = next
	}
	return name
}

// holdsName tells whether a service may take name for one of the names.
func holdsName(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return sameName(n, name) })
}

// sameSpelling tells whether some service reads two names as one: case, brackets,
// dots, what stands around them or behind a NUL make no difference there.
func sameSpelling(a, b string) bool {
	x, y := nameParts(a), nameParts(b)
	return len(x) > 0 && strings.EqualFold(strings.Join(x, "_"), strings.Join(y, "_")) // "api.key" is "api_key" for PHP
}

// sameName also tells whether one names what holds the other, as "filter" does
// "filter[owner]".
func sameName(a, b string) bool {
	if sameSpelling(a, b) {
		return true
	}
	x, y := nameParts(a), nameParts(b)
	if len(x) == 0 || len(y) == 0 {
		return false
	}
	for i := range min(len(x), len(y)) {
		if !strings.EqualFold(x[i], y[i]) {
			return false
		}
	}
	return true
}

// nameParts splits "filter[owner]" and "filter.owner" into what they name.
func nameParts(name string) []string {
	name, _, _ = strings.Cut(name, "\x00")
	return strings.FieldsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '[' || r == ']' || r == '.' || r == 0xa0 })
}

// sameHeader tells whether a service may take one header for the other: behind
// gateway interfaces such as CGI and WSGI, a dash is an underscore.
func sameHeader(a, b string) bool {
	dashed := func(s string) string { return strings.ReplaceAll(http.CanonicalHeaderKey(s), "_", "-") }
	return strings.EqualFold(dashed(a), dashed(b))
}

// reroutes names the headers by which some services take a request for one of
// another method or path. What a GET may do is known from its method alone.
func reroutes(name string) bool {
	switch strings.ToLower(strings.ReplaceAll(name, "_", "-")) {
	case "x-http-method-override", "x-http-method", "x-method-override", "x-original-method", "x-original-url", "x-rewrite-url", "x-original-uri":
		return true
	}
	return false
}
