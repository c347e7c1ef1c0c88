package flowmcp_test

import (
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/flowmcp"
)

// TestNoLiterals reports values that are not literals, with their lines.
func TestNoLiterals(t *testing.T) {
	for _, c := range []struct{ name, js, path, what string }{
		{"a name", `{ a: 1,
b: undefined }`, "main.b", "the name undefined"},
		{"a call", `{ a: 1,
b: Date.now() }`, "main.b", "a call"},
		{"an operator", `{ a: 1,
b: 'x' + 'y' }`, "main.b", "operators"},
		{"a template", "{ a: 1,\nb: `${1}` }", "main.b", "a template with expressions"},
		{"a function", `{ a: 1,
b: () => 1 }`, "main.b", "a function"},
		{"a method", `{ a: 1,
b() {} }`, "main.b", "a function"},
		{"a member in short form", `{ a: 1,
b }`, "main.b", "the name b"},
		{"a spread", `{ a: 1,
b: [ ...x ] }`, "main.b[0]", "is spread"},
		{"a hole", `{ a: 1,
b: [ , 1 ] }`, "main.b[0]", "is left out"},
		{"a bigint", `{ a: 1,
b: 1n }`, "main.b", ""},
		{"infinity", `{ a: 1,
b: 1e999 }`, "main.b", "a number that JSON cannot represent"},
		{"a regular expression", `{ a: 1,
b: /x/ }`, "main.b", "is not a literal of JSON"},
		{"a prototype", `{ a: 1,
b: { __proto__: null } }`, "main.b.__proto__", "sets a prototype"},
		{"a computed key", `{ a: 1,
b: { ['x']: 1 } }`, "main.b", "computed key"},
		{"void", `{ a: 1,
b: void 0 }`, "main.b", "an operator"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, findings := flowmcp.MainJSON([]byte("export const main = " + c.js))
			for _, f := range findings {
				if f.Code == "SEC017" && f.Path == c.path && f.Line == 2 && strings.Contains(f.Message, c.what) && f.Severity == flowmcp.Fatal {
					return
				}
			}
			t.Errorf("%s; want SEC017 %s %q in line 2 among %v", got, c.path, c.what, findings)
		})
	}
}

// TestHash uses the vectors of the format.
func TestHash(t *testing.T) {
	for main, want := range map[string]string{
		`{}`: "44136fa3", `{"a":1}`: "015abd7f", `{ a: 1, schemaHash: 'x' }`: "015abd7f",
		`{"b":[1,"é",null,true,1e21,1.5],"a":{"y":2}}`: "804f426e",
		`{ a: '\ud800' }`: "",
		`{ a: x }`:        "",
	} {
		if got := check(t, "export const main = "+main, flowmcp.Options{}).Hash; got != want {
			t.Errorf("%s: %q, want %q", main, got, want)
		}
	}
}

// TestWireNames checks the order of the steps: split, truncate, sanitize.
func TestWireNames(t *testing.T) {
	for _, c := range []struct{ route, namespace, want string }{
		{"getBalance", "my-ns", "get_balance_my_ns"},
		{"getABIv2", "a1B", "get_abiv2_a1_b"},
		{"'/block/:id'", "x", "_block_id_x"},
		{"a" + strings.Repeat("b", 80), "ns", "a" + strings.Repeat("b", 62)},
	} {
		text := strings.Replace(file(c.route+`: { method: 'GET', path: '/', description: 'x', parameters: [] }`), "'shop'", "'"+c.namespace+"'", 1)
		if got := check(t, text, flowmcp.Options{}).Tools[0].Name; got != c.want {
			t.Errorf("%s: %s, want %s", c.route, got, c.want)
		}
	}
}
