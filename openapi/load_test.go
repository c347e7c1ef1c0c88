package openapi_test

import (
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/openapi"
)

// tools is an offer as a table shows it.
func tools(offer tenon.Features) []string {
	var out []string
	for _, t := range offer.Tools {
		out = append(out, t.Name)
	}
	return out
}

func TestOperationsAreFoundInTheOrderOfTheDocument(t *testing.T) {
	doc := `{"openapi":"3.2.0","paths":{
		"x-internal":{"get":{}},
		"/z":{"summary":"s","post":{"operationId":"z2"},"get":{"operationId":"z1"},"query":{"operationId":"z3"},
			"additionalOperations":{"COPY":{"operationId":"z4"},"GET":{"operationId":"no"},"CONNECT":{},"a b":{}}},
		"/ref":{"$ref":"#/components/pathItems/R"},
		"/gone":{"$ref":"#/components/pathItems/Gone"},
		"bad":{"get":{}},
		"/text":"no",
		"/op":{"get":{"$ref":"#/paths/~1z/post"},"put":{"$ref":"#/none"},"delete":7}},
		"components":{"pathItems":{"R":{"get":{"operationId":"r1"}}}}}`
	offer := load(t, doc, openapi.Options{})
	if d := cmp.Diff([]string{"z2", "z1", "z3", "z4", "r1", "z2_2"}, tools(offer)); d != "" {
		t.Error(d)
	}
	var got []string
	for _, f := range offer.Diagnostics {
		got = append(got, strings.Join(strings.Fields(f.String())[:3], " "))
	}
	want := []string{
		"doc.json:4: operation GET", "doc.json:4: operation CONNECT", "doc.json:4: operation a",
		"doc.json:6: path /gone", "doc.json:7: path bad", "doc.json:8: path /text",
		"doc.json:9: the name", "doc.json:9: operation PUT", "doc.json:9: operation DELETE",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if o := offer.Tools[1].Origin; o.File != "doc.json" || o.Line != 3 {
		t.Errorf("origin %v", o)
	}
}

func TestTextsAndHints(t *testing.T) {
	for _, c := range []struct{ name, method, op, title, description, hints string }{
		{"summary and description", "get", `"summary":"List things","description":"All of them."`, "List things", "List things\n\nAll of them.", "readOnly idempotent"},
		{"description that repeats the summary", "get", `"summary":"List things","description":"List things of a shop."`, "List things", "List things of a shop.", "readOnly idempotent"},
		{"no text", "head", ``, "", "HEAD /things", "readOnly idempotent"},
		{"deprecated", "options", `"summary":"Old","deprecated":true`, "Old", "Deprecated. Old", "readOnly idempotent"},
		{"long text is cut at a word", "query", `"description":"` + strings.Repeat("word ", 300) + `"`, "", strings.TrimSpace(strings.Repeat("word ", 204)) + "…", "readOnly idempotent"},
		{"put", "put", `"summary":"s"`, "s", "s", "idempotent"},
		{"delete", "delete", `"summary":"s"`, "s", "s", "idempotent destructive"},
		{"post adds", "post", `"summary":"s","operationId":"createThing"`, "s", "s", "additive"},
		{"post that takes away by its name", "post", `"summary":"s","operationId":"things/bulkDelete"`, "s", "s", ""},
		{"post of something undeleted", "post", `"summary":"s","operationId":"undelete_thing"`, "s", "s", "additive"},
		{"post marked idempotent", "post", `"summary":"s","x-mcp-idempotent":true`, "s", "s", "idempotent additive"},
		{"post marked safe", "post", `"summary":"s","x-mcp-safe":true`, "s", "s", "readOnly idempotent"},
		{"patch", "patch", `"summary":"s"`, "s", "s", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			tool := load(t, `{"openapi":"3.2.0","paths":{"/things":{"`+c.method+`":{`+c.op+`}}}}`, openapi.Options{TrustMarks: true}).Tools[0]
			got := []string{tool.Title, tool.Description, hints(tool.Annotations)}
			if d := cmp.Diff([]string{c.title, c.description, c.hints}, got); d != "" {
				t.Error(d)
			}
			if tool.Policy != tenon.Warn || tool.Envelope != tenon.OpenAPIMCP {
				t.Errorf("policy %s, shape %s", tool.Policy, tool.Envelope)
			}
		})
	}
}

