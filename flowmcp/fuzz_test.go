package flowmcp_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/schema"
)

// FuzzCheck: any bytes give findings or a schema file, in both modes, and what
// loads becomes a catalog whose schemas compile.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(ruled))
	f.Add([]byte(goodList))
	f.Add([]byte("export const main = { tools: { a: { parameters: [ { position: {}, z: {} } ], output: { schema: {} } } } }"))
	for _, text := range keptCatalog() {
		f.Add([]byte(text))
	}
	f.Add([]byte("export const handlers = (x) => { const y = { a() {} }; return y }; export const main = { ['a']: `${1}` }"))
	files, err := filepath.Glob("testdata/*.mjs")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, strict := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "Test.mjs")
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			o := flowmcp.Options{Strict: strict, Env: func(string) (string, bool) { return "x", true }}
			reports, err := flowmcp.Check(t.Context(), path, o)
			if err != nil || len(reports) == 0 || len(reports[0].Findings) > 1001 {
				t.Fatalf("%d reports, %v", len(reports), err)
			}
			if !reports[0].Loads && len(reports[0].Findings) == 0 {
				t.Fatal("does not load, and nothing says why")
			}
			features, err := flowmcp.New(path, o).Load(t.Context())
			if err != nil {
				if reports[0].Loads && reports[0].Kind == "" || tenon.CodeOf(err) != tenon.CodeBadSource {
					t.Fatal(err)
				}
				continue
			}
			for _, e := range gateway.Build([]gateway.Mount{{Name: "f", Features: features}}, gateway.BuildOptions{}).Tools() {
				input, output := e.Schemas()
				for _, doc := range [][]byte{input, output} {
					if _, err := schema.Compile(doc, schema.Options{}); err != nil {
						t.Errorf("%s: %v", doc, err)
					}
				}
			}
		}
	})
}

// FuzzRequest: no argument changes the scheme, the host or the number of
// segments, adds a header or another name to the query, or brings a server
// parameter to another place.
func FuzzRequest(f *testing.F) {
	f.Add("a", "b", "c")
	f.Add("../..", "x?y=1#z", "{{SHOP_KEY}}&a=b")
	f.Add("\r\nX: 1", "@evil.example", "%2e%2e")
	features, err := flowmcp.New("testdata/Requests.mjs", flowmcp.Options{}).Load(f.Context())
	if err != nil || len(features.Tools) > 0 {
		f.Fatalf("without its keys the file is served: %v", err)
	}
	rec := &recorder{}
	features, err = flowmcp.New("testdata/Requests.mjs", flowmcp.Options{Client: &http.Client{Transport: rec}, Env: secrets("api", "SECRET")}).Load(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	tools := map[string]tenon.Tool{}
	for _, tool := range features.Tools {
		tools[tool.Name] = tool
	}
	f.Fuzz(func(t *testing.T, a, b, c string) {
		send := func(tool string, args map[string]any) *url.URL {
			text, err := json.Marshal(args)
			if err != nil {
				t.Fatal(err)
			}
			rec.last = nil
			if _, err := tools[tool].Handler(t.Context(), &tenon.Call{Args: text}); err != nil {
				return nil
			}
			u, err := url.Parse(rec.last.URL)
			if err != nil || u.Scheme != "https" || u.Host != "api.shop.example" || u.User != nil || u.Fragment != "" {
				t.Fatalf("%s: %v", rec.last.URL, err)
			}
			if len(rec.last.Headers) != 2 || strings.Contains(rec.last.Headers["accept"], "\n") {
				t.Fatalf("headers %v", rec.last.Headers)
			}
			return u
		}
		if u := send("inserts_shop_two", map[string]any{"first": a, "second": 1, "third": b, "mode": c}); u != nil {
			if n := strings.Count(u.EscapedPath(), "/"); n != 4 {
				t.Errorf("%s has %d segments", u, n)
			}
			if q := u.Query(); len(q) != 1 || strings.Contains(u.String(), "SECRET") && !strings.Contains(a+b+c, "SECRET") {
				t.Errorf("%s", u)
			}
		}
		if u := send("queries_shop_two", map[string]any{"q": a, "tag": []string{b}, "where": c}); u != nil {
			if q := u.Query(); len(q) != 7 || q.Get("key") != "SECRET" || utf8.ValidString(a) && q.Get("q") != a {
				t.Errorf("%s: %v", u, q)
			}
		}
	})
}

// FuzzGuide: any bytes give findings or a prompt, and one whose places are
// filled in is a text of UTF-8 in which what was given stands as it was.
func FuzzGuide(f *testing.F) {
	f.Add([]byte(`export const skill = { name: 'a', version: 'flowmcp/4.0.0', description: 'A', content: 'x {{input:a}} {{tool:b:call}} {{skill:a}}' }`))
	f.Add([]byte("const content = `{{input:a}}`; const b = c; const c = b; export const skill = { name: 'a', description: b, content }"))
	f.Add([]byte("export const skill = { name: 'a', version: 'flowmcp/4.0.0', description: 'A', content: 'no \x97 UTF-8, half \\ud800 {{input:a}}' }"))
	text, err := os.ReadFile("testdata/guided/skills/choose-book.mjs")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	dir := f.TempDir()
	schema := []byte(`export const main = { namespace: 'shop', name: 'Shop', description: 'A', version: '4.0.0', tools: {}, resources: {} }`)
	if err := os.MkdirAll(filepath.Join(dir, "skills"), 0o700); err != nil {
		f.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "Shop.mjs"), schema, 0o600); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(filepath.Join(dir, "skills", "a.mjs"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		features, err := flowmcp.New(dir, flowmcp.Options{}).Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(features.Prompts) == 0 && len(features.Diagnostics) == 0 {
			t.Error("neither a prompt nor a reason why there is none")
		}
		for _, p := range features.Prompts {
			args := map[string]string{}
			for _, a := range p.Arguments {
				args[a.Name] = "{{input:again}}"
			}
			messages, err := p.Get(t.Context(), args, &tenon.Call{})
			if err != nil {
				continue // an input of another type
			}
			if !utf8.Valid(messages[0].Content.Text) {
				t.Errorf("%q", messages[0].Content.Text)
			}
		}
	})
}
