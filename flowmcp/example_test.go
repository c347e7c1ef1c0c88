package flowmcp_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
	"github.com/tenon-mcp/tenon/gateway"
)

// A schema file is read without running it. Its tools are named after its
// namespace, and respond in the envelope of the format.
func ExampleNew() {
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `[{"name":"biscuits"}]`)
	}))
	defer shop.Close()

	source := flowmcp.New("../testdata/shop.mjs", flowmcp.Options{
		BaseURL: shop.URL,
		Client:  shop.Client(), // the default client refuses private addresses
	})
	defer func() { _ = source.Close() }()
	ctx := context.Background()
	g, err := gateway.Load(ctx, source, gateway.Options{})
	if err != nil {
		log.Fatal(err)
	}
	result, err := g.Call(ctx, &tenon.Call{Tool: g.Catalog().Tools()[0].Name()})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", result.Structured)
	// Output:
	// {"status":true,"messages":[],"data":[{"name":"biscuits"}]}
}

// Check holds files against the rules of the format.
func ExampleCheck() {
	reports, err := flowmcp.Check(context.Background(), "../testdata/shop.mjs", flowmcp.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, report := range reports {
		fmt.Println("loads:", report.Loads)
		for _, f := range report.Findings {
			if f.Severity != flowmcp.Info {
				fmt.Println(f)
			}
		}
	}
	// Output:
	// loads: true
	// 4: warning TST001 main.tools.listFood.tests: must hold at least one case
}