func hints(h tenon.Annotations) string {
	var out []string
	add := func(b *bool, yes, no string) {
		switch {
		case b == nil:
		case *b:
			out = append(out, yes)
		default:
			out = append(out, no)
		}
	}
	add(h.ReadOnly, "readOnly", "writes")
	add(h.Idempotent, "idempotent", "not idempotent")
	add(h.Destructive, "destructive", "additive")
	add(h.OpenWorld, "open", "closed")
	return strings.Join(out, " ")
}

func TestPostToACancellingPathTakesAway(t *testing.T) {
	tool := load(t, `{"openapi":"3.1.0","paths":{"/orders/{id}/cancel":{"post":{}}}}`, openapi.Options{}).Tools[0]
	if got := hints(tool.Annotations); got != "" {
		t.Errorf("hints %q", got)
	}
}

func TestServers(t *testing.T) {
	const v3 = `{"openapi":"3.0.0",%s"paths":{"/a":{%s"get":{%s"operationId":"op"}}}}`
	doc := func(root, item, op string) string {
		return strings.NewReplacer("1%", root, "2%", item, "3%", op).Replace(strings.Replace(strings.Replace(strings.Replace(v3, "%s", "1%", 1), "%s", "2%", 1), "%s", "3%", 1))
	}
	const none = "the document has no usable server; set one with --base-url"
	for _, c := range []struct{ name, at, doc, base, want string }{
		{"document", "d", doc(`"servers":[{"url":"https://one.test/v1/"}],`, "", ""), "", "https://one.test/v1/a"},
		{"first of several", "d", doc(`"servers":[{"url":"https://one.test"},{"url":"https://two.test"}],`, "", ""), "", "https://one.test/a"},
		{"first that can be used", "d", doc(`"servers":[{"url":"/only/relative"},{"url":"ftp://x"},{"url":"https://two.test"}],`, "", ""), "", "https://two.test/a"},
		{"path before document", "d", doc(`"servers":[{"url":"https://one.test"}],`, `"servers":[{"url":"https://two.test"}],`, ""), "", "https://two.test/a"},
		{"operation before path", "d", doc("", `"servers":[{"url":"https://two.test"}],`, `"servers":[{"url":"http://three.test:81/x"}],`), "", "http://three.test:81/x/a"},
		{"variables", "d", doc(`"servers":[{"url":"https://{h}.test:{port}/{v}","variables":{"h":{"default":"api"},"port":{"default":8443},"v":{"enum":["v2"]}}}],`, "", ""), "", "https://api.test:8443/v2/a"},
		{"variable that is not declared", "d", doc(`"servers":[{"url":"https://{h}/v"}],`, "", ""), "", none},
		{"user information is dropped", "d", doc(`"servers":[{"url":"https://u:p@one.test"}],`, "", ""), "", "https://one.test/a"},
		{"relative to the document's URL", "https://docs.test/api/doc.json?token=1", doc(`"servers":[{"url":"../v3"}],`, "", ""), "", "https://docs.test/v3/a"},
		{"none, document from a URL", "https://docs.test/api/doc.json?token=1", doc("", "", ""), "", "https://docs.test/a"},
		{"none, document from a file", "d", doc("", "", ""), "", none},
		{"relative, document from a file", "d", doc(`"servers":[{"url":"/v3"}],`, "", ""), "", none},
		{"base URL replaces all", "d", doc(`"servers":[{"url":"https://one.test"}],`, "", `"servers":[{"url":"https://three.test"}],`), "http://base.test/x/", "http://base.test/x/a"},
		{"2.0", "d", `{"swagger":"2.0","host":"old.test:8080","basePath":"v1","schemes":["ws","http","https"],"paths":{"/a":{"get":{}}}}`, "", "https://old.test:8080/v1/a"},
		{"2.0 without schemes", "d", `{"swagger":"2.0","host":"old.test","paths":{"/a":{"get":{}}}}`, "", "https://old.test/a"},
		{"2.0 scheme of the operation", "d", `{"swagger":"2.0","host":"old.test","schemes":["https"],"paths":{"/a":{"get":{"schemes":["http"]}}}}`, "", "http://old.test/a"},
		{"2.0 without host, from a URL", "http://docs.test/x.json", `{"swagger":"2.0","basePath":"/v1","paths":{"/a":{"get":{}}}}`, "", "http://docs.test/v1/a"},
		{"2.0 without host, from a file", "d", `{"swagger":"2.0","paths":{"/a":{"get":{}}}}`, "", none},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got string
			client := &http.Client{Transport: tripper(func(r *http.Request) { got = r.URL.String() })}
			offer, err := openapi.Parse(c.at, []byte(c.doc), openapi.Options{Client: client, BaseURL: c.base})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := offer.Tools[0].Handler(t.Context(), &tenon.Call{}); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// tripper looks at a request and answers 204.
type tripper func(*http.Request)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) {
	f(r)
	return &http.Response{StatusCode: http.StatusNoContent, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}

func TestBaseURLThatCannotBeUsedIsAUsageError(t *testing.T) {
	for _, base := range []string{"api.test", "ftp://api.test", "https://api.test?x=1", "https://", "http://[::1"} {
		_, err := openapi.Parse("d", []byte(operation30("/a", "")), openapi.Options{BaseURL: base})
		if tenon.CodeOf(err) != tenon.CodeUsage {
			t.Errorf("%s: %v", base, err)
		}
	}
}

func TestOperatorHeadersStayAtTheBaseURL(t *testing.T) {
	doc := `{"openapi":"3.0.0","servers":[{"url":"https://one.test/v1"}],"paths":{
		"/a":{"get":{"operationId":"here","parameters":[{"name":"x-key","in":"header","required":true,"schema":{}}]}},
		"/b":{"servers":[{"url":"https://one.test/other"}],"get":{"operationId":"same host"}},
		"/c":{"servers":[{"url":"https://uploads.one.test"}],"get":{"operationId":"other host"}},
		"/d":{"servers":[{"url":"http://one.test"}],"get":{"operationId":"other scheme"}}}}`
	var got []string
	client := &http.Client{Transport: tripper(func(r *http.Request) { got = append(got, r.Header.Get("X-Key")) })}
	offer := load(t, doc, openapi.Options{Client: client, Header: http.Header{"x-key": {"secret"}}})
	for _, tool := range offer.Tools {
		if _, err := tool.Handler(t.Context(), &tenon.Call{Args: []byte(`{"x-key":"mine"}`)}); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff([]string{"secret", "secret", "", ""}, got); d != "" {
		t.Error(d)
	}
	contract, _ := offer.Tools[0].Contract.PublishedContract()
	if strings.Contains(string(contract.Input), "key") {
		t.Errorf("the operator's header is still an argument: %s", contract.Input)
	}
}

func TestLoadReadsAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "api.json")
	if err := os.WriteFile(file, []byte(operation30("/a", "")), 0o600); err != nil {
		t.Fatal(err)
	}
	offer, err := openapi.New(file, openapi.Options{}).Load(t.Context())
	if err != nil || len(offer.Tools) != 1 || offer.Tools[0].Origin.File != file {
		t.Errorf("%v, %v", offer, err)
	}
}

func TestLoadOfAFileThatIsNotThere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "none.json")
	_, err := openapi.New(file, openapi.Options{}).Load(t.Context())
	if tenon.CodeOf(err) != tenon.CodeBadSource || !strings.Contains(err.Error(), file) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestLoadReadsAURL(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved.json":
			http.Redirect(w, r, "/api/doc.json", http.StatusFound)
		case "/api/doc.json":
			_, _ = w.Write([]byte(`{"openapi":"3.1.0","servers":[{"url":"v2"}],"paths":{"/a":{"get":{}}}}`))
		case "/api/v2/a":
			w.WriteHeader(http.StatusNoContent)
		default:
			http.NotFound(w, r)
		}
	}))
	defer upstream.Close()
	o := openapi.Options{Client: outward(t, upstream)}
	offer, err := openapi.New(upstream.URL+"/moved.json?key=secret", o).Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	respond, err := offer.Tools[0].Handler(t.Context(), &tenon.Call{})
	if err != nil || respond.Status != http.StatusNoContent {
		t.Errorf("%v, %v", respond, err)
	}
	if f := offer.Tools[0].Origin.File; f != upstream.URL+"/moved.json" {
		t.Errorf("file %q", f)
	}
	_, err = openapi.New(upstream.URL+"/gone.json?key=secret", o).Load(t.Context())
	if tenon.CodeOf(err) != tenon.CodeBadSource || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}

func TestPolicyAndEnvelopeOfTheOperator(t *testing.T) {
	offer := load(t, operation30("/a", ""), openapi.Options{Policy: tenon.Enforce, Envelope: tenon.Native})
	if tool := offer.Tools[0]; tool.Policy != tenon.Enforce || tool.Envelope != tenon.Native {
		t.Errorf("policy %s, shape %s", tool.Policy, tool.Envelope)
	}
}
