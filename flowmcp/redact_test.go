package flowmcp_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
)

type answering struct{ body, header string }

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	h := http.Header{"Content-Type": {"text/plain"}}
	h.Set("X-Shop-Key", a.header)
	return &http.Response{StatusCode: 200, Header: h, Body: io.NopCloser(strings.NewReader(a.body)), ContentLength: -1, Request: r}, nil
}

// TestShortKeysAreHidden has values that could stand anywhere by chance: they
// are taken out where they were sent, and nowhere else.
func TestShortKeysAreHidden(t *testing.T) {
	const mask = "{{SERVER_PARAM:SHOP_KEY}}"
	for _, value := range []string{"k1", "7", "123456789012", "a$1.", "-"} {
		for _, tt := range []struct{ body, want string }{
			{`{"x-shop-key":"V","a":"V","b":1}`, `{"x-shop-key":"M","a":"V","b":1}`},
			{`{"headers":{"X-Shop-Key": ["V"]}}`, `{"headers":{"X-Shop-Key": ["M"]}}`},
			{`{"SHOP_KEY" : "V"}`, `{"SHOP_KEY" : "M"}`},
			{`{"u":"https://shop.example/a?q=1&token=V&z=V"}`, `{"u":"https://shop.example/a?q=1&token=M&z=V"}`},
			{`token=V`, `token=M`},
			{`X-Shop-Key: V`, `X-Shop-Key: M`},
			{`mytoken=V`, `mytoken=V`},
			{`{"token":"VV"}`, `{"token":"VV"}`},
		} {
			text := strings.Replace(file(`a: { method: 'GET', path: '/echo', description: 'x', parameters: [ { position: { key: 'token', value: '{{SERVER_PARAM:SHOP_KEY}}', location: 'query' }, z: { primitive: 'string()' } } ] }`),
				"root:", "requiredServerParams: [ 'SHOP_KEY' ], headers: { 'X-Shop-Key': '{{SERVER_PARAM:SHOP_KEY}}' }, root:", 1)
			body, want := strings.ReplaceAll(tt.body, "V", value), strings.NewReplacer("M", mask, "V", value).Replace(tt.want)
			tool := load(t, text, flowmcp.Options{Client: &http.Client{Transport: answering{body, value}}, Env: func(string) (string, bool) { return value, true }})
			response, err := tool.Handler(t.Context(), &tenon.Call{})
			if err != nil || string(response.Body) != want || response.Header.Get("X-Shop-Key") != mask {
				t.Errorf("%s: %s, want %s; %v %v", body, response.Body, want, response.Header, err)
			}
		}
	}
}

// TestKeysAreHiddenHoweverTheyAreEscaped has answers that repeat a key as the
// writers of URLs, forms and JSON have it.
func TestKeysAreHiddenHoweverTheyAreEscaped(t *testing.T) {
	quoted, _ := json.Marshal(canary)
	ascii := strings.NewReplacer("/", `\u002F`, `"`, `\u0022`, "=", `\u003d`).Replace(canary)
	for _, form := range []string{
		canary, strings.Trim(string(quoted), `"`), strings.ReplaceAll(string(quoted), "/", `\/`), ascii,
		url.QueryEscape(canary), url.PathEscape(canary), strings.ToLower(url.QueryEscape(canary)), "c4nary/of%20the%20shop&=%221", "c4nary/of%20the%20shop%26%3D%221",
	} {
		out := sameAnswer{header: http.Header{"Content-Type": {"text/plain"}, "X-Echo": {form}}, body: "it was " + form + "."}
		for _, code := range []string{"", `postRequest: async ({ response }) => ({ response })`} {
			text := handled(code)
			if code == "" {
				text, _, _ = strings.Cut(text, "\nexport const handlers")
			}
			tool := load(t, text, flowmcp.Options{Client: &http.Client{Transport: out}, Env: shopKey, Worker: worker()})
			response, _ := tool.Handler(t.Context(), &tenon.Call{Args: []byte("{}")})
			if all := string(response.Body) + response.Header.Get("X-Echo"); strings.Contains(all, "shop") && strings.Contains(all, "c4nary") {
				t.Errorf("%s: %s", form, all)
			}
		}
	}
}

// sameAnswer gives every request the same response.
type sameAnswer struct {
	header http.Header
	body   string
}

func (a sameAnswer) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: a.header.Clone(), Body: io.NopCloser(strings.NewReader(a.body)), ContentLength: -1, Request: r}, nil
}
