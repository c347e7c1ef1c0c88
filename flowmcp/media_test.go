package flowmcp_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
	"github.com/tenon-mcp/tenon/gateway"
)

const png = "\x89PNG\r\n\x1a\n\x00\x01\xff"

// outputs are the declarations of the tools that TestMedia calls.
func outputs() map[string]string {
	return map[string]string{
		"text":    `output: { mimeType: 'text/plain', schema: { type: 'string', description: '' } }`,
		"picture": `output: { mimeType: 'image/png', schema: { type: 'string', format: 'base64', description: '' } }`,
		"json":    `output: { mimeType: 'application/json', schema: { type: 'object', description: '' } }`,
		"none":    ``,
	}
}

// TestMedia has what upstreams send and what becomes of it, without handlers and
// behind one that returns what it gets.
func TestMedia(t *testing.T) {
	b64 := func(s string) string { return `"` + base64.StdEncoding.EncodeToString([]byte(s)) + `"` }
	for _, tt := range []struct {
		name, output, sent, body string
		data, verdict, media     string
	}{
		{"text", "text", "text/plain; charset=utf-8", "Käse", `"Käse"`, "fits", "text/plain"},
		{"text in Latin-1", "text", "text/csv; charset=iso-8859-1", "K\xe4se;1", `"Käse;1"`, "fits", "text/csv"},
		{"text in UTF-16", "text", "text/plain; charset=utf-16le", "K\x00\xe4\x00", `"Kä"`, "fits", "text/plain"},
		{"text that is called bytes", "text", "application/octet-stream", "a,b", `"a,b"`, "fits", "application/octet-stream"},
		{"JSON under a text tool", "text", "application/json", `[1]`, `"[1]"`, "fits", "application/json"},
		{"bytes under a text tool", "text", "text/plain", "a\xff\xfeb", b64("a\xff\xfeb"), "undeclared", "text/plain"},
		{"NUL under a text tool", "text", "text/plain", "a\x00b", b64("a\x00b"), "undeclared", "text/plain"},
		{"a picture under a text tool", "text", "image/png", png, b64(png), "undeclared", "image/png"},
		{"a picture of ASCII under a text tool", "text", "image/x-portable-bitmap", "P1 1 1 1", b64("P1 1 1 1"), "undeclared", "image/x-portable-bitmap"},
		{"a picture", "picture", "image/png", png, b64(png), "fits", "image/png"},
		{"a picture that is called bytes", "picture", "application/octet-stream", png, b64(png), "fits", "application/octet-stream"},
		{"another picture", "picture", "image/jpeg", "\xff\xd8\xff\x00", b64("\xff\xd8\xff\x00"), "undeclared", "image/jpeg"},
		{"JSON that is called text", "json", "text/html", `{"a":1}`, `{"a":1}`, "fits", "text/html"},
		{"JSON in UTF-8 that is called Latin-1", "json", "application/json; charset=iso-8859-1", `{"a":"ä"}`, `{"a":"ä"}`, "fits", "application/json"},
		{"JSON behind a byte order mark", "json", "application/json", "\xef\xbb\xbf{\"a\":1}", `{"a":1}`, "fits", "application/json"},
		{"JSON behind a byte order mark, called text", "none", "text/plain", "\xef\xbb\xbf{\"a\":1}", `{"a":1}`, "unchecked", "text/plain"},
		{"JSON in Latin-1", "json", "application/json; charset=iso-8859-1", "{\"a\":\"\xe4\"}", `{"a":"ä"}`, "fits", "application/json"},
		{"a page under a JSON tool", "json", "text/html", "<html>", `"<html>"`, "undeclared", "text/html"},
		{"a picture under no declaration", "none", "image/png", png, b64(png), "unchecked", "image/png"},
		{"XML in Latin-1 under no declaration", "none", "application/xml; charset=latin1", "<a>\xe4</a>", `"<a>ä</a>"`, "unchecked", "application/xml"},
	} {
		for _, handlers := range []string{"", "\nexport const handlers = () => ({ a: { postRequest: async ({ response }) => ({ response }) } })"} {
			name := tt.name
			if handlers != "" {
				name += ", handled"
			}
			t.Run(name, func(t *testing.T) {
				upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", tt.sent)
					_, _ = w.Write([]byte(tt.body))
				}))
				defer upstream.Close()
				tool := load(t, file(`a: { method: 'GET', path: '/x', description: 'x', parameters: [], `+outputs()[tt.output]+` }`)+handlers,
					flowmcp.Options{Client: upstream.Client(), BaseURL: upstream.URL})
				g := gateway.New(gateway.Build([]gateway.Mount{{Name: "x", Features: tenon.Features{Tools: []tenon.Tool{tool}}}}, gateway.BuildOptions{}), gateway.Options{})
				res, err := g.Call(t.Context(), &tenon.Call{Tool: tool.Name})
				if err != nil {
					t.Fatal(err)
				}
				var got struct{ Data json.RawMessage }
				if err := json.Unmarshal(res.Structured, &got); err != nil || string(got.Data) != tt.data {
					t.Errorf("data %s, want %s (%v)", got.Data, tt.data, err)
				}
				verdict, media := tt.verdict, tt.media
				if handlers != "" && !strings.HasPrefix(tt.data, `"`+base64.StdEncoding.EncodeToString([]byte(tt.body))) {
					media = `` // made by the handler
				}
				if handlers != "" && tt.output == "json" && tt.body == "<html>" {
					verdict = "violated"
				}
				if !strings.Contains(string(res.Meta), `"verdict":"`+verdict+`"`) || !strings.Contains(string(res.Meta), `"mediaType":"`+media) {
					t.Errorf("want %s, %s: %s", verdict, media, res.Meta)
				}
				if strings.Contains(string(res.Structured), "\uFFFD") {
					t.Errorf("a character is lost: %s", res.Structured)
				}
			})
		}
	}
}

