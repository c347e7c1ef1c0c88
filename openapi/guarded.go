package openapi

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
	"github.com/tenon-mcp/tenon/openapi/internal/encode"
)

// Rule of this file: a name that the operator decides, because its value is
// fixed, hidden or a credential, occurs in a request once. Arguments that
// become names (free-form objects, whole queries, forms, a Cookie header) must
// not write it again, nor in a spelling that some service treats as equal,
// because services differ in which of the two they use.

// guardedNames are the names that arguments must not write.
type guardedNames struct {
	query   []string // of queries and forms, which many services merge
	literal []string // keys in the query of the path's template
	path    []string
	cookie  []string
	header  []string
}

// guard collects the names and hides the parameters that are other spellings of
// them.
func (p *plan) guard(o *operation) {
	g := &p.guardedNames
	g.collect(p, o)
	for i := range p.params {
		q := &p.params[i]
		if !q.hidden && g.overlaps(q) {
			p.addDiagnostic(o, q.node, "parameter "+q.name+" ("+q.in.String()+") ignored: it is another spelling of a name that the operator has set")
			q.hidden, q.required = true, false
		}
	}
}

// collect finds the names of credentials, of the path's own query, of the
// operator's headers and of fixed parameters.
func (g *guardedNames) collect(p *plan, o *operation) {
	for _, together := range p.requirement {
		for _, s := range together {
			if from, _ := s.credentialFor(p.base); s.supported && (from == nil || !from.None) {
				g.add(s.place, s.wire)
			}
		}
	}
	for pair := range strings.SplitSeq(o.literalQueryText(), "&") {
		if name, _, _ := strings.Cut(pair, "="); name != "" && !strings.Contains(name, "{") {
			g.literal = append(g.literal, plainName(name))
		}
	}
	if document.SameOrigin(p.base, o.api.base) {
		g.collectHeaders(o.api.options.Header)
	}
	for i := range p.params {
		if q := &p.params[i]; q.hidden {
			g.add(q.in, q.name, q.fixedNames()...)
		}
	}
}

func (g *guardedNames) collectHeaders(h http.Header) {
	for name, values := range h {
		if name == "Cookie" {
			g.cookie = append(g.cookie, cookieNames(strings.Join(values, "; "))...)
		}
		g.header = append(g.header, name)
	}
}

func (g *guardedNames) add(in encode.Location, name string, more ...string) {
	list := map[encode.Location]*[]string{encode.InQuery: &g.query, encode.InForm: &g.query, encode.InQueryString: &g.query, encode.InPath: &g.path, encode.InCookie: &g.cookie, encode.InHeader: &g.header}[in]
	*list = append(append(*list, name), more...)
}

// overlaps reports whether a parameter is one of the names. A path parameter
// never is: it has a fixed position.
func (g *guardedNames) overlaps(q *parameter) bool {
	switch q.in {
	case encode.InQuery, encode.InForm:
		return slices.ContainsFunc(g.query, func(name string) bool { return sameSpelling(name, q.name) })
	case encode.InCookie:
		return slices.ContainsFunc(g.cookie, func(name string) bool { return sameSpelling(name, q.name) })
	case encode.InHeader:
		return slices.ContainsFunc(g.header, func(name string) bool { return sameHeader(name, q.name) })
	default:
		return false
	}
}

// fixedNames returns the names that the fixed value of q writes.
func (q *parameter) fixedNames() []string {
	doc, err := rawjson.Parse(q.fixed)
	if q.fixed == nil || err != nil {
		return nil
	}
	v := encode.Argument{Doc: doc, Node: doc.Root()}
	switch q.in {
	case encode.InQuery, encode.InQueryString:
		return namesIn(string(q.appendQuery(nil, v)), "&")
	case encode.InForm:
		return namesIn(string(appendField(nil, q.style, q.wire, v, true)), "&")
	case encode.InCookie:
		return cookieNames(string(q.append(nil, v)))
	case encode.InPath:
		return pathNames(string(q.append(nil, v)))
	default:
		return nil
	}
}

