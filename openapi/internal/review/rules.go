package review

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
	"github.com/tenon-mcp/tenon/openapi/internal/encode"
)

// special checks an object against the rules that the grammar does not express.
func (r *reviewer) special(v document.Value, kind string) {
	switch kind {
	case "Schema":
		r.schema(v)
	case "Parameter":
		r.parameter(v)
	case "SecurityScheme":
		r.scheme(v)
	case "{Response}":
		r.statuses(v)
	case "[Requirement]":
		r.requirements(v)
	}
}

// oneOfWords adds an issue if a string is not one of the words.
func (r *reviewer) oneOfWords(v document.Value, key string, words ...string) {
	got := v.Get(key)
	if got.Kind() != rawjson.String || slices.Contains(words, got.Str()) {
		return
	}
	defer r.enter(key)()
	r.at(got, SeverityError, "value", fmt.Sprintf("%s is %q", key, got.Str()), "use "+strings.Join(words, ", "))
}

func (r *reviewer) schema(v document.Value) {
	types := []string{"string", "number", "integer", "boolean", "array", "object"}
	switch {
	case r.doc.Version == document.V20:
		types = append(types, "file")
	case !r.doc.Legacy():
		types = append(types, "null")
	}
	r.oneOfWords(v, "type", types...)
	if pattern := v.Get("pattern"); pattern.Kind() == rawjson.String {
		if _, err := regexp.Compile(pattern.Str()); err != nil && !strings.Contains(pattern.Str(), "(?") && !strings.Contains(pattern.Str(), `\p`) {
			leave := r.enter("pattern")
			r.at(pattern, SeverityWarning, "pattern", fmt.Sprintf("the pattern %.80q is not portable", pattern.Str()), "use only syntax that ECMA-262 and RE2 have in common")
			leave()
		}
	}
	if enum := v.Get("enum"); enum.Kind() == rawjson.Array {
		r.enum(v, enum)
	}
	r.limits(v)
}

// limits checks the constraints of a schema.
func (r *reviewer) limits(v document.Value) {
	if r.doc.Legacy() && v.StrAt("type") == "array" && !v.Get("items").OK() && !v.Get("$ref").OK() {
		r.at(v, SeverityError, "missing", "the list has no items", "add items; {} allows any value")
	}
	for _, what := range []string{"Length", "Items", "Properties", "imum"} {
		low, high := "min"+what, "max"+what
		from, err1 := strconv.ParseFloat(string(v.Get(low).Raw()), 64)
		to, err2 := strconv.ParseFloat(string(v.Get(high).Raw()), 64)
		if err1 == nil && err2 == nil && from > to {
			r.at(v, SeverityError, "range", fmt.Sprintf("%s is above %s: no value is valid", low, high), "")
		}
	}
	names := map[string]bool{}
	for _, n := range v.Get("required").Each() {
		if n.Kind() == rawjson.String && names[n.Str()] {
			r.at(n, SeverityWarning, "required", fmt.Sprintf("required names %q twice", n.Str()), "")
		}
		names[n.Str()] = true
	}
}

func (r *reviewer) enum(v, enum document.Value) {
	leave := r.enter("enum")
	if enum.Len() == 0 {
		r.at(enum, SeverityWarning, "enum", "the enum is empty: no value is valid", "remove it")
	}
	seen, lists := map[string]bool{}, v.StrAt("type") != "array" || enum.Len() == 0
	for _, e := range enum.Each() {
		lists = lists || e.Kind() == rawjson.Array
		if text := string(e.Raw()); seen[text] {
			r.at(e, SeverityWarning, "enum", fmt.Sprintf("%.80s is in the enum twice", text), "")
		} else {
			seen[text] = true
		}
	}
	if !lists { // the source reads it so where the values fit the items
		r.at(enum, SeverityWarning, "enum", "the enum stands beside type: array and lists no array: no value is valid", "move it into items, whose values it lists")
	}
	leave()
	if d := v.Get("default"); d.OK() && !seen[string(d.Raw())] && d.Kind() != rawjson.Null && v.StrAt("type") != "array" {
		r.at(d, SeverityWarning, "default", fmt.Sprintf("the default %.80s is not in the enum", d.Raw()), "")
	}
}

