package projection_test

import (
	"fmt"
	"log"

	"github.com/tenon-mcp/tenon/schema/projection"
)

// A projection selects parts of a value, and of the schema that describes it.
func ExampleParseProjection() {
	p, err := projection.ParseProjection("items[].id")
	if err != nil {
		log.Fatal(err)
	}
	value, err := p.AppendValue(nil, []byte(`{"items":[{"id":1,"name":"a"}],"total":1}`))
	fmt.Printf("%s %v\n", value, err)
	doc, err := p.AppendSchema(nil, []byte(`{"properties":{"items":{"items":{"properties":{"id":{"type":"integer"}}}}}}`))
	fmt.Printf("%s %v\n", doc, err)
	// Output:
	// {"items":[{"id":1}]} <nil>
	// {"properties":{"items":{"items":{"properties":{"id":{"type":"integer"}}}}}} <nil>
}
