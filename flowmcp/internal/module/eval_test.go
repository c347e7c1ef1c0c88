package module_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/tdewolff/parse/v2/js"

	"github.com/tenon-mcp/tenon/flowmcp/internal/module"
)

// evaluate returns the JSON of the export main, or nil and what was reported.
func evaluate(text []byte) (value []byte, reports []string) {
	m, err := module.Parse(text)
	if err != nil {
		return nil, []string{err.Error()}
	}
	exported, at := m.Export("main")
	x, ok := exported.(js.IExpr)
	if !ok {
		return nil, []string{"not exported"}
	}
	e := module.Evaluator{
		Module: m, Offset: max(at, 0), AllowStringify: true, OnStringify: func(int, string) {},
		Report: func(_ int, path, what string) { reports = append(reports, path+" "+what) },
	}
	n := e.Value(x, "main")
	if !n.Valid() {
		return nil, reports
	}
	return n.AppendJSON(nil), reports
}

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
			got, reports := evaluate([]byte("export const main = " + c.js))
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s\n%v", diff, reports)
			}
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
		got, _ := evaluate([]byte(c.js))
		if string(got) != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// FuzzMain: JSON is ECMAScript, so a main that is JSON evaluates to itself. The
// standard library reads bytes that are no UTF-8 in another way than JavaScript.
func FuzzMain(f *testing.F) {
	f.Add([]byte(`{"a":[1,-0.5e-7,"x\u00e9\ud83d\ude00\n",null,true,{"b c":{}}],"1":2}`))
	f.Fuzz(func(t *testing.T, main []byte) {
		var want any
		if json.Unmarshal(main, &want) != nil || !utf8.Valid(main) || bytes.Contains(main, []byte("__proto__")) || bytes.Contains(main, []byte(`\u`)) || bytes.Contains(main, []byte("-0")) {
			return
		}
		got, reports := evaluate(append([]byte("export const main = ("), append(bytes.Clone(main), ')')...))
		if got == nil {
			if strings.Contains(reports[0], "nested") || bytes.ContainsAny(main, "\x00") {
				return
			}
			t.Fatalf("%s: %v", main, reports)
		}
		var have any
		if err := json.Unmarshal(got, &have); err != nil {
			t.Fatal(err)
		}
		w, _ := json.Marshal(want)
		h, _ := json.Marshal(have)
		if !bytes.Equal(w, h) {
			t.Errorf("%s became %s", w, h)
		}
	})
}