func (r *reviewer) parameter(v document.Value) {
	if v.Get("$ref").OK() {
		return
	}
	in := v.StrAt("in")
	if r.doc.Version == document.V20 {
		r.oneOfWords(v, "in", "path", "query", "header", "body", "formData")
		switch {
		case in == "body" && !v.Get("schema").OK():
			r.at(v, SeverityError, "missing", "the body has no schema", "add schema")
		case in != "body" && !v.Get("type").OK():
			r.at(v, SeverityError, "missing", "the parameter has no type", "add type")
		}
	} else {
		places := []string{"path", "query", "header", "cookie"}
		if r.doc.Version == document.V32 {
			places = append(places, "querystring")
		}
		r.oneOfWords(v, "in", places...)
		r.oneOfWords(v, "style", encode.StyleNames()...)
		switch s, c := v.Get("schema").OK(), v.Get("content").OK(); {
		case !s && !c:
			r.at(v, SeverityError, "missing", "the parameter has neither schema nor content", "add schema")
		case s && c:
			r.at(v, SeverityError, "parameter", "the parameter has schema and content; only one counts", "remove one of them")
		case c && v.Get("content").Len() != 1:
			r.at(v, SeverityError, "parameter", "the content of a parameter must have exactly one media type", "")
		}
	}
	if in == "path" && !v.IsTrue("required") {
		r.at(v, SeverityError, "path-parameter", fmt.Sprintf("the path parameter %s is not required", v.StrAt("name")), "add required: true")
	}
}

func (r *reviewer) scheme(v document.Value) {
	if v.Get("$ref").OK() {
		return
	}
	needs := map[string][]string{"apiKey": {"name", "in"}, "http": {"scheme"}, "oauth2": {"flows"}, "openIdConnect": {"openIdConnectUrl"}, "mutualTLS": nil}
	if r.doc.Version == document.V20 {
		needs = map[string][]string{"apiKey": {"name", "in"}, "basic": nil, "oauth2": {"flow", "scopes"}}
	}
	r.oneOfWords(v, "type", slices.Sorted(maps.Keys(needs))...)
	for _, must := range needs[v.StrAt("type")] {
		if !v.Get(must).OK() {
			r.at(v, SeverityError, "missing", fmt.Sprintf("the security scheme of type %s has no %s", v.StrAt("type"), must), "add "+must)
		}
	}
}

func (r *reviewer) statuses(v document.Value) {
	if len(r.path) > 0 && r.path[0] == "components" || len(r.path) == 1 {
		return // names, not statuses
	}
	if v.Len() == 0 {
		r.at(v, SeverityError, "responses", "the operation declares no response", "add at least one, or default")
	}
	for key, one := range v.Each() {
		if !isStatusKey(key, r.doc.Version) && !strings.HasPrefix(key, "x-") {
			leave := r.enter(key)
			r.at(one, SeverityError, "responses", fmt.Sprintf("%q is not a status", key), "use 100 to 599, 1XX to 5XX or default")
			leave()
		}
	}
}

func isStatusKey(s string, v document.Version) bool {
	if s == "default" {
		return true
	}
	if len(s) != 3 || s[0] < '1' || s[0] > '5' {
		return false
	}
	return s[1:] == "XX" && v != document.V20 || s[1] >= '0' && s[1] <= '9' && s[2] >= '0' && s[2] <= '9'
}

func (r *reviewer) requirements(v document.Value) {
	schemes := r.doc.Root.Get("components").Get("securitySchemes")
	if r.doc.Version == document.V20 {
		schemes = r.doc.Root.Get("securityDefinitions")
	}
	for _, one := range v.Each() {
		for name, scopes := range one.Each() {
			if schemes.Get(name).OK() || r.doc.Version == document.V32 && strings.ContainsAny(name, "/#") {
				continue
			}
			leave := r.enter(name)
			r.at(scopes, SeverityError, "security", fmt.Sprintf("the security scheme %q is not declared", name), "")
			leave()
		}
	}
}