// TestHandlersSeePictures gives a handler the picture in base64.
func TestHandlersSeePictures(t *testing.T) {
	for name, code := range map[string]string{
		"other data":    `({ response: { size: atob(response).length } })`,
		"a new picture": `({ response: btoa(atob(response) + 'x') })`,
	} {
		upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(png)) }))
		defer upstream.Close()
		tool := load(t, file(`a: { method: 'GET', path: '/x', description: 'x', parameters: [], `+outputs()["picture"]+` }`)+
			"\nexport const handlers = () => ({ a: { postRequest: async ({ response }) => "+code+" } })", flowmcp.Options{Client: upstream.Client(), BaseURL: upstream.URL})
		response, err := tool.Handler(t.Context(), &tenon.Call{})
		if err != nil || string(response.Body) != `{"size":11}` && string(response.Body) != png+"x" {
			t.Errorf("%s: %q %v", name, response.Body, err)
		}
	}
}

// TestHalfSurrogates has results with halves of surrogate pairs: they cost the
// character, and it is reported.
func TestHalfSurrogates(t *testing.T) {
	for _, tt := range []struct{ name, output, data, want, repairs string }{
		{"in a text", "none", `{ a: [ 'x', 'cut \ud83d' ], b: '\ud83d\ude00' }`, `{"a":["x","cut \ufffd"],"b":"😀"}`, `"repairs":[{"path":"/a/1","kind":"replace-surrogate","old":"\\ud83d","new":"\\ufffd"}]`},
		{"in a declared object", "json", `{ 'a/b': '\ude00' }`, `{"a/b":"\ufffd"}`, `"path":"/a~1b"`},
		{"in a name", "none", `{ a: 1, '\ud800': { b: 2 } }`, `{"a":1,"\ufffd":{"b":2}}`, `"path":"/` + "\uFFFD" + `"`},
		{"in the text of a text tool", "text", `'a\ud800b'`, `"a` + "\uFFFD" + `b"`, `"path":""`},
	} {
		for _, stage := range []string{"executeRequest", "postRequest"} {
			tool := load(t, file(`a: { method: 'GET', path: '/x', description: 'x', parameters: [], `+outputs()[tt.output]+` }`)+
				"\nexport const handlers = () => ({ a: { "+stage+": async () => ({ response: "+tt.data+" }) } })", flowmcp.Options{Client: &http.Client{Transport: &seen{}}})
			g := gateway.New(gateway.Build([]gateway.Mount{{Name: "x", Features: tenon.Features{Tools: []tenon.Tool{tool}}}}, gateway.BuildOptions{}), gateway.Options{})
			res, err := g.Call(t.Context(), &tenon.Call{Tool: tool.Name})
			if err != nil {
				t.Fatal(err)
			}
			if want := `{"status":true,"messages":[],"data":` + tt.want + `}`; decode(t, string(res.Structured)) == nil || !sameJSON(t, string(res.Structured), want) {
				t.Errorf("%s, %s: %s, want %s", tt.name, stage, res.Structured, want)
			}
			if !strings.Contains(string(res.Meta), tt.repairs) || tt.output != "none" && !strings.Contains(string(res.Meta), `"verdict":"repaired"`) {
				t.Errorf("%s, %s: %s, want %s", tt.name, stage, res.Meta, tt.repairs)
			}
		}
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	x, _ := json.Marshal(decode(t, a))
	y, _ := json.Marshal(decode(t, b))
	return string(x) == string(y)
}
