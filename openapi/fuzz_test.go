package openapi_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/openapi"
)

const fuzzedOperation = `"parameters":[
	{"name":"p","in":"path","schema":{}},
	{"name":"l","in":"path","style":"label","explode":true,"schema":{}},
	{"name":"m","in":"path","style":"matrix","schema":{}},
	{"name":"q","in":"query","schema":{}},
	{"name":"d","in":"query","style":"deepObject","schema":{}},
	{"name":"r","in":"query","allowReserved":true,"schema":{}},
	{"name":"H-One","in":"header","schema":{}},
	{"name":"H-Two","in":"header","explode":true,"schema":{}},
	{"name":"c","in":"cookie","schema":{}}],
	"requestBody":{"content":{"application/x-www-form-urlencoded":{}}}`

// Whatever the arguments are, a request that leaves goes to the same host, has
// the same literal segments in its path and the same headers, each once.
func FuzzRequest(f *testing.F) {
	f.Add(`{"p":"../admin","l":"a/b","m":"x;y","q":"a&b","H-One":"a\r\nb: c","c":"a; b=c"}`)
	f.Add(`{"p":"%2e%2e","l":"..","m":"/","q":"#","d":{"a":["&x=1"]},"r":"a#b&c=d?e","H-One":"ü","H-Two":["\u0000"],"c":"\"","body":{"a":"&","b&":{"c":1}}}`)
	f.Add(`{"p":["a",{"b":".."}],"l":{"..":"/"},"m":[".."],"q":{"a=b":"&"},"H-Two":{"a":"b\n"},"c":{"x":"; y=1"}}`)
	f.Add(`{"p":"a\\b","l":1,"m":true,"q":"a\u2028b","r":"http://other.test/","H-One":"  x  "}`)
	f.Add(`{"p":"//other.test","l":"@other.test","m":":80","body":{}}`)
	w := &wire{}
	offer, err := openapi.Parse("doc.json", []byte(operation30("/a/{p}/b{l}/c{m}/d", fuzzedOperation)), openapi.Options{Client: &http.Client{Transport: w}})
	if err != nil {
		f.Fatal(err)
	}
	path := regexp.MustCompile(`^/v1/a/[^/?]+/b\.[^/?]*/c;[^/?]+/d(\?[^#]*)?$`)
	cookie := regexp.MustCompile(`^[-A-Za-z0-9._~%=,]*(; [-A-Za-z0-9._~%=,]*)*$`)
	f.Fuzz(func(t *testing.T, args string) {
		w.sent = w.sent[:0]
		_, err := offer.Tools[0].Handler(t.Context(), &tenon.Call{Args: []byte(args)})
		if len(w.sent) == 0 {
			if err == nil {
				t.Fatal("neither sent nor refused")
			}
			return
		}
		uri, header := read(t, w.sent[0])
		if !path.MatchString(uri) {
			t.Errorf("request URI %q", uri)
		}
		checkSegments(t, uri)
		for name, values := range header {
			switch name {
			case "Accept", "Content-Type", "Content-Length", "User-Agent", "Cookie", "H-One", "H-Two":
			default:
				t.Errorf("header %s", name)
			}
			if len(values) != 1 {
				t.Errorf("%d lines of %s", len(values), name)
			}
		}
		if c := header.Get("Cookie"); !cookie.MatchString(c) {
			t.Errorf("cookie %q", c)
		}
	})
}

// read reads a request as an upstream does.
func read(t *testing.T, sent string) (uri string, header http.Header) {
	t.Helper()
	req, err := http.ReadRequest(bufio.NewReader(strings.NewReader(sent)))
	if err != nil {
		t.Fatalf("%v in %q", err, sent)
	}
	if req.Host != "api.test" {
		t.Errorf("host %q", req.Host)
	}
	top, _, _ := strings.Cut(sent, "\r\n\r\n")
	if got, want := strings.Count(top, "\n"), len(req.Header)+1; got != want {
		t.Errorf("%d header lines, want %d: %q", got, want, top)
	}
	return req.RequestURI, req.Header
}

// checkSegments looks at the path as an upstream that decodes before it
// cleans.
func checkSegments(t *testing.T, uri string) {
	t.Helper()
	path, _, _ := strings.Cut(uri, "?")
	text, err := url.PathUnescape(path)
	if err != nil {
		t.Fatal(err)
	}
	for s := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '/' || r == '\\' }) {
		if s == "." || s == ".." {
			t.Errorf("segment %q in %q", s, uri)
		}
	}
}

// Any bytes give an error or an offer whose tools have legal names of their
// own and whose published schemas are JSON objects.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(operation30("/a/{p}/b{l}/c{m}/d", fuzzedOperation)))
	f.Add([]byte(operation20("/a/{x}", `"parameters":[{"name":"p","in":"body","schema":{"$ref":"#/definitions/A"}}]`)))
	f.Add([]byte(`{"openapi":"3.2.0","paths":{"/a":{"query":{"operationId":"` + strings.Repeat("ü a", 40) + `"},"additionalOperations":{"COPY":{},"get":{}}},"/b":{"$ref":"#/paths/~1a"}}}`))
	f.Add([]byte(operation30("/a", `"parameters":[{"name":"p","in":"query","schema":{"type":"string","pattern":"^\"a\"$"}}]`)))
	f.Add([]byte("openapi: 3.1.0\npaths:\n  /a:\n    get:\n      parameters: {a: b}\n      responses:\n        200:\n          content:\n            '*/*': {schema: {$ref: '#/paths'}}\n"))
	f.Add([]byte(`{"openapi":"3.0.0","servers":[{"url":"{a}","variables":{"a":{"default":8}}}],"paths":{"/{":{"get":{"parameters":[{"name":"a","in":"path"}]}}}}`))
	name := regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)
	f.Fuzz(func(t *testing.T, doc []byte) {
		offer, err := openapi.Parse("doc", doc, openapi.Options{Client: &http.Client{Transport: &wire{}}})
		if err != nil {
			if tenon.CodeOf(err) != tenon.CodeBadSource {
				t.Errorf("code %s: %v", tenon.CodeOf(err), err)
			}
			return
		}
		seen := map[string]bool{}
		for _, tool := range offer.Tools {
			if !name.MatchString(tool.Name) || seen[tool.Name] {
				t.Errorf("name %q", tool.Name)
			}
			seen[tool.Name] = true
			checkContract(t, tool)
			_, _ = tool.Handler(t.Context(), &tenon.Call{Args: []byte(`{"body":{}}`)})
		}
	})
}

func checkContract(t *testing.T, tool tenon.Tool) {
	t.Helper()
	published, _ := tool.Contract.PublishedContract()
	full, err := tool.Contract.Contract()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []tenon.Contract{published, full} {
		checkObject(t, c.Input)
		for _, v := range c.Responses {
			if v.Schema != nil {
				checkObject(t, v.Schema)
			}
		}
	}
}

func checkObject(t *testing.T, schema []byte) {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(schema, &m); err != nil {
		t.Errorf("%v in %s", err, schema)
	}
}
