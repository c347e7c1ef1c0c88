package flowmcp_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/flowmcp"
)

// TestLiterals evaluates every form of a literal.
func TestLiterals(t *testing.T) {
	for _, c := range []struct{ name, js, want string }{
		{"an empty object", `{}`, `{}`},
		{"keys of every form", `{ a: 1, 'b c': 2, "d": 3, 1.50: 4, 0x10: 5, '1.50': 6, if: 7, 'é': 8, }`, `{"a":1,"b c":2,"d":3,"1.5":4,"16":5,"1.50":6,"if":7,"é":8}`},
		{"a key twice", `{ a: 1, b: 2, a: 3 }`, `{"a":3,"b":2}`},
		{"numbers", `[0, -0, 1.5, -1.50, 1e21, 1e-7, .5, 5., 0xFF, 0b11, 0o17, 1_000, 123456789012345680000]`, `[0,0,1.5,-1.5,1e+21,1e-7,0.5,5,255,3,15,1000,123456789012345680000]`},
		{"words", `[true, false, null]`, `[true,false,null]`},
		{"escapes", `'\n\t\'"\x41\u00e9\u{1F600}\ud83d\ude00\
\0\q'`, `"\n\t'\"Aé😀😀\u0000q"`},
		{"a plain template", "`a\\`b\r\nc`", "\"a`b\\nc\""},
		{"parentheses and signs", `(+(-(-3)))`, `3`},
		{"a constant that is stringified", `[JSON.stringify({ a: [1, 'x'] })]`, `["{\"a\":[1,\"x\"]}"]`},
		{"trailing commas", `[1, 2,]`, `[1,2]`},
		{"comments", "/* a */ { // b\n a: /* c */ 1 }", `{"a":1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, findings := flowmcp.MainJSON([]byte("export const main = " + c.js))
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s\n%v", diff, findings)
			}
		})
	}
}

// TestNoLiterals reports what is no literal, with its line.
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
b: 1e999 }`, "main.b", "no number that JSON can carry"},
		{"a regular expression", `{ a: 1,
b: /x/ }`, "main.b", "is no literal of JSON"},
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

// TestExports finds main in every form of an export.
func TestExports(t *testing.T) {
	for _, c := range []struct{ name, js, want string }{
		{"a declaration", `export const main = 1`, `1`},
		{"a list", `const main = 1; export { main }`, `1`},
		{"a list with another name", `let data = 1; export { data as main, other }; const other = 2`, `1`},
		{"no export", `const main = 1`, ``},
		{"another module's", `export { main } from 'x'`, ``},
		{"a default", `export default { main: 1 }`, ``},
		{"another name", `export const schema = { main: 1 }`, ``},
	} {
		got, _ := flowmcp.MainJSON([]byte(c.js))
		if string(got) != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestHash has the vectors of the format.
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

// TestWireNames has the order of the steps: split, cut, then make legal.
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
