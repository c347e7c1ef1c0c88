package flowmcp_test

import (
	"io"
	"net/http"
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
			reply, err := tool.Handler(t.Context(), &tenon.Call{})
			if err != nil || string(reply.Body) != want || reply.Header.Get("X-Shop-Key") != mask {
				t.Errorf("%s: %s, want %s; %v %v", body, reply.Body, want, reply.Header, err)
			}
		}
	}
}
