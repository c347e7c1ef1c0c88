package flowmcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
	"github.com/tenon-mcp/tenon/gateway"
)

// serve loads a file of testdata and returns a gateway with its tools, which
// nobody is asked about where the options do not say so.
func serve(t *testing.T, name string, o flowmcp.Options) *gateway.Gateway {
	t.Helper()
	if o.Confirm == "" {
		o.Confirm = tenon.ConfirmOff
	}
	features, err := flowmcp.New(filepath.Join("testdata", name), o).Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range features.Diagnostics {
		if f.Kind != "SEC100" { // the page's own example uses fetch
			t.Errorf("failure: %s", f)
		}
	}
	return gateway.New(gateway.Build([]gateway.Mount{{Name: "test", Features: features}}, gateway.BuildOptions{}), gateway.Options{})
}

// answers is an upstream with the paths of Output.mjs.
func answers(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/book":
		w.Header().Set("Content-Type", "text/html; charset=utf-8") // many call JSON so
		_, _ = w.Write([]byte(`{"title":"Emma","price":null,"stock":9007199254740993}`))
	case "/text":
		w.Header().Set("Content-Type", "application/json") // a text that looks like JSON stays a text
		_, _ = w.Write([]byte(`[1]`))
	case "/cover":
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write([]byte("\x89PNG\r\n"))
	case "/open":
		_, _ = w.Write([]byte(`[1,"two"]`))
	default:
		http.Error(w, "no such book", http.StatusGone)
	}
}

// TestAnswers follows answers of every media type into the envelope.
func TestAnswers(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(answers))
	defer upstream.Close()
	g := serve(t, "Output.mjs", flowmcp.Options{Client: upstream.Client(), BaseURL: upstream.URL})
	for _, c := range []struct{ tool, want, verdict string }{
		{"book_shop", `{"status":true,"messages":[],"data":{"title":"Emma","price":null,"stock":9007199254740993}}`, "fits"},
		{"text_shop", `{"status":true,"messages":[],"data":"[1]"}`, "fits"},
		{"cover_shop", `{"status":true,"messages":[],"data":"iVBORw0K"}`, "fits"},
		{"open_shop", `{"status":true,"messages":[],"data":[1,"two"]}`, "unchecked"},
		{"gone_shop", `{"status":false,"messages":["E001 gone_shop: HTTP 410 Gone: no such book"],"data":null}`, "unchecked"},
	} {
		res, err := g.Call(t.Context(), &tenon.Call{Tool: c.tool})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, string(res.Structured)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.tool, diff)
		}
		if !strings.Contains(string(res.Meta), `"verdict":"`+c.verdict+`"`) {
			t.Errorf("%s: verdict in %s, want %s", c.tool, res.Meta, c.verdict)
		}
	}
}

// TestPublishedOutput compares what is published with the file's own words.
func TestPublishedOutput(t *testing.T) {
	g := serve(t, "Output.mjs", flowmcp.Options{Policy: tenon.Enforce})
	_, output := g.Catalog().Find("book_shop").Schemas()
	want := `{"type":"object","properties":{"status":{"type":"boolean"},"messages":{"type":"array","items":{"type":"string"}},"data":{"anyOf":[` +
		`{"type":"object","description":"A book","properties":{"title":{"type":"string"},"price":{"type":["number","null"],"description":"In euro"},` +
		`"state":{"type":["string","null"],"enum":["new","used",null]},"url":{"type":"string","description":"Its page (format: uri)"},` +
		`"tags":{"type":"array","items":{"type":"string"}}}},{"type":"null"}]}},"required":["status","messages","data"]}`
	if diff := cmp.Diff(want, string(output)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	warned := serve(t, "Output.mjs", flowmcp.Options{})
	const anything = `{"type":["object","array","string","integer","number","boolean","null"],"items":{"type":["object","array","string","integer","number","boolean","null"]}}`
	for name, data := range map[string]string{
		"open_shop": `{}`, "text_shop": `{"anyOf":[{"type":"string"},` + anything + `]}`,
		"cover_shop": `{"anyOf":[{"type":"string","description":"Its cover as a picture (format: base64)"},` + anything + `]}`,
	} {
		if _, output := warned.Catalog().Find(name).Schemas(); !strings.Contains(string(output), `"data":`+data+`}`) {
			t.Errorf("%s publishes %s, want data %s", name, output, data)
		}
	}
	var meta map[string]any
	if err := json.Unmarshal(g.Catalog().Find("book_shop").Tool().Meta, &meta); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{
		"flowmcp/id": "shop/Output::book", "anthropic/searchHint": "books", "anthropic/alwaysLoad": true,
		"flowmcp/aliases": []any{"novel"}, "flowmcp/isConcurrencySafe": true, "flowmcp/docs": []any{"https://shop.example"}, "flowmcp/tags": []any{"reading"},
		"flowmcp/termsOfService": "https://shop.example/terms", "flowmcp/termsOfServiceLanguage": "en", "flowmcp/dataLicenseName": "CC-BY-4.0",
	}, meta); diff != "" {
		t.Errorf("_meta (-want +got):\n%s", diff)
	}
	words := g.Catalog().Find("book_shop").Tool().Keywords
	for _, want := range []string{"reading", "novel", "books", "https://shop.example/terms", "CC-BY-4.0", "Output", "/book"} {
		if !strings.Contains(words, want) {
			t.Errorf("the tool is not found by %q: %s", want, words)
		}
	}
}

