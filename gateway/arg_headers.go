package gateway

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

const (
	headerKey       = "x-mcp-header"
	maxHeadersNamed = 8 // arguments that a diagnostic suggests
)

// bindHeaders adds x-mcp-header to the arguments in the published input schema
// for which the operator configured a header: clients repeat them there, for
// proxies that route by them. A header that is impossible is a diagnostic.
func (e *Tool) bindHeaders(input []byte) []byte {
	if len(e.tool.ArgumentHeaders) == 0 {
		return input
	}
	doc, err := rawjson.Parse(input)
	if err != nil {
		return input // reported elsewhere as a schema that is invalid JSON
	}
	h := argumentHeaders{doc: doc, properties: doc.Get(doc.Root(), "properties"), taken: map[string]string{}, marks: map[rawjson.Node]string{}}
	for p := doc.First(h.properties); p != rawjson.None; p = doc.Next(p) {
		if own := doc.Str(doc.Get(p, headerKey)); own != "" {
			h.taken[strings.ToLower(own)] = doc.Key(p)
		}
	}
	for _, a := range e.tool.ArgumentHeaders {
		pointer := e.names.Pointer("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(a.Argument))
		name := strings.NewReplacer("~1", "/", "~0", "~").Replace(pointer[1:])
		if wrong := h.bind(name, a.Header); wrong != "" {
			d := diagnosticAt(&e.tool, fmt.Sprintf("the header %s cannot repeat the argument %q: %s", a.Header, a.Argument, wrong))
			d.Kind = tenon.DiagnosticHeader
			e.diagnostics = append(e.diagnostics, d)
		}
	}
	return h.marked(input)
}

// argumentHeaders collects the headers of one input schema.
type argumentHeaders struct {
	doc        *rawjson.Doc
	properties rawjson.Node
	taken      map[string]string // arguments by their headers in lower case
	marks      map[rawjson.Node]string
}

// bind adds a header to an argument, or returns why that is impossible.
func (h *argumentHeaders) bind(argument, header string) (wrong string) {
	p := h.doc.Get(h.properties, argument)
	other, taken := h.taken[strings.ToLower(header)]
	switch kind := h.primitive(p); {
	case p == rawjson.None:
		return "the tool has no such argument" + h.candidates()
	case kind == "":
		return "only string, integer and boolean fit into one" + h.candidates()
	case taken:
		return fmt.Sprintf("it repeats %q, and one header is for one argument", other)
	case h.doc.Get(p, headerKey) != rawjson.None || h.marks[p] != "":
		return "the argument has a header"
	default:
		h.taken[strings.ToLower(header)] = argument
		mark := string(rawjson.AppendString([]byte(`"`+headerKey+`":`), header))
		if h.doc.Get(p, "type") == rawjson.None { // clients expect it beside x-mcp-header
			mark = `"type":"` + kind + `",` + mark
		}
		h.marks[p] = mark
		return ""
	}
}

// primitive returns the type of the schema at n, or of the schema it refers to,
// if a header can carry its values, else the empty string.
func (h *argumentHeaders) primitive(n rawjson.Node) string {
	for range 16 {
		switch t := h.doc.Get(n, "type"); {
		case t != rawjson.None:
			if kind := h.doc.Str(t); slices.Contains([]string{"string", "integer", "boolean"}, kind) {
				return kind
			}
			return ""
		case !bytes.HasPrefix([]byte(h.doc.Str(h.doc.Get(n, "$ref"))), []byte("#/")):
			return ""
		}
		n = h.doc.Pointer(h.doc.Str(h.doc.Get(n, "$ref"))[1:])
	}
	return ""
}

// candidates returns the arguments that a header can carry.
func (h *argumentHeaders) candidates() string {
	var names []string
	for p := h.doc.First(h.properties); p != rawjson.None && len(names) < maxHeadersNamed; p = h.doc.Next(p) {
		if h.primitive(p) != "" && h.doc.Get(p, headerKey) == rawjson.None {
			names = append(names, h.doc.Key(p))
		}
	}
	if names == nil {
		return "; it has none that fits into a header"
	}
	return "; there is " + strings.Join(names, ", ")
}

// marked returns the input schema with x-mcp-header added.
func (h *argumentHeaders) marked(input []byte) []byte {
	var nodes []rawjson.Node
	for n := range h.marks {
		nodes = append(nodes, n)
	}
	slices.SortFunc(nodes, func(a, b rawjson.Node) int { return cmp.Compare(h.doc.Offset(a), h.doc.Offset(b)) })
	var out []byte
	from := 0
	for _, n := range nodes {
		at := h.doc.Offset(n) + 1 // after the brace; the object has a type or a $ref, so a comma follows
		out = append(append(append(out, input[from:at]...), h.marks[n]...), ',')
		from = at
	}
	return append(out, input[from:]...)
}
