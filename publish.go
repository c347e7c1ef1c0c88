package tenon

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

// anyObject is the input schema of a tool that describes none.
const anyObject = `{"type":"object"}`

// binarySchema describes what stands in the place of an image, a sound or
// other binary data: the bytes are in the content block of that index.
const binarySchema = `{"type":"object","properties":{` +
	`"mimeType":{"type":"string"},"bytes":{"type":"integer"},"sha256":{"type":"string"},` +
	`"block":{"type":"integer","description":"index of the content block that holds the bytes"}},` +
	`"required":["mimeType","bytes","sha256","block"]}`

// render makes the definition that clients read, and makes sure that it is
// safe: one bad schema makes some clients drop the whole list.
func (e *Entry) render() {
	published, faults := e.tool.promised().Published()
	e.faults = faults
	e.input = e.safe("input", published.Input, anyObject)
	if output := e.publishedOutput(published); output != nil {
		e.output = e.safe("output", output, "")
	}
	e.definition = appendDefinition(nil, &e.tool, e.input, e.output)
}

// safe returns doc as clients can read it, or fallback where that cannot be
// had; empty means that the schema is left out.
func (e *Entry) safe(which string, doc []byte, fallback string) []byte {
	if doc == nil {
		return []byte(fallback)
	}
	if e.tool.Verbatim {
		return doc
	}
	safe, changes := schema.ClientSafe(doc)
	for _, c := range changes {
		what := which + " schema: " + c.What
		if c.Path != "" {
			what += " at " + c.Path
		}
		e.faults = append(e.faults, e.tool.fault(what))
	}
	if safe != nil {
		return safe
	}
	e.faults = append(e.faults, e.tool.fault("the "+which+" schema cannot be made safe for clients and is not published"))
	if fallback == "" {
		return nil
	}
	return []byte(fallback)
}

// publishedOutput is the output schema for the tool's policy and shape; nil:
// none is published.
func (e *Entry) publishedOutput(c Contract) []byte {
	ok := successes(c.Answers)
	if e.tool.Shape == OpenAPIMCP && e.tool.Policy != Off {
		return publishOpenAPIMCP(e.tool.Policy, ok)
	}
	if e.tool.Policy == Off {
		return nil
	}
	if e.tool.Shape == FlowMCP {
		return publishFlowMCP(e.tool.Policy, ok)
	}
	var doc []byte
	doc, e.wraps = publishNative(e.tool.Policy, ok, c.Wrapper)
	return doc
}

// successes returns the variants of a success: the declared 2xx and those
// without a status; default counts only where no 2xx is declared.
func successes(answers []Variant) []Variant {
	var ok, fallback []Variant
	for _, v := range answers {
		switch {
		case v.Status == "" || strings.HasPrefix(v.Status, "2"):
			ok = append(ok, v)
		case v.Status == "default":
			fallback = append(fallback, v)
		}
	}
	if ok == nil {
		return fallback
	}
	return ok
}

// dataSchema is the union of the successes' schemas as the body of one schema
// inside a bundle. An unknown member makes the union say nothing: {}.
func dataSchema(b *schema.Bundle, answers []Variant) []byte {
	var union [][]byte
	for _, v := range answers {
		body := variantSchema(b, v)
		if bytes.Equal(body, []byte("{}")) {
			return body
		}
		if !slices.ContainsFunc(union, func(x []byte) bool { return bytes.Equal(x, body) }) {
			union = append(union, body)
		}
	}
	switch len(union) {
	case 0:
		return []byte("{}")
	case 1:
		return union[0]
	}
	return appendAnyOf(nil, union...)
}

func variantSchema(b *schema.Bundle, v Variant) []byte {
	switch formOf(v.Media) {
	case formEmpty:
		return []byte(`{"type":"null"}`)
	case formText:
		return []byte(`{"type":"string"}`)
	case formBinary:
		return []byte(binarySchema)
	case formJSON:
	}
	if v.Schema == nil {
		return []byte("{}")
	}
	body, err := b.Add(v.Schema)
	if err != nil {
		return []byte("{}")
	}
	return body
}

func appendAnyOf(dst []byte, bodies ...[]byte) []byte {
	dst = append(dst, `{"anyOf":[`...)
	dst = append(dst, bytes.Join(bodies, []byte{','})...)
	return append(dst, `]}`...)
}

// advised is s as it is published under policy: under warn the schema is
// advice, any value may come.
func advised(policy Policy, s []byte) []byte {
	if policy != Warn || bytes.Equal(s, []byte("{}")) {
		return s
	}
	return appendAnyOf(nil, s, []byte("{}"))
}

// appendDefs closes the schema in dst, an object without its last brace, with
// the definitions of the bundle.
func appendDefs(dst []byte, b *schema.Bundle) []byte {
	if defs := b.AppendDefs(nil); len(defs) > 0 {
		dst = append(dst, ',')
		dst = append(dst, defs...)
	}
	return append(dst, '}')
}

// appendDefinition writes the tool's object for tools/list.
func appendDefinition(dst []byte, t *Tool, input, output []byte) []byte {
	dst = append(dst, `{"name":`...)
	dst = rawjson.AppendString(dst, t.Name)
	if t.Title != "" {
		dst = append(dst, `,"title":`...)
		dst = rawjson.AppendString(dst, t.Title)
	}
	if t.Description != "" {
		dst = append(dst, `,"description":`...)
		dst = rawjson.AppendString(dst, t.Description)
	}
	dst = append(dst, `,"inputSchema":`...)
	dst = append(dst, input...)
	if output != nil {
		dst = append(dst, `,"outputSchema":`...)
		dst = append(dst, output...)
	}
	dst = appendHints(dst, t.Hints)
	if json.Valid(t.Meta) {
		dst = append(dst, `,"_meta":`...)
		dst = append(dst, t.Meta...)
	}
	return append(dst, '}')
}

func appendHints(dst []byte, h Hints) []byte {
	hints := []struct {
		name string
		set  *bool
	}{
		{"readOnlyHint", h.ReadOnly},
		{"destructiveHint", h.Destructive},
		{"idempotentHint", h.Idempotent},
		{"openWorldHint", h.OpenWorld},
	}
	var list []byte
	for _, hint := range hints {
		if hint.set != nil {
			list = append(list, `,"`+hint.name+`":`...)
			list = strconv.AppendBool(list, *hint.set)
		}
	}
	if list == nil {
		return dst
	}
	dst = append(dst, `,"annotations":{`...)
	dst = append(dst, list[1:]...)
	return append(dst, '}')
}
