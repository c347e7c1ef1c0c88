package format_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/flowmcp/internal/format"
)

const oneTool = `a: { method: 'GET', path: '/a', description: 'x', parameters: [] }`

// TestForbidden finds forbidden constructs in any context.
func TestForbidden(t *testing.T) {
	const handlers = "export const handlers = ({ libraries }) => ({ a: { preRequest: async ({ struct, payload }) => {\n"
	for _, c := range []struct{ name, js, code string }{
		{"an import", "import x from 'fs'", "SEC001"},
		{"an export of another module", "export { x } from 'node:fs'", "SEC001"},
		{"import.meta", handlers + "return import.meta.url } } })", "SEC001"},
		{"require", handlers + "return require ('x') } } })", "SEC002"},
		{"eval", handlers + "return (0, eval)('1') } } })", "SEC003"},
		{"Function", handlers + "const f = Function; return f('1') } } })", "SEC004"},
		{"new Function", handlers + "return new Function('1') } } })", "SEC005"},
		{"process in a template", handlers + "return `${process.env.X}` } } })", "SEC006"},
		{"process under another name", handlers + "const p = process; return p?.env } } })", "SEC006"},
		{"process behind a chain", handlers + "return process?.env } } })", "SEC006"},
		{"code between regular expressions with quotes", handlers + "const m = /'/; const v = process.env.HOME; const n = /'/; return v } } })", "SEC006"},
		{"code on a line that begins like a comment", handlers + "let a = 2\n* process.pid; return a } } })", "SEC006"},
		{"process beside a parameter of that name", handlers + "const f = (process) => process; return process.env } } })", "SEC006"},
		{"process with an escape", handlers + "return pr\\u006fcess.env } } })", "SEC006"},
		{"child_process", handlers + "return child_process.execSync('id') } } })", "SEC007"},
		{"fs", handlers + "return fs.readFileSync('x') } } })", "SEC008"},
		{"globalThis by index", handlers + "return globalThis['pro' + 'cess'] } } })", "SEC011"},
		{"global", handlers + "return global } } })", "SEC012"},
		{"__dirname", handlers + "return __dirname } } })", "SEC013"},
		{"__filename", handlers + "return __filename } } })", "SEC014"},
	} {
		t.Run(c.name, func(t *testing.T) {
			report := check(t, c.js+"\n"+file(oneTool), format.Options{})
			if !has(report, c.code, format.Fatal) || report.Loads {
				t.Errorf("loads %v, want %s among %v", report.Loads, c.code, report.Findings)
			}
		})
	}
}

// TestForbiddenByTheLetter covers what real files use and the page forbids.
func TestForbiddenByTheLetter(t *testing.T) {
	const handlers = "export const handlers = () => ({ a: { executeRequest: async ({ struct }) => {\n"
	for _, c := range []struct{ name, js, code string }{
		{"a dynamic import", handlers + "return await import(`node:child_process`) } } })", "SEC001"},
		{"the way to Function", handlers + "return (() => {}).constructor('1')() } } })", "SEC004"},
		{"the way to Function by index", handlers + "return (() => {})['constructor']('1')() } } })", "SEC004"},
		{"setTimeout", handlers + "setTimeout(() => {}, 1) } } })", "SEC015"},
		{"setInterval", handlers + "setInterval(() => {}, 1) } } })", "SEC016"},
		{"fetch", handlers + "return fetch(struct.url) } } })", "SEC100"},
		{"a socket", handlers + "return new WebSocket(struct.url) } } })", "SEC100"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := c.js + "\n" + file(oneTool)
			compat, strict := check(t, text, format.Options{}), check(t, text, format.Options{Strict: true})
			if !has(compat, c.code, format.Warning) || !compat.Loads {
				t.Errorf("compat: loads %v, %v", compat.Loads, compat.Findings)
			}
			if !has(strict, c.code, format.Fatal) || strict.Loads {
				t.Errorf("strict: loads %v, %v", strict.Loads, strict.Findings)
			}
		})
	}
}

// TestWordsOnly covers words of the literal list that are not uses, and names
// that the file declares.
func TestWordsOnly(t *testing.T) {
	for _, c := range []struct{ name, js, code string }{
		{"a comment", "// Import: import x\n", "SEC001"},
		{"a URL", "const u = 'https://prefs.example/'\n", "SEC008"},
		{"a name in a text", "const u = 'node:fs'\n", "SEC009"},
		{"a path in a text", "const u = 'fs/promises'\n", "SEC010"},
		{"a longer name", "const getFunction = () => 1; const x = getFunction(1)\n", "SEC004"},
		{"a parameter of that name", "const f = (process) => process.id\n", "SEC006"},
		{"a member of that name", "const f = (x) => x.eval(1)\n", "SEC003"},
	} {
		t.Run(c.name, func(t *testing.T) {
			report := check(t, c.js+file(oneTool), format.Options{})
			if !has(report, c.code, format.Info) || !report.Loads {
				t.Errorf("loads %v, %v", report.Loads, report.Findings)
			}
		})
	}
}

func has(r format.Report, code string, s format.Severity) bool {
	return slices.ContainsFunc(r.Findings, func(f format.Finding) bool { return f.Code == code && f.Severity == s && f.Line > 0 })
}

// TestBombs ends deep nesting of everything with an error, not with a stack
// overflow.
func TestBombs(t *testing.T) {
	for _, part := range []string{"[", "(", "{a:", "!", "a=>", "a?", "new ", "`${", "-", "a,", "if(1)", "{", "class A extends ", "async("} {
		for _, before := range []string{"", "export const main = ", "export const handlers = () => "} {
			report := check(t, before+strings.Repeat(part, 20_000), format.Options{})
			if report.Loads {
				t.Errorf("%s%s… loads", before, part)
			}
		}
	}
	large := check(t, "export const main = ["+strings.Repeat("1,", 1<<20)+"]", format.Options{})
	if large.Loads || len(large.Findings) == 0 {
		t.Errorf("a file beyond the bounds loads: %v", large.Findings)
	}
	if many := check(t, "export const main = ["+strings.Repeat("x,", 500_000)+"]", format.Options{}); many.Loads || len(many.Findings) > 1100 {
		t.Errorf("%d findings", len(many.Findings))
	}
}

// TestSigning reports files that may need the values of their server
// parameters.
func TestSigning(t *testing.T) {
	const hash = "const sign = (x, crypto) => crypto.createHash('sha1').update(x).digest('hex')\n"
	const uses = "\nexport const handlers = () => ({ a: { preRequest: async ({ struct }) => { struct.headers.x = sign(1); return { struct } } } })"
	keyed := strings.Replace(file(oneTool), "root:", "requiredServerParams: [ 'KEY' ], root:", 1)
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"a hash in a function that the handlers call", hash + keyed + uses, true},
		{"a hash that no handler calls", hash + keyed + strings.Replace(uses, "sign(1)", "1", 1), false},
		{"no server parameter", hash + file(oneTool) + uses, false},
	} {
		if report := check(t, c.text, format.Options{}); has(report, "SEC105", format.Warning) != c.want {
			t.Errorf("%s: %v", c.name, report.Findings)
		}
	}
}
