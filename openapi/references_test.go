package openapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/openapi"
)

// library is a document in four files: paths, parameters, answers and schemas
// stand in files of their own, in JSON and YAML, and refer to each other across
// folders and back to the main file.
func library() map[string]string {
	return map[string]string{
		"openapi.yaml": `
openapi: 3.1.0
info: {title: shelf, version: "1"}
servers: [{url: "https://api.example.com"}]
paths:
  /books/{id}: {$ref: "paths/book.yaml"}
  /books:
    get:
      operationId: list
      responses:
        "200": {$ref: "answers.json#/Books"}
components:
  schemas:
    Id: {type: integer, minimum: 1}
`,
		"paths/book.yaml": `
parameters:
  - $ref: "../parameters.yaml#/id"
get:
  operationId: read
  responses:
    "200":
      description: the book
      content:
        application/json:
          schema: {$ref: "../schemas/book.json"}
put:
  operationId: write
  requestBody:
    required: true
    content:
      application/json:
        schema: {$ref: "../schemas/book.json#"}
  responses: {"204": {description: done}}
`,
		"parameters.yaml": `
id: {name: id, in: path, required: true, schema: {$ref: "openapi.yaml#/components/schemas/Id"}}
`,
		"answers.json": `{"Books": {"description": "all", "content": {"application/json": {"schema":
			{"type": "array", "items": {"$ref": "./schemas/book.json"}}}}}}`,
		"schemas/book.json": `{"type": "object", "required": ["id", "title"], "properties": {
			"id": {"readOnly": true, "$ref": "../openapi.yaml#/components/schemas/Id"},
			"title": {"type": "string"},
			"author": {"$ref": "author.json#/Author"}}}`,
		"schemas/author.json": `{"Author": {"type": "object", "properties": {
			"name": {"type": "string"},
			"books": {"type": "array", "items": {"$ref": "book.json"}}}}}`,
	}
}

