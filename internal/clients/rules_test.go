package clients

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// object is an object schema with these properties.
func object(properties string) string {
	return `{"type":"object","properties":{` + properties + `}}`
}

// with makes a list of one tool: its name, input and output.
func with(name, input, output string) List {
	l := List{Server: "shop", Pages: 1, Tools: []Tool{{Name: name, Input: json.RawMessage(input)}}}
	if output != "" {
		l.Tools[0].Output = json.RawMessage(output)
	}
	return l
}

func in(input string) List   { return with("a", input, "") }
func out(output string) List { return with("a", object(""), output) }

func described(n int) List {
	l := in(object(""))
	l.Tools[0].Description = strings.Repeat("é", n)
	return l
}

func instructed(n int) List { l := in(object("")); l.Instructions = strings.Repeat("é", n); return l }

func paged(n int) List { l := in(object("")); l.Pages = n; return l }

func many(n int) List {
	l := List{Pages: 1}
	for i := range n {
		l.Tools = append(l.Tools, Tool{Name: fmt.Sprintf("t%d", i), Input: json.RawMessage(object(""))})
	}
	return l
}

func options(n int) List {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`"p%d":{}`, i))
	}
	return in(`{"type":"object","properties":{"deep":` + object(strings.Join(all, ",")) + `},"required":["deep"]}`)
}

// pair is a list that breaks a rule, at this place, and one that keeps it.
type pair struct {
	breaks  List
	pointer string
	keeps   List
}

