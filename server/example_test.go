package server_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/gofunc"
	"github.com/tenon-mcp/tenon/server"
)

// A Server is an http.Handler: mount it at a path, beside its health and, for
// programs that are no MCP clients, the JSON-RPC endpoint.
func Example() {
	type Name struct {
		Name string `json:"name"`
	}
	g, err := gateway.Load(context.Background(), gofunc.Functions{
		gofunc.Func("greet", "Greets somebody.", func(_ context.Context, n Name) (string, error) { return "Hello, " + n.Name, nil }),
	}, gateway.Options{})
	if err != nil {
		log.Fatal(err)
	}
	s := server.New(g, server.Options{Name: "greeter", Version: "1.0.0"})
	mux := http.NewServeMux()
	mux.Handle("/mcp", s)
	mux.Handle("/jsonrpc", s.JSONRPC())
	mux.Handle("/healthz", s.Health())
	web := httptest.NewServer(mux) // in a program: http.ListenAndServe("127.0.0.1:8080", mux)
	defer web.Close()

	body := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"name":"Ada"}}}`)
	response, err := http.Post(web.URL+"/jsonrpc", "application/json", body)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	fmt.Printf("%d %s %v\n", response.StatusCode, text, err)
	// Output:
	// 200 {"jsonrpc":"2.0","id":1,"result":{"_meta":{"tenon/contract":{"verdict":"fits","executed":"yes","retry":"unsafe","mediaType":"application/json"}},"OutputFormat":"structured","OutputType":"json","type":"api_response","data":"Hello, Ada","metadata":{},"content":[{"type":"text","text":"Hello, Ada"}],"structuredContent":{"result":"Hello, Ada"}}} <nil>
}

// With Authenticate the server knows who calls; a function finds the caller as
// the subject of its call.
func ExampleOptions() {
	g, err := gateway.Load(context.Background(), gofunc.Functions{
		gofunc.Func("who_am_i", "Names the caller.", func(ctx context.Context, _ struct{}) (string, error) {
			return string(gofunc.CallFromContext(ctx).Subject), nil
		}),
	}, gateway.Options{})
	if err != nil {
		log.Fatal(err)
	}
	s := server.New(g, server.Options{Authenticate: func(r *http.Request) (context.Context, string, error) {
		if r.Header.Get("Authorization") != "Bearer of-ada" {
			return nil, "", fmt.Errorf("a token is needed")
		}
		return r.Context(), "ada", nil
	}})
	for _, token := range []string{"Bearer of-ada", "Bearer of-eve"} {
		r := httptest.NewRequest("POST", "http://127.0.0.1/jsonrpc", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"who_am_i"}}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", token)
		w := httptest.NewRecorder()
		s.JSONRPC().ServeHTTP(w, r)
		fmt.Println(w.Code, strings.Contains(w.Body.String(), "ada"))
	}
	// Output:
	// 200 true
	// 401 false
}
