package tenontest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/schema"
	"github.com/tenon-mcp/tenon/schema/sample"
)

// dialect is the one that clients are told a schema has.
const dialect = "https://json-schema.org/draft/2020-12/schema"

// contracts checks what each tool publishes and what its calls are checked
// against. Where a contract cannot be made, ok is false: nothing can be served.
func (c *sourceCheck) contracts(o tenon.Features) (ok bool) {
	ok = true
	for i := range o.Tools {
		if t := &o.Tools[i]; t.Contract != nil {
			ok = c.contract(t) && ok
		}
	}
	if !ok {
		return false
	}
	for _, e := range build(o, nil).Tools() {
		definition := e.Definition()
		if !isObject(definition) {
			c.problem("tool %q: it cannot be published: %v", e.Name(), e.Diagnostics())
			continue
		}
		input, output := e.Schemas()
		c.schema(fmt.Sprintf("tool %q: the input schema in tools/list", e.Name()), input)
		c.schema(fmt.Sprintf("tool %q: the output schema in tools/list", e.Name()), output)
	}
	return true
}

func (c *sourceCheck) contract(t *tenon.Tool) (answers bool) {
	what := fmt.Sprintf("tool %q", t.Name)
	checked, published, ok := c.asked(t, what)
	if !ok {
		return false
	}
	input := c.schema(what+": the input schema", checked.Input)
	if checked.Input != nil {
		var root struct{ Type any }
		_ = json.Unmarshal(checked.Input, &root) // what is no JSON has been reported
		c.needs(root.Type == "object", what, `the input schema does not say "type": "object" at its root`)
	}
	c.wider(what+": the published input schema", published.Input, checked.Input, input)
	for _, v := range checked.Responses {
		answer := fmt.Sprintf("%s: answer %q %s", what, v.Status, v.MediaType)
		c.variant(answer, v)
		held, doc := c.schema(answer+": its schema", v.Schema), v.Schema
		if v.Check != nil {
			held, doc = c.schema(answer+": its schema for checks", v.Check), v.Check
		}
		i := slices.IndexFunc(published.Responses, func(p tenon.ResponseSchema) bool { return p.Status == v.Status && p.MediaType == v.MediaType })
		if i < 0 {
			c.problem("%s: is not published", answer)
			continue
		}
		c.wider(answer+": the published schema", published.Responses[i].Schema, doc, held)
	}
	return true
}

// asked asks for a contract, then twice at once.
func (c *sourceCheck) asked(t *tenon.Tool, what string) (checked, published tenon.Contract, ok bool) {
	first, err := tenon.Contract{}, error(nil)
	if !c.within(what+": Contract", func() { first, err = t.Contract.Contract() }) {
		return checked, published, false
	}
	if err != nil {
		c.problem("%s: Contract: %v", what, err)
		return checked, published, false
	}
	if !c.within(what+": Published", func() { published, _ = t.Contract.PublishedContract() }) {
		return checked, published, false
	}
	ok = c.within(what+": Contract and Published", func() {
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				defer c.caught(what + ": Contract or Published, asked by several at once,")
				again, _ := t.Contract.Contract()
				c.needs(sameContract(first, again), what, "Contract returns something else the second time")
				shown, diagnostics := t.Contract.PublishedContract()
				c.needs(sameContract(published, shown), what, "Published returns something else the second time")
				for _, f := range diagnostics {
					c.diagnostic(f)
				}
			})
		}
		wg.Wait()
	})
	return first, published, ok
}

// caught is deferred where a panic would end the process.
func (c *sourceCheck) caught(what string) {
	if p := recover(); p != nil {
		c.problem("%s panics: %v", what, p)
	}
}

func sameContract(a, b tenon.Contract) bool {
	return bytes.Equal(a.Input, b.Input) && a.Formats == b.Formats && a.Wrapper == b.Wrapper &&
		slices.EqualFunc(a.Responses, b.Responses, func(a, b tenon.ResponseSchema) bool {
			return a.Status == b.Status && a.MediaType == b.MediaType && a.Open == b.Open && bytes.Equal(a.Schema, b.Schema) && bytes.Equal(a.Check, b.Check)
		})
}

// variant checks under which status and media type an answer is declared.
func (c *sourceCheck) variant(what string, v tenon.ResponseSchema) {
	switch s := v.Status; {
	case s == "", strings.EqualFold(s, "default"):
	case len(s) == 3 && s[0] >= '1' && s[0] <= '5' && (strings.EqualFold(s[1:], "XX") || isDigit(s[1]) && isDigit(s[2])):
	default:
		c.problem(`%s: the status is not one such as "200", "2XX" or "default"`, what)
	}
	if v.MediaType != strings.ToLower(v.MediaType) || strings.ContainsAny(v.MediaType, "; ") || v.MediaType != "" && !strings.Contains(v.MediaType, "/") {
		c.problem("%s: the media type is not lower case without parameters", what)
	}
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// schema compiles a schema and checks that it stands alone; nil gives nil.
func (c *sourceCheck) schema(what string, doc []byte) *schema.Schema {
	if doc == nil {
		return nil
	}
	var root any
	if err := json.Unmarshal(doc, &root); err != nil {
		c.problem("%s is no JSON: %v", what, err)
		return nil
	}
	if m, ok := root.(map[string]any); ok && m["$schema"] != nil && m["$schema"] != dialect {
		c.problem("%s has the dialect %v; it has to be 2020-12", what, m["$schema"])
	}
	if ref := leadsOut(root); ref != "" {
		c.problem(`%s does not stand alone: it refers to %q; only "#" and "#/$defs/…" are in it`, what, ref)
		return nil
	}
	compiled, err := schema.Compile(doc, schema.Options{})
	if err != nil {
		c.problem("%s does not compile: %v", what, err)
		return nil
	}
	return compiled
}

// leadsOut finds a reference out of a document, or to a place that is none for
// schemas; empty: there is none.
func leadsOut(s any) string {
	switch s := s.(type) {
	case []any:
		for _, each := range s {
			if ref := leadsOut(each); ref != "" {
				return ref
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(s)) {
			if ref := leadsOutOf(key, s[key]); ref != "" {
				return ref
			}
		}
	}
	return ""
}

// leadsOutOf is leadsOut for the value of one keyword.
func leadsOutOf(key string, value any) string {
	switch key {
	case "$ref", "$dynamicRef":
		if ref, ok := value.(string); ok && ref != "#" && !strings.HasPrefix(ref, "#/$defs/") {
			return ref
		}
	case "const", "enum", "default", "example", "examples": // values, no schemas
	case "properties", "patternProperties", "$defs", "dependentSchemas": // names, with a schema each
		if named, ok := value.(map[string]any); ok {
			return leadsOut(slices.Collect(maps.Values(named)))
		}
	default:
		return leadsOut(value)
	}
	return ""
}

// wider checks that what is published accepts what doc accepts, which is
// compiled as held: a value is made.
func (c *sourceCheck) wider(what string, published, doc []byte, held *schema.Schema) {
	if bytes.Equal(published, doc) {
		return
	}
	open := c.schema(what, published)
	if open == nil || held == nil {
		return
	}
	value, ok := sample.Of(held)
	if !ok {
		return
	}
	if v := open.Validate(value); len(v) > 0 {
		c.problem("%s refuses %.200s, which is accepted in fact: %s", what, value, said(v[0]))
	}
}

// said is a violation in words.
func said(v schema.Violation) string {
	at := v.Path
	if at == "" {
		at = "/"
	}
	return fmt.Sprintf("at %s: expected %s, got %s", at, v.Expected, v.Got)
}
