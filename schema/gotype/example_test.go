package gotype_test

import (
	"fmt"
	"log"
	"reflect"

	"github.com/tenon-mcp/tenon/schema/gotype"
)

// A Codec has the schema of a Go type, and encodes its values so that they are
// valid: doc describes a member, check constrains it.
func ExampleFor() {
	type Pet struct {
		Name string `json:"name" doc:"What it answers to." check:"min=1"`
		Legs int    `json:"legs,omitempty" check:"min=0,max=8"`
	}
	codec, err := gotype.For(reflect.TypeFor[Pet](), gotype.ForOptions{NoTitles: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", codec.Doc())
	text, err := codec.Append(nil, &Pet{Name: "Rex", Legs: 4})
	fmt.Printf("%s %v\n", text, err)
	// Output:
	// {"properties":{"name":{"description":"What it answers to.","minLength":1,"type":"string"},"legs":{"maximum":8,"minimum":0,"type":"integer"}},"required":["name"],"type":"object"}
	// {"name":"Rex","legs":4} <nil>
}