// TestInputSchemas publishes only what a caller passes, with everything that z
// declares.
func TestInputSchemas(t *testing.T) {
	env := func(string) (string, bool) { return "x", true }
	for _, c := range []struct{ file, tool, want string }{
		{"Lists.mjs", "listed_shop", `{"type":"object","properties":{` +
			`"genre":{"type":"string","enum":["ANY","SEA"]},"label":{"type":"string","enum":["At sea, and on land"]},` +
			`"size":{"type":["string","number"],"enum":["1","2","x",1,2]},"code":{"type":"string","pattern":"^B\\d{3}$","description":"A code"},` +
			`"double":{"type":"string","pattern":"^\\d+$","default":"7"}},"required":["genre"],"additionalProperties":false}`},
		{"Requests.mjs", "queries_shop_two", `{"type":"object","properties":{` +
			`"q":{"type":"string","minLength":2,"maxLength":20,"description":"What to look for"},"tag":{"items":{},"type":"array","maxItems":3},` +
			`"where":{"type":"string"},"limit":{"type":"number","minimum":1,"maximum":50,"default":10},"page":{"type":"number","default":1}},` +
			`"required":["q"],"additionalProperties":false}`},
		{"Requests.mjs", "body_shop_two", `{"type":"object","properties":{"items":{"items":{},"type":"array","minItems":2,"maxItems":2},"big":{"type":"number"},` +
			`"gift":{"type":"boolean","default":false},"note":{"type":"string"},"more":{"type":"object"}},"required":["items","big"],"additionalProperties":false}`},
		{"Requests.mjs", "empty_shop_two", `{"type":"object","properties":{},"additionalProperties":false}`},
	} {
		g := serve(t, c.file, flowmcp.Options{Env: env})
		input, _ := g.Catalog().Find(c.tool).Schemas()
		if diff := cmp.Diff(c.want, string(input)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.tool, diff)
		}
	}
}