// onDisk writes files below a folder of their own and returns that.
func onDisk(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func offer(t *testing.T, spec string, o openapi.Options) tenon.Features {
	t.Helper()
	got, err := openapi.New(spec, o).Load(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// contracts are the schemas of all tools of an offer, as values, and every
// diagnostic of loading and publishing.
func contracts(t *testing.T, o tenon.Features) (map[string]any, []string) {
	t.Helper()
	all, diagnostics := map[string]any{}, []string{}
	for _, f := range o.Diagnostics {
		diagnostics = append(diagnostics, f.String())
	}
	for _, tool := range o.Tools {
		c, told := tool.Contract.PublishedContract()
		for _, f := range told {
			diagnostics = append(diagnostics, f.String())
		}
		add := func(key string, doc []byte) {
			var v any
			if doc == nil {
				return
			}
			if err := json.Unmarshal(doc, &v); err != nil {
				t.Fatalf("%s: %v in %s", key, err, doc)
			}
			all[key] = v
		}
		add(tool.Name+" in", c.Input)
		for _, a := range c.Responses {
			add(tool.Name+" "+a.Status, a.Schema)
		}
	}
	return all, diagnostics
}

func TestDocumentInSeveralFiles(t *testing.T) {
	got, diagnostics := contracts(t, offer(t, filepath.Join(onDisk(t, library()), "openapi.yaml"), openapi.Options{}))
	if len(diagnostics) > 0 {
		t.Errorf("diagnostics: %v", diagnostics)
	}
	for tool, want := range map[string]string{
		"read in":  `"id":{"$ref":"#/$defs/Id"}`,
		"write in": `"required":["title"]`, // id is read-only, which only the third file says
		"read 200": `"required":["id","title"]`,
		"list 200": `"type":"array"`,
	} {
		text, err := json.Marshal(got[tool])
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is %s, want %s in it", tool, text, want)
		}
		for _, bad := range []string{".json", ".yaml"} {
			if strings.Contains(strings.ReplaceAll(string(text), "#/$defs/", ""), bad) {
				t.Errorf("%s still refers to a file: %s", tool, text)
			}
		}
	}
	if text, _ := json.Marshal(got["write in"]); strings.Contains(string(text), `"readOnly"`) {
		t.Errorf("a read-only property goes in: %s", text)
	}
}

// The same description in one file and in several is the same tools.
func TestFilesMakeNoDifference(t *testing.T) {
	split := map[string]string{
		"api.json": `{"openapi":"3.1.0","paths":{"/a":{"get":{"operationId":"a","parameters":[{"$ref":"p.json#/P"}],
			"responses":{"200":{"$ref":"r.json"}}}}}}`,
		"p.json": `{"P":{"name":"n","in":"query","schema":{"type":"integer","minimum":3}}}`,
		"r.json": `{"description":"","content":{"application/json":{"schema":{"type":"object","properties":{"n":{"type":"integer"}}}}}}`,
	}
	whole := map[string]string{
		"api.json": `{"openapi":"3.1.0","paths":{"/a":{"get":{"operationId":"a","parameters":[{"name":"n","in":"query","schema":{"type":"integer","minimum":3}}],
			"responses":{"200":` + split["r.json"] + `}}}}}`,
	}
	a, diagnosticsA := contracts(t, offer(t, filepath.Join(onDisk(t, split), "api.json"), openapi.Options{}))
	b, diagnosticsB := contracts(t, offer(t, filepath.Join(onDisk(t, whole), "api.json"), openapi.Options{}))
	if diff := cmp.Diff(b, a); diff != "" || len(diagnosticsA)+len(diagnosticsB) > 0 {
		t.Errorf("several files (+) differ from one (-), diagnostics %v %v:\n%s", diagnosticsA, diagnosticsB, diff)
	}
}

func TestFilesThatAreNotRead(t *testing.T) {
	outside := onDisk(t, map[string]string{"secret.json": `{"type":"string"}`})
	dir := onDisk(t, map[string]string{"in/api.json": "", "common.json": `{"type":"integer"}`, "in/broken.json": `{"type":`, "in/list.json": `[]`})
	if err := os.Symlink(filepath.Join(outside, "secret.json"), filepath.Join(dir, "in", "link.json")); err != nil {
		t.Skip(err)
	}
	absolute := filepath.ToSlash(filepath.Join(outside, "secret.json"))
	for ref, want := range map[string]string{
		absolute:                         "relative to the file",
		"../common.json":                 "--ref-root",
		"../../../../../../etc/passwd":   "--ref-root",
		"link.json":                      "escapes",
		"none.json":                      "no such file",
		"broken.json":                    "broken.json:1: not JSON",
		"list.json":                      "not a schema",
		"file:///etc/passwd":             `"file" is not supported`,
		"http://169.254.169.254/latest/": "--allow-ref 169.254.169.254",
		"//example.com/a.json":           "relative to the file",
		"gopher://example.com/":          `"gopher" is not supported`,
	} {
		spec := filepath.Join(dir, "in", "api.json")
		text := `{"openapi":"3.1.0","servers":[{"url":"https://example.com"}],"paths":{"/a":{"get":{"operationId":"a","responses":{"200":{"description":"",
			"content":{"application/json":{"schema":{"$ref":` + quote(ref) + `}}}}}}}}}`
		if err := os.WriteFile(spec, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, diagnostics := contracts(t, offer(t, spec, openapi.Options{}))
		if len(diagnostics) != 1 || !strings.Contains(diagnostics[0], want) {
			t.Errorf("%s: diagnostics %q, want one with %s", ref, diagnostics, want)
		}
	}
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func TestRefRootWidensWhatIsRead(t *testing.T) {
	dir := onDisk(t, map[string]string{
		"in/api.json": `{"openapi":"3.1.0","servers":[{"url":"https://example.com"}],"paths":{"/a":{"get":{"operationId":"a","responses":{"200":{"description":"",
			"content":{"application/json":{"schema":{"$ref":"../common.json"}}}}}}}}}`,
		"common.json": `{"type":"integer"}`,
	})
	got, diagnostics := contracts(t, offer(t, filepath.Join(dir, "in", "api.json"), openapi.Options{RefRoot: dir}))
	if diff := cmp.Diff(map[string]any{"type": "integer"}, got["a 200"]); diff != "" || len(diagnostics) > 0 {
		t.Errorf("diagnostics %v, %s", diagnostics, diff)
	}
	_, err := openapi.New(filepath.Join(dir, "common.json"), openapi.Options{RefRoot: filepath.Join(dir, "in")}).Load(context.Background())
	if tenon.CodeOf(err) != tenon.CodeUsage {
		t.Errorf("a document outside of the root is read: %v", err)
	}
}

// web serves files and counts the requests for each.
func web(t *testing.T, files map[string]string) (base string, asked *atomic.Int64) {
	t.Helper()
	asked = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		text, ok := files[strings.TrimPrefix(r.URL.Path, "/")]
		switch {
		case strings.HasPrefix(text, "-> "):
			http.Redirect(w, r, text[3:], http.StatusFound)
		case !ok:
			http.NotFound(w, r)
		default:
			_, _ = w.Write([]byte(text))
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

func webOptions(t *testing.T) openapi.Options {
	t.Helper()
	c, err := egress.NewClient(egress.Options{AllowHosts: []string{"127.0.0.0/8"}})
	if err != nil {
		t.Fatal(err)
	}
	return openapi.Options{Client: c}
}

func TestDocumentInSeveralFilesOfTheWeb(t *testing.T) {
	files := map[string]string{}
	for name, text := range library() {
		files["v1/"+name] = text
	}
	base, asked := web(t, files)
	o := offer(t, base+"/v1/openapi.yaml", webOptions(t))
	if n := asked.Load(); n != int64(len(files)) {
		t.Errorf("loading asked for %d files, want %d", n, len(files))
	}
	got, diagnostics := contracts(t, o)
	want, _ := contracts(t, offer(t, filepath.Join(onDisk(t, library()), "openapi.yaml"), openapi.Options{}))
	if diff := cmp.Diff(len(want), len(got)); diff != "" || len(diagnostics) > 0 {
		t.Errorf("diagnostics %v, %s", diagnostics, diff)
	}
	if n := asked.Load(); n != int64(len(files)) {
		t.Errorf("publishing asked the web again: %d", n)
	}
}

func TestFilesOfTheWebThatAreNotRead(t *testing.T) {
	other, asked := web(t, map[string]string{"a.json": `{"type":"integer"}`})
	files := map[string]string{
		"up.json":      `{"type":"integer"}`,
		"v1/away.json": "-> " + other + "/a.json",
		"v1/out.json":  "-> /up.json",
	}
	base, _ := web(t, files)
	for ref, want := range map[string]string{
		other + "/a.json": "--allow-ref " + other[len("http://"):],
		"away.json":       "--allow-ref " + other[len("http://"):],
		"../up.json":      "--allow-ref " + base[len("http://"):],
		"out.json":        "--allow-ref " + base[len("http://"):],
		"none.json":       "404",
	} {
		files["v1/api.json"] = refersTo(ref)
		_, diagnostics := contracts(t, offer(t, base+"/v1/api.json", webOptions(t)))
		if len(diagnostics) != 1 || !strings.Contains(diagnostics[0], want) {
			t.Errorf("%s: diagnostics %q, want one with %s", ref, diagnostics, want)
		}
	}
	if n := asked.Load(); n != 1 { // by the redirect, whose answer is not used
		t.Errorf("the other host was asked %d times", n)
	}
}

func TestHostsThatTheOperatorNames(t *testing.T) {
	base, _ := web(t, map[string]string{"a.json": `{"type":"integer"}`})
	spec := filepath.Join(onDisk(t, map[string]string{"api.json": refersTo(base + "/a.json")}), "api.json")
	o := webOptions(t)
	o.RefHosts = []string{base[len("http://"):]}
	got, diagnostics := contracts(t, offer(t, spec, o))
	if diff := cmp.Diff(map[string]any{"type": "integer"}, got["a 200"]); diff != "" || len(diagnostics) > 0 {
		t.Errorf("diagnostics %v, %s", diagnostics, diff)
	}
}

// refersTo is a document whose only answer is what ref leads to.
func refersTo(ref string) string {
	return `{"openapi":"3.1.0","servers":[{"url":"https://example.com"}],"paths":{"/a":{"get":{"operationId":"a","responses":{"200":{"description":"",
		"content":{"application/json":{"schema":{"$ref":` + quote(ref) + `}}}}}}}}}`
}

func TestSchemasThatNameThemselves(t *testing.T) {
	dir := onDisk(t, map[string]string{
		"api.json": `{"openapi":"3.2.0","$self":"https://example.com/api","paths":{},"components":{"schemas":{
			"A":{"$id":"https://example.com/schemas/a","type":"object","properties":{
				"byID":{"$ref":"b"},"byPointer":{"$ref":"#/$defs/N"},"byAnchor":{"$ref":"#n"},"fromRoot":{"$ref":"#/components/schemas/S"},
				"byFile":{"$ref":"part.json"},"bySelf":{"$ref":"/api#/components/schemas/S"}},
				"$defs":{"N":{"$anchor":"n","const":"N of a"}}},
			"B":{"$id":"https://example.com/schemas/b","const":"b","$defs":{"N":{"$anchor":"n","const":"N of b"}}},
			"S":{"const":"S"}}}}`,
		"part.json": `{"const":"part"}`,
	})
	for name, want := range map[string]string{
		"byID": "b", "byPointer": "N of a", "byAnchor": "N of a", "fromRoot": "S", "byFile": "part", "bySelf": "S",
	} {
		text, err := os.ReadFile(filepath.Join(dir, "api.json"))
		if err != nil {
			t.Fatal(err)
		}
		with := strings.Replace(string(text), `"paths":{}`, `"servers":[{"url":"https://example.com"}],"paths":{"/a":{"get":{"operationId":"a","responses":{"200":{"description":"",
			"content":{"application/json":{"schema":{"$ref":"#/components/schemas/A/properties/`+name+`"}}}}}}}}`, 1)
		if err := os.WriteFile(filepath.Join(dir, "with.json"), []byte(with), 0o600); err != nil {
			t.Fatal(err)
		}
		got, diagnostics := contracts(t, offer(t, filepath.Join(dir, "with.json"), openapi.Options{}))
		body, _ := json.Marshal(got["a 200"])
		if !strings.Contains(string(body), `{"const":"`+want+`"`) || len(diagnostics) > 0 {
			t.Errorf("%s is %s, want %q; diagnostics %v", name, body, want, diagnostics)
		}
	}
}
