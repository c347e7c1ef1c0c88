package format

import (
	"net/http"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp/internal/module"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// ReadOnly uses the MCP block, else the method. A block cannot make PUT or
// DELETE read-only.
func (t *Tool) ReadOnly() bool {
	if t.Handled && t.Writes || t.replaces() {
		return false
	}
	if v := t.Meta.Get("isReadOnly"); v.Is(module.Bool) {
		return v.IsTrue()
	}
	return t.Method == http.MethodGet || t.ReadsOnly
}

func (t *Tool) replaces() bool {
	return t.Method == http.MethodPut || t.Method == http.MethodDelete
}

// Idempotent reports whether the call is idempotent.
func (t *Tool) Idempotent() bool { return t.replaces() && (!t.Handled || !t.SendsAny()) }

// SendsAny reports whether handlers of the tool may use any method; such tools
// require confirmation.
func (t *Tool) SendsAny() bool { return t.Writes || t.Meta.Get("isDestructive").IsTrue() }

func isSafeMethod(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// IsRead reports whether an allowed request of the tool's handlers counts as a
// read. The GET of a tool that is marked as not read-only does not.
func (t *Tool) IsRead(method string) bool {
	if t.ReadOnly() {
		return true
	}
	marked := t.Meta.Get("isReadOnly")
	return isSafeMethod(method) && (t.Method != http.MethodGet || !marked.Is(module.Bool) || marked.IsTrue())
}

// MaySend reports whether handlers of the tool may use a method.
func (t *Tool) MaySend(method string) bool {
	switch {
	case isSafeMethod(method):
		return true
	case method == http.MethodConnect || method == http.MethodTrace:
		return false
	case t.ReadOnly():
		return method == http.MethodPost && (t.ReadsOnly || t.Meta.Get("isReadOnly").IsTrue())
	case t.SendsAny() || method == t.Method:
		return true
	}
	return method == http.MethodPost && !t.replaces() // as little idempotent as the tool itself
}

// namedIn reports whether names contains the tool, its file or its namespace.
func (t *Tool) namedIn(names []string) bool {
	id := t.ID()
	of, _, _ := strings.Cut(id, "::")
	return slices.Contains(names, id) || slices.Contains(names, of) || slices.Contains(names, t.File.Namespace)
}

// InputSchema writes the schema of the arguments a caller passes. Fixed values and
// server parameters are not exposed. Additional properties are rejected, so
// that typing errors are reported, unless the tool accepts them.
func (t *Tool) InputSchema() []byte {
	var order []string
	properties := map[string][]byte{}
	required := map[string]bool{}
	for _, p := range t.Parameters {
		for _, name := range p.Arguments() {
			if properties[name] == nil {
				order = append(order, name)
				properties[name] = p.AppendSchema(nil)
			}
			if !p.Type.Optional {
				required[name] = true
			}
		}
	}
	dst := []byte(`{"type":"object","properties":{`)
	for i, key := range order {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendString(dst, key)
		dst = append(dst, ':')
		dst = append(dst, properties[key]...)
	}
	dst = append(dst, '}')
	dst = appendRequired(dst, order, required)
	if t.AcceptsMore {
		return append(dst, '}')
	}
	return append(dst, `,"additionalProperties":false}`...)
}

func appendRequired(dst []byte, order []string, required map[string]bool) []byte {
	separator := `,"required":[`
	for _, key := range order {
		if required[key] {
			dst = append(dst, separator...)
			dst = rawjson.AppendString(dst, key)
			separator = ","
		}
	}
	if len(required) > 0 {
		dst = append(dst, ']')
	}
	return dst
}

// AppendSchema writes the JSON Schema of the parameter.
func (p *Parameter) AppendSchema(dst []byte) []byte {
	dst = p.Type.AppendSchema(dst)
	if p.Description != "" {
		dst = append(dst, `,"description":`...)
		dst = rawjson.AppendString(dst, p.Description)
	}
	if p.Type.Default != nil && p.Type.Accepts(p.Type.Default) {
		dst = append(dst, `,"default":`...)
		dst = append(dst, p.Type.Default...)
	}
	return append(dst, '}')
}

// Response returns the declared response, or nil where none is declared or the
// declaration is unusable.
func (t *Tool) Response() *tenon.ResponseSchema {
	mime := OutputMediaType(t.Output)
	root := t.Output.Get("schema")
	if RootTypes(mime) == nil || !root.Is(module.Object) {
		return nil
	}
	status := "2XX"
	if t.Local {
		status = ""
	}
	return &tenon.ResponseSchema{Status: status, MediaType: mime, Schema: appendOutput(nil, root, 0)}
}

// MaxNesting limits the depth of a translated output schema.
const MaxNesting = 64

// appendOutput translates one node of an output schema. Nothing is required and
// additional properties are allowed, as the page specifies. The keyword format
// is moved into the description, because clients would assert it.
func appendOutput(dst []byte, n *module.Node, depth int) []byte {
	kind := n.Get("type").Str()
	if !n.Is(module.Object) || depth > MaxNesting || !IsOutputType(kind) && kind != "integer" {
		return append(dst, "{}"...)
	}
	nullable := n.Get("nullable").IsTrue()
	dst = append(dst, `{"type":`...)
	if nullable {
		dst = append(dst, `["`+kind+`","null"]`...)
	} else {
		dst = append(dst, `"`+kind+`"`...)
	}
	dst = appendNote(dst, n)
	if members := n.Get("enum"); len(members.List()) > 0 {
		dst = append(dst, `,"enum":`...)
		dst = withNull(members, nullable).AppendJSON(dst)
	}
	if p := n.Get("properties"); kind == "object" && p.Is(module.Object) {
		dst = append(dst, `,"properties":{`...)
		for i, key := range p.Keys {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = rawjson.AppendString(dst, key)
			dst = append(dst, ':')
			dst = appendOutput(dst, p.Items[i], depth+1)
		}
		dst = append(dst, '}')
	}
	if items := n.Get("items"); kind == "array" && items.Is(module.Object) {
		dst = append(dst, `,"items":`...)
		dst = appendOutput(dst, items, depth+1)
	}
	return append(dst, '}')
}

func appendNote(dst []byte, n *module.Node) []byte {
	text := n.Get("description").Str()
	if format := n.Get("format").Str(); format != "" {
		if text != "" {
			text += " "
		}
		text += "(format: " + format + ")"
	}
	if text == "" {
		return dst
	}
	dst = append(dst, `,"description":`...)
	return rawjson.AppendString(dst, text)
}

func withNull(members *module.Node, nullable bool) *module.Node {
	if !nullable {
		return members
	}
	for _, m := range members.Items {
		if m.Is(module.Null) {
			return members
		}
	}
	return &module.Node{Kind: module.Array, Items: append(slices.Clip(members.Items), &module.Node{Kind: module.Null})}
}
