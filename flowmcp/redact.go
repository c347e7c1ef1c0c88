package flowmcp

import (
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/egress"
)

// minSecret is how long a server parameter must be to be looked for everywhere
// in an answer: a short one would stand there by chance, see hideShort.
const minSecret = 8

// hideAnswer is hide for an answer that goes to a handler.
func (t *route) hideAnswer(res *egress.Response, env func(string) (string, bool)) {
	r := tenon.Response{Header: res.Header, Body: res.Body, MediaType: res.Header.Get("Content-Type")}
	t.hide(&r, env)
	res.Body = r.Body
}

// hide takes the values of the file's server parameters out of an answer. Some
// upstreams repeat the request's address in an error, a link to the next page
// or a header, and everything in an answer reaches the caller.
func (t *route) hide(r *tenon.Response, env func(string) (string, bool)) {
	t.hideLong(r, env)
	for _, name := range t.file.main.get("requiredServerParams").strs() {
		if value, ok := env(name); ok && value != "" && isShort(value) {
			t.hideShort(r, name, value, maskOf(name))
		}
	}
}

func maskOf(name string) string { return "{{" + serverMark + name + "}}" }

// isShort tells the values that stand in an answer by chance.
func isShort(value string) bool {
	return len(value) < minSecret || strings.Trim(value, "0123456789.-") == ""
}

// hideLong is hide for the values that cannot stand there by chance.
func (t *route) hideLong(r *tenon.Response, env func(string) (string, bool)) {
	for _, name := range t.file.main.get("requiredServerParams").strs() {
		value, ok := env(name)
		if !ok || isShort(value) {
			continue
		}
		found := spellingsOf(value)
		if !strings.HasPrefix(r.MediaType, "image/") {
			r.Body = found.replace(r.Body, maskOf(name))
		}
		for _, values := range r.Header {
			for i := range values {
				values[i] = string(found.replace([]byte(values[i]), maskOf(name)))
			}
		}
	}
}
