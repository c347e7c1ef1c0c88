package telemetry_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/server"
	"github.com/tenon-mcp/tenon/telemetry"
)

// A server whose metrics Prometheus reads.
func Example() {
	greet := tenon.Tool{Name: "greet", Handler: func(context.Context, *tenon.Call) (tenon.Response, error) {
		return tenon.Response{Body: []byte(`"hello"`)}, nil
	}}
	catalog := gateway.Build([]gateway.Mount{{Name: "demo", Features: tenon.Features{Tools: []tenon.Tool{greet}}}}, gateway.BuildOptions{})
	t, err := telemetry.New(telemetry.Options{Prometheus: true, Known: func(name string) bool { return catalog.Find(name) != nil }})
	if err != nil {
		fmt.Println(err)
		return
	}
	g := gateway.New(catalog, gateway.Options{Observers: []gateway.Observer{t}})
	s := server.New(g, server.Options{Observer: t})

	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet"}}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	s.ServeHTTP(httptest.NewRecorder(), r)

	w := httptest.NewRecorder()
	t.Metrics().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(w.Body.String()) {
		if strings.HasPrefix(line, "mcp_server_operation_duration_seconds_count") {
			fmt.Print(line)
		}
	}
	fmt.Println(t.Close())
	// Output:
	// mcp_server_operation_duration_seconds_count{gen_ai_operation_name="execute_tool",gen_ai_tool_name="greet",mcp_method_name="tools/call",mcp_protocol_version="2025-03-26",network_protocol_name="http",network_protocol_version="1.1",network_transport="tcp"} 1
	// <nil>
}