func pairs() map[string]pair {
	long := strings.Repeat("n", 64)
	named := func(name string) List { return with(name, object(""), "") }
	const branches = `{"type":"object","anyOf":[{"properties":{"a":{}}}]}`
	openInput := pair{
		in(`{"type":"object","properties":{"m":{"type":"object","additionalProperties":{"type":"string"}}}}`), "/inputSchema/properties/m/additionalProperties",
		in(`{"type":"object","additionalProperties":false,"properties":{"additionalProperties":{"type":"string"}}}`),
	}
	anyBranch := pair{
		out(`{"type":"object","properties":{"x":{"anyOf":[{"type":"string"},{}]}}}`), "/outputSchema/properties/x/anyOf",
		out(`{"type":"object","properties":{"anyOf":{"anyOf":[{"type":"string"},{"type":"null"}]}},"default":{"anyOf":[{}]}}`),
	}
	refs := func(with func(string) List, root string) pair {
		return pair{
			with(`{"type":"object","properties":{"x/y":{"$ref":"#/$defs/T"}},"$defs":{"T":{}}}`), root + "/properties/x~1y/$ref",
			with(`{"type":"object","properties":{"$ref":{"type":"string"}},"examples":[{"$ref":"x"}]}`),
		}
	}
	underscore := pair{in(object(`"a":{"items":{"properties":{"_b":{}}}}`)), "/inputSchema/properties/a/items/properties/_b", in(object(`"b_":{}`))}
	return map[string]pair{
		"mcp-name":           {named(""), "/name", named("a b")},
		"mcp-distinct-names": {List{Tools: []Tool{{Name: "a"}, {Name: "a"}}}, "/tools/a", List{Tools: []Tool{{Name: "a"}, {Name: "A"}}}},
		"mcp-input-object":   {in(""), "/inputSchema", in(`{"type":"object"}`)},
		"mcp-output-object":  {out(`{"type":"array"}`), "/outputSchema", in(`{"type":"object"}`)},
		"mcp-boolean-input-property": {
			in(object(`"a":true`)), "/inputSchema/properties/a", in(object(`"a":{"properties":{"b":true}}`)),
		},
		"mcp-boolean-output-property": {out(object(`"a":false`)), "/outputSchema/properties/a", out(object(`"a":{}`))},
		"claude-desktop-dialect": {
			out(`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}`), "/outputSchema/$schema",
			with("a", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}`, `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object"}`),
		},
		"claude-desktop-structured":    {out(object("")), "/outputSchema", in(object(""))},
		"claude-code-name":             {named(long[:54]), "/name", named(long[:53])},
		"claude-code-description":      {described(2049), "/description", described(2048)},
		"claude-code-instructions":     {instructed(2049), "/instructions", instructed(2048)},
		"claude-code-output-schema":    {out(object("")), "/outputSchema", in(object(""))},
		"claude-code-text":             {out(object("")), "/outputSchema", in(object(""))},
		"chatgpt-output-schema":        {in(object("")), "/outputSchema", out(object(""))},
		"vscode-tools":                 {many(129), "/tools", many(128)},
		"vscode-items":                 {in(object(`"a":{"type":["array","null"]}`)), "/inputSchema/properties/a", in(object(`"a":{"type":"array","items":{}}`))},
		"cursor-tools":                 {many(41), "/tools", many(40)},
		"codex-references":             refs(out, "/outputSchema"),
		"codex-any":                    anyBranch,
		"opencode-any":                 anyBranch,
		"copilot-cli-name":             {named("shop.get"), "/name", named(long + long)},
		"cloudflare-codemode-any":      anyBranch,
		"anthropic-api-root":           {in(branches), "/inputSchema/anyOf", in(object(`"a":` + branches))},
		"anthropic-api-properties":     {in(object(`"a[b]":{}`)), "/inputSchema/properties/a[b]", in(object(`"a.b-c_1":{}`))},
		"anthropic-strict-tools":       {many(21), "/tools", many(20)},
		"anthropic-strict-optional":    {options(25), "/inputSchema", options(24)},
		"anthropic-managed-references": refs(in, "/inputSchema"),
		"openai-api-name":              {named(long + "n"), "/name", named(long)},
		"openai-strict-objects":        openInput,
		"openai-strict-references":     refs(in, "/inputSchema"),
		"openai-strict-oneof":          {in(object(`"a":{"oneOf":[{}]}`)), "/inputSchema/properties/a/oneOf", in(object(`"oneOf":{"anyOf":[{}]}`))},
		"openai-strict-required": {
			in(object(`"a":{}`)), "/inputSchema/properties/a", in(`{"type":"object","properties":{"a":{}},"required":["a"]}`),
		},
		"gemini-api-name":       {named("1a"), "/name", named("_a")},
		"gemini-api-enum":       {in(object(`"a":{"type":"array","enum":["x"]}`)), "/inputSchema/properties/a/enum", in(object(`"a":{"type":"array","items":{"enum":["x"]}}`))},
		"gemini-api-text-enum":  {in(object(`"a":{"enum":["x",1]}`)), "/inputSchema/properties/a/enum", in(object(`"enum":{"enum":["1"]}`))},
		"gemini-api-references": refs(in, "/inputSchema"),
		"gemini-api-type-list":  {in(object(`"a":{"type":["string"]}`)), "/inputSchema/properties/a/type", in(object(`"type":{"type":"string"}`))},
		"fastmcp-root": {
			out(branches), "/outputSchema/anyOf", out(`{"type":"object","properties":{"a":{}},"anyOf":[{"properties":{"a":{}}}]}`),
		},
		"llamaindex-underscore": underscore,
		"llamaindex-pages":      {paged(2), "/nextCursor", paged(1)},
		"mcp-use-underscore":    underscore,
		"mcp-use-pages":         {paged(2), "/nextCursor", paged(1)},
		"mcp-use-null": {
			in(object(`"a":{"type":"string"}`)), "/inputSchema/properties/a",
			in(`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":["string","null"]},"c":{},"d":{"anyOf":[{"type":"null"},{"$ref":"#"}]}},"required":["a"]}`),
		},
		"inspector-any": {
			out(object(`"x":{"anyOf":[{"type":"string"},{"description":"any","type":["object","array","string","integer","number","boolean","null"],"items":{}}]}`)), "/outputSchema/properties/x/anyOf",
			out(object(`"x":{"anyOf":[{"type":"string"},{"type":["object","array","string","number","boolean"]}]}`)),
		},
		"inspector-type-list": {out(object(`"a":{"type":["string"]}`)), "/outputSchema/properties/a/type", out(object(`"type":{"type":"string"}`))},
	}
}

// TestRules holds each rule against a list that breaks it and one that does not.
func TestRules(t *testing.T) {
	d, all := Known(), pairs()
	hits := func(r *Rule, l List) []string {
		found := r.BrokenByList(&l)
		for i := range l.Tools {
			found = append(found, r.Broken(l.Server, &l.Tools[i])...)
		}
		return found
	}
	for i := range d.Rules {
		r := &d.Rules[i]
		p, ok := all[r.ID]
		if !ok {
			t.Errorf("%s has no pair of lists", r.ID)
			continue
		}
		if got := hits(r, p.breaks); !slices.Contains(got, p.pointer) {
			t.Errorf("%s: a list that breaks it is not found at %q: %q", r.ID, p.pointer, got)
		}
		if got := hits(r, p.keeps); got != nil {
			t.Errorf("%s: a list that keeps it is found at %q", r.ID, got)
		}
		delete(all, r.ID)
	}
	for id := range all {
		t.Errorf("there is no rule %s", id)
	}
}
