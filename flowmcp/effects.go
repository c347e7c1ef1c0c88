package flowmcp

import (
	"net/http"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// What a tool does to the things behind it is read from its declaration, and
// its handlers may send no more than that. So its hints, the consent that is
// asked and what is said of a retry are true, whatever the code does.

// readOnly tells by the MCP block, else by the method. A block that calls a PUT
// or a DELETE a read is not believed.
func (t *route) readOnly() bool {
	if t.handled && t.writes || t.replaces() {
		return false
	}
	if v := t.meta.get("isReadOnly"); v.is(boolKind) {
		return v.yes()
	}
	return t.method == http.MethodGet || t.reads
}

func (t *route) replaces() bool {
	return t.method == http.MethodPut || t.method == http.MethodDelete
}

// repeatable reports whether a second call does what the first one did.
func (t *route) repeatable() bool { return t.replaces() && (!t.handled || !t.sendsAny()) }

// sendsAny reports whether handlers of the tool may use every method: people
// are asked before it runs.
func (t *route) sendsAny() bool { return t.writes || t.meta.get("isDestructive").yes() }

func isSafe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// reading reports whether a request of the tool's handlers that maySend lets
// pass counts as a read. The GET of a tool that is marked as changing something
// does not.
func (t *route) reading(method string) bool {
	if t.readOnly() {
		return true
	}
	marked := t.meta.get("isReadOnly")
	return isSafe(method) && (t.method != http.MethodGet || !marked.is(boolKind) || marked.yes())
}

// maySend reports whether handlers of the tool may use a method.
func (t *route) maySend(method string) bool {
	switch {
	case isSafe(method):
		return true
	case method == http.MethodConnect || method == http.MethodTrace:
		return false
	case t.readOnly():
		return method == http.MethodPost && (t.reads || t.meta.get("isReadOnly").yes())
	case t.sendsAny() || method == t.method:
		return true
	}
	return method == http.MethodPost && !t.replaces() // not repeatable, as the tool
}

// mayEverSend refuses a request that does more than the tool declares, also
// where a header names another method than the request line.
func (t *route) mayEverSend(method string, h http.Header) error {
	methods := []string{method}
	for _, name := range []string{"X-Http-Method-Override", "X-Http-Method", "X-Method-Override"} {
		for _, v := range h.Values(name) {
			methods = append(methods, strings.ToUpper(strings.TrimSpace(v)))
		}
	}
	for _, m := range methods {
		if t.maySend(m) {
			continue
		}
		what := "the tool declares " + t.method
		if t.readOnly() {
			what = "the tool is declared to read only"
		}
		allow := "handler-writes " + t.id()
		if t.readOnly() && m == http.MethodPost {
			allow = "handler-reads " + t.id() + " if it only reads, else " + allow
		}
		return &tenon.Error{Code: tenon.CodeAuthorization, Message: "a handler wanted to send " + clipText(m) + ", and " + what + "; the operator can allow it: " + allow}
	}
	return nil
}

// namedIn reports whether names has the tool, its file or its namespace.
func (t *route) namedIn(names []string) bool {
	id := t.id()
	of, _, _ := strings.Cut(id, "::")
	return slices.Contains(names, id) || slices.Contains(names, of) || slices.Contains(names, t.file.namespace)
}

// appendDeclared appends the names in the payload of executeRequest that the
// tool's own arguments have: a parameter or a test case gives them.
func (t *route) appendDeclared(dst []byte) []byte {
	declared := func(name string) bool {
		return slices.ContainsFunc(t.parameters, func(p *parameter) bool { return slices.Contains(p.arguments(), name) }) ||
			slices.ContainsFunc(t.tests.list(), func(test *node) bool { return test.get(name).there() })
	}
	dst = append(dst, '[')
	for _, name := range []string{"url", "method", "headers", "body", "userParams", "serverParams"} {
		if !declared(name) {
			continue
		}
		if dst[len(dst)-1] != '[' {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendString(dst, name)
	}
	return append(dst, ']')
}
