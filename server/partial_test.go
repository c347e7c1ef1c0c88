package server_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/server"
)

// TestJSONRPCHasParts: the members of a part stand at the top of the
// result, whatever the tool's envelope.
func TestJSONRPCHasParts(t *testing.T) {
	for _, env := range []tenon.Envelope{tenon.Native, tenon.OpenAPIMCP, tenon.FlowMCP} {
		t.Run(string(env), func(t *testing.T) {
			tool := tenon.Tool{Name: "list", Envelope: env, MaxResult: 20, Handler: func(context.Context, *tenon.Call) (tenon.Response, error) {
				return tenon.Response{MediaType: "application/json", Body: []byte(`["aaaa","bbbb","cccc"]`)}, nil
			}}
			c := gateway.Build([]gateway.Mount{{Features: tenon.Features{Tools: []tenon.Tool{tool}}}}, gateway.BuildOptions{})
			endpoint := server.New(gateway.New(c, gateway.Options{}), server.Options{}).JSONRPC()
			arguments := "{}"
			for i, want := range []string{`"data":["aaaa"]`, `"data":["bbbb"]`, `"data":["cccc"]`} {
				w := httptest.NewRecorder()
				r := httptest.NewRequest("POST", "http://127.0.0.1/jsonrpc", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list","arguments":`+arguments+`}}`))
				r.Header.Set("Content-Type", "application/json")
				endpoint.ServeHTTP(w, r)
				top, _, _ := strings.Cut(w.Body.String(), `"content":`)
				_, rest, more := strings.Cut(top, `"partial":true,"resume_token":"`)
				if !strings.Contains(top, want) || more != (i < 2) || !more && !strings.Contains(top, `"partial":false`) {
					t.Error(w.Body.String())
				}
				token, _, _ := strings.Cut(rest, `"`)
				arguments = `{"resume_token":"` + token + `"}`
			}
		})
	}
}