// TestHints tells reading from writing.
func TestHints(t *testing.T) {
	env := func(string) (string, bool) { return "x", true }
	g := serve(t, "Requests.mjs", flowmcp.Options{Env: env})
	for name, want := range map[string]string{
		"queries_shop_two": `"annotations":{"readOnlyHint":true}`,
		"remove_shop_two":  `"annotations":{"destructiveHint":true,"idempotentHint":true}`,
	} {
		if got := string(g.Catalog().Find(name).Definition()); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if got := string(g.Catalog().Find("body_shop_two").Definition()); strings.Contains(got, "annotations") {
		t.Errorf("a POST may do anything: %s", got)
	}
}

// TestConsentGoesByTheMethod asks before a POST as before every other method
// that does not only read, unless the operator says that it does.
func TestConsentGoesByTheMethod(t *testing.T) {
	for _, c := range []struct {
		method, meta, reads string
		want                tenon.Action
	}{
		{"GET", "", "", ""},
		{"POST", "", "", tenon.CreateResource},
		{"POST", "", "shop/Test::a", ""},
		{"POST", "meta: { isReadOnly: false, isDestructive: true },", "", tenon.RunTool},
		{"PUT", "", "", tenon.ReplaceResource},
		{"DELETE", "", "", tenon.DeleteResource},
	} {
		text := file(`a: { method: '` + c.method + `', path: '/a', description: 'x', ` + c.meta + ` parameters: [] }`)
		features, err := flowmcp.New(write(t, "Test.mjs", text), flowmcp.Options{HandlerReads: []string{c.reads}}).Load(t.Context())
		if err != nil || len(features.Tools) != 1 || features.Tools[0].Confirmation.Action != c.want {
			t.Errorf("%s %s %s: %+v, %v; want %q", c.method, c.meta, c.reads, features.Tools, err, c.want)
		}
	}
}

// TestMissingMediaType defaults an output block without a media type to JSON.
func TestMissingMediaType(t *testing.T) {
	text := file(`a: { method: 'GET', path: '/a', description: 'x', parameters: [], output: { schema: { type: 'object', properties: { n: { type: 'number' } } } } }`)
	features, err := flowmcp.New(write(t, "Test.mjs", text), flowmcp.Options{}).Load(t.Context())
	if err != nil || len(features.Diagnostics) != 1 || features.Diagnostics[0].Kind != "VAL060" {
		t.Fatal(features.Diagnostics, err)
	}
	contract, err := features.Tools[0].Contract.Contract()
	if err != nil || len(contract.Responses) != 1 || contract.Responses[0].MediaType != "application/json" {
		t.Errorf("%+v, %v", contract.Responses, err)
	}
}

// TestTakes excludes tools by rules of the operator, and problems of files
// without other tools.
func TestTakes(t *testing.T) {
	text := strings.Replace(file(`a: { method: 'GET', path: '/a', description: 'x', parameters: [] }, b: { method: 'POST', path: '/b', description: 'x', parameters: [] }`), "tools:",
		"requiredServerParams: [ 'NOT_SET' ], tags: [ 'books' ], tools:", 1)
	for _, c := range []struct{ want, needs string }{{"a_shop", "selection key"}, {"POST", "selection key"}, {"books", "key key"}, {"nothing", "selection selection"}} {
		source := flowmcp.New(write(t, "Test.mjs", text), flowmcp.Options{Selects: func(method, path string, names, tags []string) bool {
			return method == c.want || slices.Contains(names, c.want) || slices.Contains(tags, c.want)
		}})
		features, err := source.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var needs []string
		for _, s := range source.Availability() {
			needs = append(needs, string(s.Needs[0].Kind))
		}
		if got := strings.Join(needs, " "); got != c.needs || (len(features.Diagnostics) > 0) != (c.want != "nothing") {
			t.Errorf("%s: %s with %v, want %s", c.want, got, features.Diagnostics, c.needs)
		}
	}
}

// TestLeftOut covers the reasons for which a tool or a file is not served.
func TestLeftOut(t *testing.T) {
	const rest = `description: 'x', parameters: []`
	for _, c := range []struct{ name, text, tools, failure string }{
		{"a handler is needed", file(`a: { method: 'GET', path: '/a', `+rest+` }, b: { method: 'GET', path: '/b', `+rest+` }`) +
			"\nexport const handlers = () => { const shared = 1; return { a: { preRequest: async () => ({}) }, b: {} } }", "b_shop", "1 of 2 tools need handlers, but no worker command is set"},
		{"the handlers cannot be reported", file(`a: { method: 'GET', path: '/a', `+rest+` }`) + "\nexport function handlers() { return make() }", "", "1 of 1 tools need handlers"},
		{"a tool is wrong", file(`a: { method: 'GET', path: 5, ` + rest + ` }, b: { method: 'GET', path: '/b', ` + rest + ` }`), "b_shop", "VAL033 main.tools.a.path"},
		{"a tool is computed", file(`a: { method: 'GET', path: '/' + x, ` + rest + ` }, b: { method: 'GET', path: '/b', ` + rest + ` }`), "b_shop", "SEC017 main.tools.a.path"},
		{"a key is missing", strings.Replace(file(`a: { method: 'GET', path: '/a', `+rest+` }`), "tools:", "requiredServerParams: ['NOT_SET'], tools:", 1), "", "NOT_SET not set"},
		{"the file imports", "import fs from 'fs'\n" + file(`a: { method: 'GET', path: '/a', `+rest+` }`), "", "SEC001 file: uses an import statement"},
		{"two tools of one name", file(`getA: { method: 'GET', path: '/a', ` + rest + ` }, get_a: { method: 'GET', path: '/a', ` + rest + ` }`), "get_a_shop get_a_shop_test", `the tool name "get_a_shop" is taken`},
	} {
		t.Run(c.name, func(t *testing.T) {
			features, err := flowmcp.New(write(t, "Test.mjs", c.text), flowmcp.Options{}).Load(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range features.Tools {
				names = append(names, tool.Name)
			}
			if got := strings.Join(names, " "); got != c.tools {
				t.Errorf("tools %q, want %q", got, c.tools)
			}
			if !slices.ContainsFunc(features.Diagnostics, func(f tenon.Diagnostic) bool { return strings.Contains(f.Message, c.failure) }) {
				t.Errorf("diagnostics %v, want %q", features.Diagnostics, c.failure)
			}
		})
	}
}

// TestNothingToRead: a description of which nothing can be read is an error, so
// that what was served before stays; one file among others costs itself alone.
func TestNothingToRead(t *testing.T) {
	good := file(`a: { method: 'GET', path: '/a', description: 'x', parameters: [] }`)
	for _, c := range []struct {
		name  string
		texts []string
		want  string // of the error; empty: none
	}{
		{"no module", []string{"export const = 1"}, "Test0.mjs:1: VAL001 file: is not an ECMAScript module"},
		{"half", []string{good[:len(good)-10]}, "VAL001 file: is not an ECMAScript module"},
		{"no text", []string{""}, "Test0.mjs: VAL001 main: is not exported"},
		{"another main", []string{"export const main = 'x'"}, "VAL002 main: must be a plain object"},
		{"a computed main", []string{"export const main = make()"}, "SEC017 main"},
		{"all of a folder", []string{"", "export const = 1"}, "none of the 2 schema files of"},
		{"some of a folder", []string{"", good}, ""},
		{"an empty main", []string{"export const main = {}"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for i, text := range c.texts {
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("Test%d.mjs", i)), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			spec := dir
			if len(c.texts) == 1 {
				spec = filepath.Join(dir, "Test0.mjs")
			}
			_, err := flowmcp.New(spec, flowmcp.Options{}).Load(t.Context())
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || tenon.CodeOf(err) != tenon.CodeBadSource || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// TestWarningsAreTold covers diagnostics of tools that are served.
func TestWarningsAreTold(t *testing.T) {
	const rest = `description: 'x', output: { mimeType: 'text/plain', schema: { type: 'string' } }`
	const id = `parameters: [ { position: { key: 'id', value: '{{USER_PARAM}}', location: 'insert' }, z: { primitive: 'string()', options: [] } } ]`
	get := func(path, parameters string) string {
		return `{ method: 'GET', path: '` + path + `', ` + rest + `, ` + parameters + ` }`
	}
	one := file(`a: ` + get("/a", "parameters: []"))
	nine := ""
	for _, c := range "abcdefghi" {
		nine += string(c) + `: ` + get("/a", "parameters: []") + `, `
	}
	for _, c := range []struct{ name, text, kind string }{
		{"routes", strings.Replace(one, "tools:", "routes:", 1), "VAL018"},
		{"version 3", strings.Replace(one, "'4.", "'3.", 1), "VAL014"},
		{"nine tools", file(nine), "VAL031"},
		{"three resources", strings.Replace(one, "tools:", "resources: { a: {}, b: {}, c: {} }, tools:", 1), "RES005"},
		{"an argument without a place", file(`a: ` + get("/a", id)), "VAL050"},
		{"a body of a GET", file(`a: ` + get("/a", strings.Replace(id, "'insert'", "'body'", 1))), "VAL083"},
		{"a library nobody allowed", strings.Replace(one, "tools:", "requiredLibraries: [ 'left-pad' ], tools:", 1), "SEC020"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, "Test.mjs", c.text)
			features, err := flowmcp.New(path, flowmcp.Options{}).Load(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(features.Diagnostics, func(f tenon.Diagnostic) bool { return f.Kind == c.kind && f.File == path }) {
				t.Errorf("reported is %v, want %s", features.Diagnostics, c.kind)
			}
			if served := len(features.Tools) > 0; served != (c.kind != "SEC020") {
				t.Errorf("served: %v", served)
			}
		})
	}
	// A handler gets every argument, so that none of its tool is lost.
	handled := file(`a: `+get("/a", id)) + "\nexport const handlers = () => ({ a: { preRequest: async ( { struct, payload } ) => ({ struct, payload }) } })"
	features, err := flowmcp.New(write(t, "Test.mjs", handled), flowmcp.Options{Worker: worker()}).Load(t.Context())
	if err != nil || len(features.Tools) != 1 || len(features.Diagnostics) != 0 {
		t.Errorf("%d tools, reported is %v, %v", len(features.Tools), features.Diagnostics, err)
	}
	allowed := strings.Replace(one, "tools:", "requiredLibraries: [ 'left-pad' ], tools:", 1)
	if features, err = flowmcp.New(write(t, "Test.mjs", allowed), flowmcp.Options{Libraries: []string{"left-pad"}}).Load(t.Context()); err != nil || len(features.Tools) != 1 {
		t.Errorf("a library that is allowed: %d tools, %v, %v", len(features.Tools), features.Diagnostics, err)
	}
}

// TestLoadNothing covers unreadable descriptions.
func TestLoadNothing(t *testing.T) {
	for _, spec := range []string{filepath.Join(t.TempDir(), "none.mjs"), t.TempDir()} {
		if _, err := flowmcp.New(spec, flowmcp.Options{}).Load(t.Context()); tenon.CodeOf(err) != tenon.CodeBadSource {
			t.Errorf("%s: %v", spec, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := flowmcp.New("testdata", flowmcp.Options{}).Load(ctx); err == nil {
		t.Error("a folder is read on although the caller is gone")
	}
}
