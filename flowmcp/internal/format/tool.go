package flowmcp

import (
	"fmt"
	"slices"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/schema"
)

// promise is what a tool takes and answers, made when it is asked for.
type promise struct {
	route   *route
	options *Options
}

var _ tenon.ContractProvider = promise{}

// Contract writes both schemas in full.
func (p promise) Contract() (tenon.Contract, error) {
	c := tenon.Contract{Input: p.route.input()}
	if answer := p.route.answer(); answer != nil {
		c.Responses = []tenon.ResponseSchema{*answer}
	}
	return c, nil
}

// Published writes both schemas within the budgets.
func (p promise) PublishedContract() (tenon.Contract, []tenon.Diagnostic) {
	c, err := p.Contract()
	if err != nil {
		return c, []tenon.Diagnostic{p.route.fault(err.Error())}
	}
	var faults []tenon.Diagnostic
	relax := func(which string, doc []byte, limit int) []byte {
		if doc == nil || limit < 0 || len(doc) <= limit {
			return doc
		}
		relaxed, how := schema.Relax(doc, limit)
		faults = append(faults, p.route.fault(fmt.Sprintf("%s schema of %d bytes is relaxed to %d: %v", which, len(doc), len(relaxed), how)))
		return relaxed
	}
	c.Input = relax("input", c.Input, p.options.MaxInputSchema)
	for i := range c.Responses {
		c.Responses[i].Schema = relax("output", c.Responses[i].Schema, p.options.MaxOutputSchema)
	}
	return c, faults
}

// input writes the schema of the arguments: what the caller gives and nothing
// else. Fixed values and server parameters are no part of it. Other members are
// refused, so that a typing mistake is told, but where the tool takes them.
func (t *route) input() []byte {
	var order []string
	properties := map[string][]byte{}
	required := map[string]bool{}
	for _, p := range t.parameters {
		for _, name := range p.arguments() {
			if properties[name] == nil {
				order = append(order, name)
				properties[name] = p.appendSchema(nil)
			}
			if !p.z.optional {
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
	if t.more {
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

func (p *parameter) appendSchema(dst []byte) []byte {
	dst = p.z.appendSchema(dst)
	if p.description != "" {
		dst = append(dst, `,"description":`...)
		dst = rawjson.AppendString(dst, p.description)
	}
	if p.z.fallback != nil && p.z.accepts(p.z.fallback) {
		dst = append(dst, `,"default":`...)
		dst = append(dst, p.z.fallback...)
	}
	return append(dst, '}')
}

// answer is the declared answer; nil: none is declared, or not in a way that
// can be used.
func (t *route) answer() *tenon.ResponseSchema {
	mime := outputMime(t.output)
	root := t.output.get("schema")
	if rootTypes(mime) == nil || !root.is(objectKind) {
		return nil
	}
	status := "2XX"
	if t.local {
		status = ""
	}
	return &tenon.ResponseSchema{Status: status, MediaType: mime, Schema: appendOutput(nil, root, 0)}
}

// maxOutput bounds how deep an output schema is translated.
const maxOutput = 64

// appendOutput translates one node of an output schema. Nothing is required
// and other members are allowed, as the page has it; the hint format goes into
// the description, because clients would assert it.
func appendOutput(dst []byte, n *node, depth int) []byte {
	kind := n.get("type").str()
	if !n.is(objectKind) || depth > maxOutput || !isOutputType(kind) && kind != "integer" {
		return append(dst, "{}"...)
	}
	nullable := n.get("nullable").yes()
	dst = append(dst, `{"type":`...)
	if nullable {
		dst = append(dst, `["`+kind+`","null"]`...)
	} else {
		dst = append(dst, `"`+kind+`"`...)
	}
	dst = appendNote(dst, n)
	if members := n.get("enum"); len(members.list()) > 0 {
		dst = append(dst, `,"enum":`...)
		dst = withNull(members, nullable).appendJSON(dst)
	}
	if p := n.get("properties"); kind == "object" && p.is(objectKind) {
		dst = append(dst, `,"properties":{`...)
		for i, key := range p.keys {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = rawjson.AppendString(dst, key)
			dst = append(dst, ':')
			dst = appendOutput(dst, p.items[i], depth+1)
		}
		dst = append(dst, '}')
	}
	if items := n.get("items"); kind == "array" && items.is(objectKind) {
		dst = append(dst, `,"items":`...)
		dst = appendOutput(dst, items, depth+1)
	}
	return append(dst, '}')
}

func appendNote(dst []byte, n *node) []byte {
	text := n.get("description").str()
	if format := n.get("format").str(); format != "" {
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

func withNull(members *node, nullable bool) *node {
	if !nullable {
		return members
	}
	for _, m := range members.items {
		if m.is(nullKind) {
			return members
		}
	}
	return &node{kind: arrayKind, items: append(slices.Clip(members.items), &node{kind: nullKind})}
}