// checkPairs rejects what an argument wrote into a query or a form if it
// contains a guarded name.
func (g *guardedNames) checkPairs(arg, written string) error {
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

// checkBody rejects a form, encoded from v, that contains a guarded name.
func (p *plan) checkBody(v encode.Argument, content []byte) error {
	switch p.body.write {
	case formBody:
		return p.guardedNames.checkPairs(p.body.arg, string(content))
	case partsBody:
		for n := v.Doc.First(v.Node); n != rawjson.None; n = v.Doc.Next(n) {
			if err := p.guardedNames.checkField(p.body.arg, v.Doc.Key(n)); err != nil && (encode.Argument{Doc: v.Doc, Node: n}).IsGiven() {
				return err
			}
		}
	default:
	}
	return nil
}

// checkTemplate is checkPairs for the query of the path's template, which may
// contain its own keys.
func (g *guardedNames) checkTemplate(written string) error {
	only := guardedNames{query: g.query}
	return only.checkPairs("of the path", written)
}

// checkField rejects a guarded name of a query or a form.
func (g *guardedNames) checkField(arg, name string) error {
	name = plainName(name)
	if containsName(g.query, name) || containsName(g.literal, name) {
		return guardedNameError(arg, name)
	}
	return nil
}

// checkPath rejects what an argument wrote into the path.
func (g *guardedNames) checkPath(arg, written string) error {
	if len(g.path)+len(g.query) == 0 || !strings.Contains(written, "=") {
		return nil
	}
	for _, name := range pathNames(written) {
		if containsName(g.path, name) || containsName(g.query, name) {
			return guardedNameError(arg, name)
		}
	}
	return nil
}

// checkCookies rejects what an argument wrote into the Cookie header.
func (g *guardedNames) checkCookies(arg, written string) error {
	if len(g.cookie) == 0 {
		return nil
	}
	for _, name := range cookieNames(written) {
		if containsName(g.cookie, name) {
			return guardedNameError(arg, name)
		}
	}
	return nil
}

func guardedNameError(arg, name string) error {
	return encode.Invalid("argument %s must not contain the name %q: its value is set by the operator", arg, name)
}

// namesIn returns the decoded names of name=value pairs; seps are the
// separators.
func namesIn(pairs, seps string) (names []string) {
	for pair := range strings.FieldsFuncSeq(pairs, func(r rune) bool { return strings.ContainsRune(seps, r) }) {
		name, _, _ := strings.Cut(pair, "=")
		names = append(names, plainName(name))
	}
	return names
}

// cookieNames returns the names in a Cookie header. Some services also split it
// at commas.
func cookieNames(line string) []string { return namesIn(line, ";,") }

// pathNames returns the names in a segment of the styles matrix and label, or
// of a list of members. A dot may separate them or be part of a name.
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

// containsName reports whether a service may read name as one of the names.
func containsName(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return sameName(n, name) })
}

// sameSpelling reports whether some service reads two names as one: it may
// ignore case, brackets, dots, surrounding space or what follows a NUL.
func sameSpelling(a, b string) bool {
	x, y := nameParts(a), nameParts(b)
	return len(x) > 0 && strings.EqualFold(strings.Join(x, "_"), strings.Join(y, "_")) // "api.key" is "api_key" for PHP
}

// sameName also reports whether one name is a parent of the other, as "filter"
// is of "filter[owner]".
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

// nameParts splits "filter[owner]" and "filter.owner" into their parts.
func nameParts(name string) []string {
	name, _, _ = strings.Cut(name, "\x00")
	return strings.FieldsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '[' || r == ']' || r == '.' || r == 0xa0 })
}

// sameHeader reports whether a service may read one header as the other: behind
// gateway interfaces such as CGI and WSGI, a dash is an underscore.
func sameHeader(a, b string) bool {
	dashed := func(s string) string { return strings.ReplaceAll(http.CanonicalHeaderKey(s), "_", "-") }
	return strings.EqualFold(dashed(a), dashed(b))
}

// overridesRequest reports whether some services use a header as another method or path
// for the request. The effect of a GET is known from its method alone.
func overridesRequest(name string) bool {
	switch strings.ToLower(strings.ReplaceAll(name, "_", "-")) {
	case "x-http-method-override", "x-http-method", "x-method-override", "x-original-method", "x-original-url", "x-rewrite-url", "x-original-uri":
		return true
	}
	return false
}