// operations checks the paths: an operation against its path and against the
// others.
func (r *reviewer) operations() {
	routes := map[string]string{}
	leave := r.enter("paths")
	defer leave()
	for path, v := range r.doc.Root.Get("paths").Each() {
		if strings.HasPrefix(path, "x-") {
			continue
		}
		leave := r.enter(path)
		r.route = path
		r.template(path, v, routes)
		if item, err := r.doc.Deref(v); err == nil {
			for key, node := range item.Each() {
				if m := document.Method(key); m != "" && node.Kind() == rawjson.Object {
					leave := r.enter(key)
					r.method = m
					r.operation(&operation{method: m, path: path, item: item, node: node})
					r.method = ""
					leave()
				}
			}
		}
		r.route = ""
		leave()
	}
}

var inBraces = regexp.MustCompile(`\{[^{}]*\}`)

func (r *reviewer) template(path string, v document.Value, routes map[string]string) {
	if !strings.HasPrefix(path, "/") {
		r.at(v, SeverityError, "path", "the path does not start with /", "")
	}
	if strings.Contains(path, "?") {
		r.at(v, SeverityError, "path", "the path has a query", "declare query parameters")
	}
	same := inBraces.ReplaceAllString(path, "{}")
	if other, taken := routes[same]; taken {
		r.at(v, SeverityError, "path", "the path is equivalent to "+other, "")
	}
	routes[same] = path
	if names := inBraces.FindAllString(path, -1); len(slices.Compact(slices.Sorted(slices.Values(names)))) < len(names) {
		r.at(v, SeverityError, "path", "the path names a parameter twice", "")
	}
}

func (r *reviewer) operation(o *operation) {
	r.report.Operations++
	if id := o.node.Get("operationId"); id.OK() {
		if first, taken := r.ids[id.Str()]; taken {
			leave := r.enter("operationId")
			r.at(id, SeverityError, "operation-id", fmt.Sprintf("the operationId %q is already used in line %d", id.Str(), first.Line()), "give each operation its own")
			leave()
		} else {
			r.ids[id.Str()] = id
		}
	}
	declared := map[string]bool{}
	for _, from := range []document.Value{o.item, o.node} {
		if list, err := r.doc.Deref(from.Get("parameters")); err == nil {
			r.parameters(o, list, declared)
		}
	}
	for _, name := range inBraces.FindAllString(o.path, -1) {
		if name = strings.Trim(name, "{}"); !declared[name] {
			r.at(o.node, SeverityError, "path-parameter", fmt.Sprintf("the parameter %s of the path is not declared", name), "declare it with in: path, required: true")
		}
	}
	if r.options.Lint {
		r.lintOperation(o)
	}
}

// parameters compares the parameters of one list with each other and with the
// path, and adds path parameters to declared.
func (r *reviewer) parameters(o *operation, list document.Value, declared map[string]bool) {
	here := map[string]bool{}
	for _, v := range list.Each() {
		p, err := r.doc.Deref(v)
		if err != nil {
			continue
		}
		in, name := p.StrAt("in"), p.StrAt("name")
		if here[in+" "+name] {
			r.at(v, SeverityError, "parameter", fmt.Sprintf("the %s parameter %s is declared twice", in, name), "")
		}
		here[in+" "+name] = true
		if in == "path" {
			declared[name] = true
			if !strings.Contains(o.path, "{"+name+"}") {
				r.at(v, SeverityError, "path-parameter", fmt.Sprintf("the parameter %s is not in the path", name), "")
			}
		}
		if r.options.Lint {
			r.lintParameter(v, p)
		}
	}
}

// operation is an operation that is reviewed.
type operation struct {
	method, path string
	item, node   document.Value // path item and operation object
}
