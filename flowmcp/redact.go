package flowmcp

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp/internal/format"
	"github.com/tenon-mcp/tenon/flowmcp/internal/module"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/redact"
)

// minSecret is the length from which a server parameter is redacted everywhere
// in a response. Shorter values would match by chance, see redactShort.
const minSecret = 8

// redactUpstream is hide for a response that is passed to a handler.
func (t tool) redactUpstream(res *egress.Response, env func(string) (string, bool)) {
	r := tenon.Response{Header: res.Header, Body: res.Body, MediaType: res.Header.Get("Content-Type")}
	t.redact(&r, env)
	res.Body = r.Body
}

// redact redacts the values of the file's server parameters in a response. Some
// upstreams repeat the request's address in an error, a link to the next page
// or a header, and everything in a response reaches the caller.
func (t tool) redact(r *tenon.Response, env func(string) (string, bool)) {
	t.redactLong(r, env)
	for _, name := range t.File.Main.Get("requiredServerParams").Strings() {
		if value, ok := env(name); ok && value != "" && isShort(value) {
			t.redactShort(r, name, value, maskFor(name))
		}
	}
}

func maskFor(name string) string { return "{{" + format.ServerPrefix + name + "}}" }

// isShort reports whether a value can occur in a response by chance.
func isShort(value string) bool {
	return len(value) < minSecret || strings.Trim(value, "0123456789.-") == ""
}

// redactLong is hide for values that cannot occur by chance.
func (t tool) redactLong(r *tenon.Response, env func(string) (string, bool)) {
	for _, name := range t.File.Main.Get("requiredServerParams").Strings() {
		value, ok := env(name)
		if !ok || isShort(value) {
			continue
		}
		found := redact.For(value)
		if !strings.HasPrefix(r.MediaType, "image/") {
			r.Body = found.Replace(r.Body, maskFor(name))
		}
		for _, values := range r.Header {
			for i := range values {
				values[i] = string(found.Replace([]byte(values[i]), maskFor(name)))
			}
		}
	}
}

// redactShort redacts a value that is short or numeric where it follows the name
// under which it was sent: as a member of JSON, a field of a form or query, or
// a header. Elsewhere a match would be a coincidence.
func (t tool) redactShort(r *tenon.Response, name, value, mask string) {
	for _, field := range t.fieldNames(name) {
		quoted, v := regexp.QuoteMeta(field), regexp.QuoteMeta(value)
		for form, hidden := range map[string]string{
			`(?i:("` + quoted + `"\s*:\s*\[?\s*"))` + v + `(")`:                    mask,
			`(?i:("` + quoted + `"\s*:\s*\[?\s*))` + v + `(\s*[,}\]])`:             `"` + mask + `"`, // a number
			`(?i:((?:^|[^\w-])` + quoted + `(?:=|: ?)))` + v + `([&#;"'<>\\\s]|$)`: mask,
		} {
			if found, err := regexp.Compile(form); err == nil {
				replaceIn(r, found, "${1}"+strings.ReplaceAll(hidden, "$", "$$")+"${2}")
			}
		}
		for i, v := range r.Header[http.CanonicalHeaderKey(field)] {
			if v == value {
				r.Header[http.CanonicalHeaderKey(field)][i] = mask
			}
		}
	}
}

// replaceIn replaces in the body of a response and in its headers.
func replaceIn(r *tenon.Response, found *regexp.Regexp, with string) {
	if !isPicture(r.MediaType) && found.Match(r.Body) { // avoids a copy
		r.Body = found.ReplaceAll(r.Body, []byte(with))
	}
	for _, values := range r.Header {
		for i := range values {
			values[i] = found.ReplaceAllString(values[i], with)
		}
	}
}

// fieldNames returns the field names under which the file sends a server parameter,
// and the parameter's own name.
func (t tool) fieldNames(name string) []string {
	names := []string{name}
	for _, p := range t.Parameters {
		for _, x := range p.Pieces {
			if x.Kind == format.ServerPiece && x.Text == name {
				names = append(names, p.Key)
			}
		}
	}
	for _, set := range []*module.Node{t.File.Main.Get("headers"), t.Headers} {
		set.Members(func(header string, value *module.Node) {
			for _, x := range format.SplitValue(value.Str(), t.File.ServerParams, func(string) string { return "" }) {
				if x.Kind == format.ServerPiece && x.Text == name {
					names = append(names, header)
				}
			}
		})
	}
	return names
}
