package document

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
)

func parse(t *testing.T, text string) *Document {
	t.Helper()
	d, err := Parse("api.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestParseDocumentKnowsTheVersion(t *testing.T) {
	cases := []struct {
		name, text string
		want       Version
	}{
		{"2.0", `{"swagger":"2.0"}`, V20},
		{"2.0 as a number", "swagger: 2.0\n", V20},
		{"3.0", `{"openapi":"3.0.4"}`, V30},
		{"3", `{"openapi":"3"}`, V30},
		{"3.1 as a number", "openapi: 3.1\n", V31},
		{"3.1 with a suffix", `{"openapi":"3.1.0-rc1"}`, V31},
		{"3.2", "---\nopenapi: \"3.2.0\"\n", V32},
		{"both", `{"swagger":"2.0","openapi":"3.1.0"}`, V31},
		{"a byte order mark", "\ufeff {\"openapi\":\"3.0.0\"}", V30},
		{"YAML that begins with a brace", "{openapi: 3.0.0, # why not\n paths: {}}", V30},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d, err := Parse("api", []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if d.Version != c.want {
				t.Errorf("got %d, want %d", d.Version, c.want)
			}
		})
	}
}

func TestParseDocumentRefuses(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"nothing", "", "api.json:1: not YAML: the document is empty"},
		{"broken JSON", "{\n\"openapi\": \"3.0.0\",\n}}", "api.json:3: not JSON: expected a key"},
		{"broken YAML", "openapi: 3.0.0\n\tpaths: x\n", "api.json:2: not YAML: "},
		{"a text", "hello", "api.json:1: not an OpenAPI document: "},
		{"another kind of document", `{"asyncapi":"3.0.0"}`, "api.json:1: not an OpenAPI document: "},
		{"a list", "\n[1]", "api.json:2: not an OpenAPI document: "},
		{"an old version", `{"swagger":"1.2"}`, `api.json:1: OpenAPI version "1.2" is not supported`},
		{"a version to come", `{"openapi":"4.0.0"}`, `api.json:1: OpenAPI version "4.0.0" is not supported`},
		{"a version that begins like another", `{"openapi":"3.10"}`, `api.json:1: OpenAPI version "3.10" is not supported`},
		{"no version", `{"openapi":null}`, `api.json:1: OpenAPI version "" is not supported`},
		{"bytes that are not UTF-8", "{\"openapi\":\"3.0.0\",\n\"x\":\"\xff\"}", "api.json:2: not JSON: not UTF-8"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("api.json", []byte(c.text))
			var e *tenon.Error
			if !errors.As(err, &e) || e.Code != tenon.CodeBadSource || !strings.HasPrefix(e.Message, c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestValue(t *testing.T) {
	d := parse(t, `{"openapi":"3.0.0","a":{"t":true,"f":"true","s":"x\ty","n":1.0},"l":[1,2]}`)
	a := d.Root.Get("a")
	if !a.IsTrue("t") || a.IsTrue("f") || a.IsTrue("none") || a.StrAt("s") != "x\ty" || a.StrAt("n") != "" || string(a.Get("n").Raw()) != "1.0" || a.Len() != 4 {
		t.Error("members are not what they are")
	}
	var got []string
	for key, v := range a.Each() {
		got = append(got, key+"="+string(v.Raw()))
	}
	for key, v := range d.Root.Get("l").Each() {
		got = append(got, key+"="+string(v.Raw()))
	}
	if diff := cmp.Diff([]string{"t=true", `f="true"`, `s="x\ty"`, "n=1.0", "=1", "=2"}, got); diff != "" {
		t.Error(diff)
	}
	for name, v := range map[string]Value{"zero": {}, "absent": a.Get("none"), "absent further down": a.Get("none").Get("x")} {
		for range v.Each() {
			t.Errorf("%s has members", name)
		}
		if v.OK() || v.Kind() != 0 || v.Str() != "" || v.Len() != 0 || v.Raw() != nil || v.IsTrue("t") || v.Get("x").OK() || d.position(v) != 0 {
			t.Errorf("%s is something", name)
		}
	}
}

func TestPosition(t *testing.T) {
	text := "{\n\"openapi\":\"3.0.0\",\n" + strings.Repeat("\n", 3*lineBlock) + "\"a\":{\n\"b\":1}}"
	d := parse(t, text)
	b := d.Root.Get("a").Get("b")
	if got, want := d.position(b), 3+3*lineBlock+1; got != want {
		t.Errorf("line %d, want %d", got, want)
	}
	if d.position(d.Root) != 1 {
		t.Errorf("the root is at line %d", d.position(d.Root))
	}
	if f := d.Diagnostic(b, "what", "do"); f != (tenon.Diagnostic{File: "api.json", Line: d.position(b), Message: "what", Hint: "do"}) {
		t.Errorf("got %v", f)
	}
	if f := d.Diagnostic(Value{}, "what", ""); f != (tenon.Diagnostic{File: "api.json", Message: "what"}) {
		t.Errorf("got %v", f)
	}
}

func TestResolve(t *testing.T) {
	d := parse(t, `{"openapi":"3.1.0","paths":{"/a{b}":{"get":{"x":1}}},"components":{"schemas":{
		"A":{"$anchor":"here"},"a b":2,"50%":3,"x/y":{"z":4},"~":5,"R":{"$ref":"#/components/schemas/x~1y"},"L":{"$ref":"#/components/schemas/L"}},"l":[6,[7]]},"x-a":{"$anchor":"data"}}`)
	for ref, want := range map[string]string{
		"#":                                        string(d.Root.Raw()),
		"#/paths/~1a%7Bb%7D/get/x":                 "1",
		"#/paths/~1a{b}/get/x":                     "1",
		"#/components/schemas/a%20b":               "2",
		"#/components/schemas/a b":                 "2",
		"#/components/schemas/50%25":               "3",
		"#/components/schemas/50%":                 "3",
		"#/components/schemas/x~1y/z":              "4",
		"#/components/schemas/x/y/z":               "4",
		"#/components/schemas/~0":                  "5",
		"#/components/schemas/R/z":                 "4",
		"#/components/l/1/0":                       "7",
		"#here":                                    `{"$anchor":"here"}`,
		"#data":                                    "no such target",
		"#/components/l/2":                         "no such target",
		"#/components/l/x":                         "no such target",
		"#/components/schemas/None":                "no such target",
		"#/components/schemas/L/z":                 "no such target",
		"#/components" + strings.Repeat("/a", 500): "no such target",
		"":                           "is empty",
		"A":                          "its other files are not available",
		"b.yaml#/A":                  "its other files are not available",
		"https://example.com/a.json": "--allow-ref example.com",
		"file:///etc/passwd":         "is not supported",
	} {
		v, err := d.resolve(ref)
		got := string(v.Raw())
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != want || err != nil && !strings.Contains(got, want) {
			t.Errorf("%s is %s, want %s", ref, got, want)
		}
	}
}

func TestDeref(t *testing.T) {
	d := parse(t, `{"openapi":"3.0.0","a":{"$ref":"#/b"},"b":{"$ref":"#/c"},"c":{"x":1},"loop":{"$ref":"#/loop"},"bad":{"$ref":"#/no"},"odd":{"$ref":1}}`)
	for key, want := range map[string]string{"a": `{"x":1}`, "c": `{"x":1}`, "odd": `{"$ref":1}`, "none": "", "loop": "error", "bad": "error"} {
		v, err := d.Deref(d.Root.Get(key))
		got := string(v.Raw())
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%s is %s, %v, want %s", key, got, err, want)
		}
	}
}
