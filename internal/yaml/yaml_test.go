package yaml_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/internal/yaml"
)

func TestToJSON(t *testing.T) {
	cases := []struct{ name, src, want string }{
		{"a number as key", "200: ok\n1.10: x\ntrue: y\n~: z", `{"200":"ok","1.10":"x","true":"y","~":"z"}`},
		{"a version keeps its text", "version: 1.10", `{"version":1.10}`},
		{"dates are strings", "d: 2024-05-01\nt: 2024-05-01T10:00:00Z", `{"d":"2024-05-01","t":"2024-05-01T10:00:00Z"}`},
		{"yes, no, on and off are strings", "[yes, no, on, off, y, n, Yes, ON]", `["yes","no","on","off","y","n","Yes","ON"]`},
		{"booleans and nulls of the core schema", "[true, True, FALSE, null, Null, ~, x]", `[true,true,false,null,null,null,"x"]`},
		{"integers of any size", "[9223372036854775807, -123456789012345678901234567890, 0]", `[9223372036854775807,-123456789012345678901234567890,0]`},
		{"floats keep their text", "[1.0, -0.50, 1e3, 1E+30]", `[1.0,-0.50,1e3,1E+30]`},
		{"numbers that JSON does not know are strings", "[0x1F, 0o17, 017, +1, .5, 1., .inf, -.INF, .nan, 1_000, 12:30]", `["0x1F","0o17","017","+1",".5","1.",".inf","-.INF",".nan","1_000","12:30"]`},
		{"quotes make strings", `[ "1", 'true', "null", "a\tb\u00e9\0" ]`, `["1","true","null","a\tbé\u0000"]`},
		{"explicit tags", `[!!str 1, !!int "2", !!float "x", !!bool 'true', !!null "", !!binary aGk=, !mine z, !!str null]`, `["1",2,"x",true,null,"aGk=","z","null"]`},
		{"block scalars", "a: |\n  one\n  two\nb: >-\n  one\n  two\n", `{"a":"one\ntwo\n","b":"one two"}`},
		{"the order of keys stays", "z: 1\na: 2\nm: 3", `{"z":1,"a":2,"m":3}`},
		{"an alias", "a: &x {k: [1]}\nb: *x", `{"a":{"k":[1]},"b":{"k":[1]}}`},
		{"an alias as key", "a: &x key\n*x : 1", `{"a":"key","key":1}`},
		{"a merge key", "base: &b {x: 1, y: 2}\nall:\n  <<: *b\n  y: 3\n  z: 4", `{"base":{"x":1,"y":2},"all":{"x":1,"y":3,"z":4}}`},
		{"own keys before a merge key win", "base: &b {x: 1, y: 2}\nall:\n  y: 3\n  <<: *b", `{"base":{"x":1,"y":2},"all":{"y":3,"x":1}}`},
		{"several merged mappings: the first wins", "a: &a {x: 1}\nb: &b {x: 2, y: 2}\nc: {<<: [*a, *b]}", `{"a":{"x":1},"b":{"x":2,"y":2},"c":{"x":1,"y":2}}`},
		{"a merge key inside a merged mapping", "a: &a {x: 1}\nb: &b {<<: *a, y: 2}\nc: {<<: *b}", `{"a":{"x":1},"b":{"x":1,"y":2},"c":{"x":1,"y":2}}`},
		{"a quoted merge key is a key", `{"<<": 1}`, `{"<<":1}`},
		{"the last of duplicate keys", "a: 1\nb: 2\na: 3", `{"a":3,"b":2}`},
		{"a byte order mark and a document marker", "\ufeff---\na: 1\n...\n", `{"a":1}`},
		{"a document that is a scalar", "just text", `"just text"`},
		{"JSON", "{\"a\": [1, \"x\", null]}", `{"a":[1,"x",null]}`},
		{"Windows line ends", "a: 1\r\nb:\r\n  - x\r\n", `{"a":1,"b":["x"]}`},
		{"UTF-16", "\xff\xfea\x00:\x00 \x001\x00", `{"a":1}`},
		{"a comment only behind a key", "a: # nothing\nb: 1", `{"a":null,"b":1}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := yaml.ToJSON([]byte(c.src))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got.JSON)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestToJSONRefuses(t *testing.T) {
	laughs := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	merges := "m0: &m0 {k: v}\n"
	for i := 1; i < 40; i++ {
		laughs += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
		merges += fmt.Sprintf("m%d: &m%d {<<: [*m%d, *m%d]}\n", i, i, i-1, i-1)
	}
	cases := []struct {
		name, src string
		line      int
		what      string
	}{
		{"nothing", "", 1, "empty"},
		{"a comment", "# only this\n", 1, "empty"},
		{"bad indentation", "a:\n  b: 1\n c: 2\n", 3, "did not find expected"},
		{"a tab as indentation", "a:\n\tb: 1\n", 2, ""},
		{"an unknown alias", "a: 1\nb: *no\n", 2, "no"},
		{"an alias inside itself", "a: &x\n  - *x\n", 0, "alias inside itself"},
		{"a second document", "a: 1\n---\nb: 2\n", 2, "second document"},
		{"a key that is a sequence", "a: 1\n? [x]\n: 2\n", 2, "not a scalar"},
		{"a merge key with text", "a: 1\nb:\n  <<: text\n", 3, "merge key"},
		{"a billion laughs", laughs, 0, "too much"},
		{"a billion merges", merges, 0, "too much"},
		{"deep nesting", strings.Repeat("[", 1500) + strings.Repeat("]", 1500), 1, "deeper"},
		{"a control character", "a: \x01\n", 1, ""},
		{"bytes that are not UTF-8", "a: 1\nb: \xff\xfe\n", 2, "UTF-8"},
		{"too many bytes", strings.Repeat("#", yaml.MaxSize+1), 1, "at most"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := yaml.ToJSON([]byte(c.src))
			var e *yaml.Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want an *Error", err)
			}
			if c.line != 0 && e.Line != c.line || !strings.Contains(e.Message, c.what) {
				t.Errorf("got %v, want line %d, %q", err, c.line, c.what)
			}
		})
	}
}

func TestLine(t *testing.T) {
	src := "# a comment\nopenapi: 3.0.0\npaths:\n  /a:\n    get: &op\n      tags: [x,\n        y]\n      description: |\n        long\n        text\n  /b:\n    get: *op\n"
	r, err := yaml.ToJSON([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	d, err := rawjson.Parse(r.JSON)
	if err != nil {
		t.Fatal(err)
	}
	for ptr, want := range map[string]int{
		"":                           2,
		"/openapi":                   2,
		"/paths":                     4,
		"/paths/~1a":                 5,
		"/paths/~1a/get/tags/0":      6,
		"/paths/~1a/get/tags/1":      7,
		"/paths/~1a/get/description": 8,
		"/paths/~1b":                 12,
		"/paths/~1b/get/tags/0":      6,
	} {
		if got := r.Line(d.Offset(d.Pointer(ptr))); got != want {
			t.Errorf("%s is at line %d, want %d", ptr, got, want)
		}
	}
	if r.Line(-1) != 1 || r.Line(1<<30) != 8 {
		t.Errorf("beyond the document: %d, %d", r.Line(-1), r.Line(1<<30))
	}
}

func TestNotesNameDuplicateKeys(t *testing.T) {
	src := "a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\na: 2\n"
	r, err := yaml.ToJSON([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	var lines []int
	for _, n := range r.Notes {
		lines = append(lines, n.Line)
	}
	if diff := cmp.Diff([]int{6, 5}, lines); diff != "" {
		t.Error(diff, r.Notes)
	}
	var many strings.Builder
	for i := range 300 {
		fmt.Fprintf(&many, "key%d: 1\n", i%100)
	}
	if r, err = yaml.ToJSON([]byte(many.String())); err != nil || len(r.Notes) != 100 {
		t.Errorf("%d notes, %v", len(r.Notes), err)
	}
}

// FuzzToJSON: any bytes give an error with a line inside the input, or strict
// JSON whose every line is inside the input. The size is in proportion.
func FuzzToJSON(f *testing.F) {
	for _, s := range []string{
		"a: &x [1, 'b', \"c\\n\"]\nb: *x\n<<: {d: 0x10}\n", "- |\n  text\n- >\n  more\n", "a: &a {<<: [*a]}", "{a: 1, a: 2}",
		"? x\n: y\n", "!!int 5", "---\n...\n", "\"\\ud800\"", "\ufeffa: b\r\n", "a: &a [&b {c: *a}, *b]", "%YAML 1.1\n---\nx",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		lines := strings.Count(string(src), "\n") + strings.Count(string(src), "\r") + 1
		r, err := yaml.ToJSON(src)
		var e *yaml.Error
		if err != nil {
			if !errors.As(err, &e) || e.Line < 1 || e.Line > lines+1 || e.Message == "" {
				t.Fatalf("bad error %#v of %d lines", err, lines)
			}
			return
		}
		d, err := rawjson.Parse(r.JSON)
		if err != nil {
			t.Fatalf("%s: %v", r.JSON, err)
		}
		if err := rawjson.Check(r.JSON); err != nil && !strings.Contains(err.Error(), "range of a double") {
			t.Fatalf("%s: %v", r.JSON, err)
		}
		if compact := d.AppendCompact(nil, d.Root()); string(compact) != string(r.JSON) {
			t.Fatalf("not compact: %s", r.JSON)
		}
		for i := range r.JSON {
			if n := r.Line(i); n < 1 || n > lines {
				t.Fatalf("offset %d is in line %d of %d", i, n, lines)
			}
		}
	})
}
