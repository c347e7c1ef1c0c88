package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/server"
)

func TestTheServerAnswers(t *testing.T) {
	for name, tt := range map[string]struct{ params, want string }{
		"a default is used": {
			`{"name":"get_forecast","arguments":{"city":"Cairo"}}`,
			`"structuredContent":{"result":[{"temperature":34.1,"humidity":0.21,"conditions":"Sunny"},{"temperature":35.1,"humidity":0.21,"conditions":"Sunny"},{"temperature":36.1,"humidity":0.21,"conditions":"Sunny"}]}}}`,
		},
		"an unknown city is an error that helps": {
			`{"name":"get_weather","arguments":{"city":"Rome"}}`,
			`"content":[{"type":"text","text":"Error executing tool get_weather: there is no station in Rome; try London or Cairo"}],"isError":true}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g, err := gateway.Load(t.Context(), functions(), gateway.Options{})
			if err != nil {
				t.Fatal(err)
			}
			in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + tt.params + `}`)
			var out bytes.Buffer
			if err := server.New(g, server.Options{}).ServeStdio(t.Context(), in, &out); err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimSpace(out.String()); !strings.HasSuffix(got, tt.want) {
				t.Error(cmp.Diff(tt.want, got))
			}
		})
	}
}
