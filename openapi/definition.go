package openapi

import (
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
)

// definitionAt finds where the document has a schema in a definition of a response. It
// implements [tenon.DefinitionAt].
func (a *api) definitionAt(pointer string) tenon.Diagnostic {
	pointer, ok := strings.CutPrefix(pointer, "/$defs/")
	if !ok {
		return tenon.Diagnostic{}
	}
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	name, rest, more := strings.Cut(pointer, "/")
	v := a.schemas.Described(unescape.Replace(name))
	if !v.OK() {
		return tenon.Diagnostic{}
	}
	for more {
		var token string
		token, rest, more = strings.Cut(rest, "/")
		next := step(v, unescape.Replace(token))
		if !next.OK() { // it was made by conversion: what it was made from is near
			break
		}
		v = next
	}
	return a.doc.Diagnostic(v, "", "")
}

// step returns a member or an element.
func step(v document.Value, token string) document.Value {
	if v.Kind() == rawjson.Object {
		return v.Get(token)
	}
	i := 0
	for _, next := range v.Each() {
		if strconv.Itoa(i) == token {
			return next
		}
		i++
	}
	return document.Value{}
}
