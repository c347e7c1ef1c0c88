package sample_test

import (
	"fmt"
	"log"

	"github.com/tenon-mcp/tenon/schema"
	"github.com/tenon-mcp/tenon/schema/sample"
)

// Infer makes a schema of values, Of a value of a schema.
func ExampleInfer() {
	doc, err := sample.Infer([]byte(`{"id":1,"name":"a"}`), []byte(`{"id":2}`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", doc)
	s, err := schema.Compile(doc, schema.Options{})
	if err != nil {
		log.Fatal(err)
	}
	value, ok := sample.Of(s)
	fmt.Printf("%s %t\n", value, ok)
	// Output:
	// {"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"}},"required":["id"]}
	// {"id":1} true
}
