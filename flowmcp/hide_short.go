package flowmcp

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/tenon-mcp/tenon"
)

// hideShort takes a value that is short, or only digits, out of an answer where
// it stands under the name under which it was sent: as a member of JSON, a field
// of a form or a query, or a header. Elsewhere it would stand by chance.
func (t *route) hideShort(r *tenon.Response, name, value, mask string) {
	for _, field := range t.sentAs(name) {
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

// replaceIn replaces in the text of a response and in its headers.
func replaceIn(r *tenon.Response, found *regexp.Regexp, with string) {
	if !isPicture(r.MediaType) && found.Match(r.Body) { // replacing copies
		r.Body = found.ReplaceAll(r.Body, []byte(with))
	}
	for _, values := range r.Header {
		for i := range values {
			values[i] = found.ReplaceAllString(values[i], with)
		}
	}
}

// sentAs are the names of the fields that the file sends a server parameter in,
// and the parameter's own.
func (t *route) sentAs(name string) []string {
	names := []string{name}
	for _, p := range t.parameters {
		for _, x := range p.pieces {
			if x.kind == serverPiece && x.text == name {
				names = append(names, p.key)
			}
		}
	}
	for _, set := range []*node{t.file.main.get("headers"), t.headers} {
		set.members(func(header string, value *node) {
			for _, x := range splitValue(value.str(), t.file.server, func(string) string { return "" }) {
				if x.kind == serverPiece && x.text == name {
					names = append(names, header)
				}
			}
		})
	}
	return names
}
