package flowmcp_test

import (
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/flowmcp"
)

// TestHandlers tells which of the tools a and b need JavaScript, for every way
// in which a factory can return its handlers.
func TestHandlers(t *testing.T) {
	const b = `, b: { method: 'GET', path: '/b', description: 'x', parameters: [] }`
	const pre = `{ preRequest: async ({ struct }) => ({ struct }) }`
	for _, c := range []struct{ name, js, needs string }{
		{"no export", ``, ""},
		{"an object", `export const handlers = () => ({ a: ` + pre + ` })`, "a"},
		{"a block that returns", `export const handlers = ({ libraries }) => { const { x } = libraries; return { b: ` + pre + ` } }`, "b"},
		{"a constant that is returned", `export const handlers = () => { const h = { a: ` + pre + ` }; return h }`, "a"},
		{"a constant that is changed", `export const handlers = () => { const h = {}; h.a = ` + pre + `; return h }`, "a b"},
		{"a constant that is changed on the way", `export const handlers = () => { const h = {}, x = (h.a = 1); return h }`, "a b"},
		{"a constant that a function changes", `export const handlers = () => { const h = {}; const f = () => { h.a = 1 }; f(); return h }`, "a b"},
		{"a variable", `export const handlers = () => { let h = { a: ` + pre + ` }; return h }`, "a b"},
		{"a function declaration", `export function handlers() { return { a: ` + pre + ` } }`, "a"},
		{"an export list", `const make = () => ({ 'a': ` + pre + ` }); export { make as handlers }`, "a"},
		{"an empty member", `export const handlers = () => ({ a: {}, b: ` + pre + ` })`, "b"},
		{"a member in short form", `const a = ` + pre + `; export const handlers = () => ({ a })`, "a"},
		{"methods", `export const handlers = () => ({ a() { return 1 }, async b() {} })`, "a b"},
		{"a spread", `const more = {}; export const handlers = () => ({ ...more })`, "a b"},
		{"a computed key", `export const handlers = () => ({ ['a']: ` + pre + ` })`, "a b"},
		{"a call", `export const handlers = () => make()`, "a b"},
		{"two ways out", `export const handlers = () => { if (1) { return { b: {} } } return { a: ` + pre + ` } }`, "a b"},
		{"nothing returned", `export const handlers = () => {}`, "a b"},
		{"no function", `export const handlers = { a: ` + pre + ` }`, "a b"},
		{"a function in parentheses", `export const handlers = (() => ({ a: ` + pre + ` }))`, "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			report := check(t, file(oneTool+b)+"\n"+c.js, flowmcp.Options{})
			var needs []string
			for _, tool := range report.Tools {
				if _, name, _ := strings.Cut(tool.ID, "::"); tool.Handlers {
					needs = append(needs, name)
				}
			}
			if got := strings.Join(needs, " "); got != c.needs {
				t.Errorf("%q need handlers, want %q: %v", got, c.needs, report.Findings)
			}
		})
	}
	for strict, severity := range map[bool]flowmcp.Severity{true: flowmcp.Fatal, false: flowmcp.Warning} {
		if report := check(t, file(oneTool)+"\nexport const handlers = 5", flowmcp.Options{Strict: strict}); !has(report, "VAL004", severity) {
			t.Errorf("handlers that are no function: %v", report.Findings)
		}
	}
	stray := check(t, file(oneTool)+"\nexport const handlers = () => ({ nobody: {} })", flowmcp.Options{})
	if !has(stray, "VAL005", flowmcp.Warning) || !stray.Loads {
		t.Errorf("a handler of no tool: %v", stray.Findings)
	}
}

// TestZ has what each primitive and option makes of the input schema.
func TestZ(t *testing.T) {
	for z, want := range map[string]string{
		`'string()', options: ['default("x y")']`:                 `{"type":"string","default":"x y"}`,
		`'string()', options: ["default('x')"]`:                   `{"type":"string","default":"x"}`,
		`'string()', options: ['default(5)']`:                     `{"type":"string","default":"5"}`,
		`'number()', options: ['default(5)', 'max(3)']`:           `{"type":"number","maximum":3}`,
		`'number()', options: ['min(-2.5)', 'length(2)']`:         `{"type":"number","minimum":-2.5}`,
		`'number()', options: ['default(x)']`:                     `{"type":"number"}`,
		`'boolean()', options: ['default(true)', 'min(1)']`:       `{"type":"boolean","default":true}`,
		`'boolean()', options: ['default(1)']`:                    `{"type":"boolean"}`,
		`'array()', options: ['default([1])', 'min(1)']`:          `{"type":"array","minItems":1,"default":[1]}`,
		`'object()', options: ['default({"a":1})']`:               `{"type":"object","default":{"a":1}}`,
		`'object()', options: ['default([])']`:                    `{"type":"object"}`,
		`'enum(a, b,a)', options: ['default(b)']`:                 `{"type":"string","enum":["a","b"],"default":"b"}`,
		`'enum(0,1)', options: []`:                                `{"type":["string","number"],"enum":["0","1",0,1]}`,
		`'enum()', options: []`:                                   `{"type":"string"}`,
		`'string()', options: ['regex(/^x$/i)']`:                  `{"type":"string"}`,
		`'string()', options: ['regex((?=x))']`:                   `{"type":"string"}`,
		`'string()', options: ['regex(^[A-Z]{2}$)', 'length(2)']`: `{"type":"string","minLength":2,"maxLength":2,"pattern":"^[A-Z]{2}$"}`,
		`'text()', options: ['min(2)']`:                           `{"type":"string","minLength":2}`,
	} {
		text := file(`a: { method: 'GET', path: '/a', description: 'x', parameters: [
			{ position: { key: 'k', value: '{{USER_PARAM}}', location: 'query' }, z: { primitive: ` + z + ` } } ] }`)
		features, err := flowmcp.New(write(t, "Test.mjs", text), flowmcp.Options{}).Load(t.Context())
		if err != nil || len(features.Tools) != 1 {
			t.Fatalf("%s: %v %v", z, features.Diagnostics, err)
		}
		contract, err := features.Tools[0].Contract.Contract()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(contract.Input), `{"type":"object","properties":{"k":`+want+`}`) {
			t.Errorf("%s: %s, want %s", z, contract.Input, want)
		}
	}
}

// TestMoreArguments takes what a tool does not declare where its own test cases
// give it, and nowhere else.
func TestMoreArguments(t *testing.T) {
	for tests, closed := range map[string]bool{
		`[ { _description: 'x', k: 'a' } ]`:             true,
		`[ { _description: 'x', k: 'a', other: 'b' } ]`: false,
		`[]`: true,
	} {
		text := file(`a: { method: 'GET', path: '/a', description: 'x', parameters: [
			{ position: { key: 'k', value: '{{USER_PARAM}}', location: 'query' }, z: { primitive: 'string()' } } ], tests: ` + tests + ` }`)
		features, err := flowmcp.New(write(t, "Test.mjs", text), flowmcp.Options{}).Load(t.Context())
		if err != nil || len(features.Tools) != 1 {
			t.Fatalf("%s: %v %v", tests, features.Diagnostics, err)
		}
		contract, err := features.Tools[0].Contract.Contract()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(contract.Input), `"additionalProperties":false`) != closed {
			t.Errorf("%s: %s", tests, contract.Input)
		}
	}
}
