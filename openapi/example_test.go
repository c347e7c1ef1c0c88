package openapi_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/openapi"
)

// Each operation of a document becomes a tool; a call of the tool is a request
// to the service behind it.
func ExampleNew() {
	pets := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"path":"`+r.URL.Path+`","legs":4}`)
	}))
	defer pets.Close()

	ctx := context.Background()
	g, err := gateway.Load(ctx, openapi.New("../testdata/pets.yaml", openapi.Options{
		BaseURL:  pets.URL,
		Client:   pets.Client(), // the default client refuses private addresses
		Envelope: tenon.Native,
	}), gateway.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, tool := range g.Catalog().Tools() {
		fmt.Println(tool.Name())
	}
	result, err := g.Call(ctx, &tenon.Call{Tool: "find_pet", Args: []byte(`{"name":"Rex"}`)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", result.Structured)
	// Output:
	// find_pet
	// list_pets
	// {"path":"/pets/Rex","legs":4}
}

// What is wrong in a document costs the operation that it is in, and is told
// with file and line.
func ExampleParse() {
	offer, err := openapi.Parse("shop.yaml", []byte(`
openapi: 3.1.0
info: {title: Shop, version: "1"}
servers: [{url: "https://shop.example"}]
paths:
  /orders:
    get: {operationId: list_orders, responses: {"200": {description: All orders}}}
    post: to be written
`), openapi.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, tool := range offer.Tools {
		fmt.Println(tool.Name)
	}
	for _, f := range offer.Diagnostics {
		fmt.Println(f)
	}
	// Output:
	// list_orders
	// shop.yaml:8: operation POST /orders is skipped: not an object
}

// A Choice picks the operations that are offered.
func ExampleSelection() {
	source := openapi.New("../testdata/pets.yaml", openapi.Options{
		Selection: openapi.Selection{Include: []string{"path:/pets/*"}, ReadOnly: true},
	})
	offer, err := source.Load(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, tool := range offer.Tools {
		fmt.Println(tool.Name)
	}
	// Output:
	// find_pet
}
