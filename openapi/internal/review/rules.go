package openapi

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// special holds an object against the rules that a grammar cannot say.
func (r *reviewer) special(v value, kind string) {
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

// oneOfWords adds an issue where a string is none of the words.
func (r *reviewer) oneOfWords(v value, key string, words ...string) {
	got := v.get(key)
	if got.kind() != rawjson.String || slices.Contains(words, got.str()) {
		return
	}
	defer r.enter(key)()
	r.at(got, SeverityError, "value", fmt.Sprintf("%s is %q", key, got.str()), "use "+strings.Join(words, ", "))
}

func (r *reviewer) schema(v value) {
	types := []string{"string", "number", "integer", "boolean", "array", "object"}
	switch {
	case r.doc.version == v20:
		types = append(types, "file")
	case !r.doc.legacy():
		types = append(types, "null")
	}
	r.oneOfWords(v, "type", types...)
	if pattern := v.get("pattern"); pattern.kind() == rawjson.String {
		if _, err := regexp.Compile(pattern.str()); err != nil && !strings.Contains(pattern.str(), "(?") && !strings.Contains(pattern.str(), `\p`) {
			leave := r.enter("pattern")
			r.at(pattern, SeverityWarning, "pattern", fmt.Sprintf("the pattern %.80q is not understood everywhere", pattern.str()), "use only what ECMA-262 and RE2 have in common")
			leave()
		}
	}
	if enum := v.get("enum"); enum.kind() == rawjson.Array {
		r.enum(v, enum)
	}
	r.limits(v)
}

// limits looks at what a schema demands of its values.
func (r *reviewer) limits(v value) {
	if r.doc.legacy() && v.strAt("type") == "array" && !v.get("items").ok() && !v.get("$ref").ok() {
		r.at(v, SeverityError, "missing", "the list has no items", "add items, {} for anything")
	}
	for _, what := range []string{"Length", "Items", "Properties", "imum"} {
		low, high := "min"+what, "max"+what
		from, err1 := strconv.ParseFloat(string(v.get(low).raw()), 64)
		to, err2 := strconv.ParseFloat(string(v.get(high).raw()), 64)
		if err1 == nil && err2 == nil && from > to {
			r.at(v, SeverityError, "range", fmt.Sprintf("%s is above %s: nothing fits", low, high), "")
		}
	}
	names := map[string]bool{}
	for _, n := range v.get("required").each() {
		if n.kind() == rawjson.String && names[n.str()] {
			r.at(n, SeverityWarning, "required", fmt.Sprintf("required names %q twice", n.str()), "")
		}
		names[n.str()] = true
	}
}

func (r *reviewer) enum(v, enum value) {
	leave := r.enter("enum")
	if enum.len() == 0 {
		r.at(enum, SeverityWarning, "enum", "the enum is empty: nothing fits", "leave it out")
	}
	seen := map[string]bool{}
	for _, e := range enum.each() {
		if text := string(e.raw()); seen[text] {
			r.at(e, SeverityWarning, "enum", fmt.Sprintf("%.80s stands in the enum twice", text), "")
		} else {
			seen[text] = true
		}
	}
	leave()
	if d := v.get("default"); d.ok() && !seen[string(d.raw())] && d.kind() != rawjson.Null && v.strAt("type") != "array" {
		r.at(d, SeverityWarning, "default", fmt.Sprintf("the default %.80s is not in the enum", d.raw()), "")
	}
}

func (r *reviewer) parameter(v value) {
	if v.get("$ref").ok() {
		return
	}
	in := v.strAt("in")
	if r.doc.version == v20 {
		r.oneOfWords(v, "in", "path", "query", "header", "body", "formData")
		switch {
		case in == "body" && !v.get("schema").ok():
			r.at(v, SeverityError, "missing", "the body has no schema", "add schema")
		case in != "body" && !v.get("type").ok():
			r.at(v, SeverityError, "missing", "the parameter has no type", "add type")
		}
	} else {
		places := []string{"path", "query", "header", "cookie"}
		if r.doc.version == v32 {
			places = append(places, "querystring")
		}
		r.oneOfWords(v, "in", places...)
		r.oneOfWords(v, "style", "matrix", "label", "simple", "form", "spaceDelimited", "pipeDelimited", "deepObject", "cookie")
		switch s, c := v.get("schema").ok(), v.get("content").ok(); {
		case !s && !c:
			r.at(v, SeverityError, "missing", "the parameter has neither schema nor content", "add schema")
		case s && c:
			r.at(v, SeverityError, "parameter", "the parameter has schema and content; only one counts", "leave one of them out")
		case c && v.get("content").len() != 1:
			r.at(v, SeverityError, "parameter", "the content of a parameter holds exactly one media type", "")
		}
	}
	if in == "path" && !v.isTrue("required") {
		r.at(v, SeverityError, "path-parameter", fmt.Sprintf("the path parameter %s is not required", v.strAt("name")), "add required: true")
	}
}

func (r *reviewer) scheme(v value) {
	if v.get("$ref").ok() {
		return
	}
	needs := map[string][]string{"apiKey": {"name", "in"}, "http": {"scheme"}, "oauth2": {"flows"}, "openIdConnect": {"openIdConnectUrl"}, "mutualTLS": nil}
	if r.doc.version == v20 {
		needs = map[string][]string{"apiKey": {"name", "in"}, "basic": nil, "oauth2": {"flow", "scopes"}}
	}
	r.oneOfWords(v, "type", slices.Sorted(maps.Keys(needs))...)
	for _, must := range needs[v.strAt("type")] {
		if !v.get(must).ok() {
			r.at(v, SeverityError, "missing", fmt.Sprintf("the security scheme of type %s has no %s", v.strAt("type"), must), "add "+must)
		}
	}
}

func (r *reviewer) statuses(v value) {
	if len(r.path) > 0 && r.path[0] == "components" || len(r.path) == 1 {
		return // names, not statuses
	}
	if v.len() == 0 {
		r.at(v, SeverityError, "responses", "the operation declares no answer", "add at least one, or default")
	}
	for key, one := range v.each() {
		if !isStatusKey(key, r.doc.version) && !strings.HasPrefix(key, "x-") {
			leave := r.enter(key)
			r.at(one, SeverityError, "responses", fmt.Sprintf("%q is no status", key), "use 100 to 599, 1XX to 5XX or default")
			leave()
		}
	}
}

func isStatusKey(s string, v version) bool {
	if s == "default" {
		return true
	}
	if len(s) != 3 || s[0] < '1' || s[0] > '5' {
		return false
	}
	return s[1:] == "XX" && v != v20 || s[1] >= '0' && s[1] <= '9' && s[2] >= '0' && s[2] <= '9'
}

func (r *reviewer) requirements(v value) {
	schemes := r.doc.root.get("components").get("securitySchemes")
	if r.doc.version == v20 {
		schemes = r.doc.root.get("securityDefinitions")
	}
	for _, one := range v.each() {
		for name, scopes := range one.each() {
			if schemes.get(name).ok() || r.doc.version == v32 && strings.ContainsAny(name, "/#") {
				continue
			}
			leave := r.enter(name)
			r.at(scopes, SeverityError, "security", fmt.Sprintf("there is no security scheme %q", name), "")
			leave()
		}
	}
}

// operations goes over the paths: what is wrong between an operation, its path
// and the others.
func (r *reviewer) operations(o Options) {
	routes := map[string]string{}
	a := &api{doc: r.doc, options: o, choice: &chooser{}}
	leave := r.enter("paths")
	defer leave()
	for path, v := range r.doc.root.get("paths").each() {
		if strings.HasPrefix(path, "x-") {
			continue
		}
		leave := r.enter(path)
		r.route = path
		r.template(path, v, routes)
		if item, err := r.doc.deref(v); err == nil {
			for key, node := range item.each() {
				if m := method(key); m != "" && node.kind() == rawjson.Object {
					leave := r.enter(key)
					r.method = m
					r.operation(&operation{api: a, method: m, path: path, item: item, node: node})
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

func (r *reviewer) template(path string, v value, routes map[string]string) {
	if !strings.HasPrefix(path, "/") {
		r.at(v, SeverityError, "path", "the path does not begin with /", "")
	}
	if strings.Contains(path, "?") {
		r.at(v, SeverityError, "path", "the path has a query", "declare query parameters")
	}
	same := inBraces.ReplaceAllString(path, "{}")
	if other, taken := routes[same]; taken {
		r.at(v, SeverityError, "path", "the path means the same as "+other, "")
	}
	routes[same] = path
	if names := inBraces.FindAllString(path, -1); len(slices.Compact(slices.Sorted(slices.Values(names)))) < len(names) {
		r.at(v, SeverityError, "path", "the path names a parameter twice", "")
	}
}

func (r *reviewer) operation(o *operation) {
	r.report.Operations++
	if id := o.node.get("operationId"); id.ok() {
		if first, taken := r.ids[id.str()]; taken {
			leave := r.enter("operationId")
			r.at(id, SeverityError, "operation-id", fmt.Sprintf("the operationId %q is taken since line %d", id.str(), first.line()), "give each operation its own")
			leave()
		} else {
			r.ids[id.str()] = id
		}
	}
	declared := map[string]bool{}
	for _, from := range []value{o.item, o.node} {
		if list, err := r.doc.deref(from.get("parameters")); err == nil {
			r.parameters(o, list, declared)
		}
	}
	for _, name := range inBraces.FindAllString(o.path, -1) {
		if name = strings.Trim(name, "{}"); !declared[name] {
			r.at(o.node, SeverityError, "path-parameter", fmt.Sprintf("the parameter %s of the path is not declared", name), "declare it: in: path, required: true")
		}
	}
	if r.lint {
		r.lintOperation(o)
	}
}

// parameters compares the parameters of one list with each other and with the
// path, and adds those of the path to declared.
func (r *reviewer) parameters(o *operation, list value, declared map[string]bool) {
	here := map[string]bool{}
	for _, v := range list.each() {
		p, err := r.doc.deref(v)
		if err != nil {
			continue
		}
		in, name := p.strAt("in"), p.strAt("name")
		if here[in+" "+name] {
			r.at(v, SeverityError, "parameter", fmt.Sprintf("the %s parameter %s is declared twice", in, name), "")
		}
		here[in+" "+name] = true
		if in == "path" {
			declared[name] = true
			if !strings.Contains(o.path, "{"+name+"}") {
				r.at(v, SeverityError, "path-parameter", fmt.Sprintf("the path has no place for the parameter %s", name), "")
			}
		}
		if r.lint {
			r.lintParameter(v, p)
		}
	}
}
