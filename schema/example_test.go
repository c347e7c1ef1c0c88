package schema_test

import (
	"fmt"
	"log"

	"github.com/tenon-mcp/tenon/schema"
)

// A schema is compiled once and then validates JSON texts. Each violation has
// the location, what was expected and the actual text.
func ExampleCompile() {
	s, err := schema.Compile([]byte(`{
		"type": "object",
		"properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}},
		"required": ["name"]
	}`), schema.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, v := range s.Validate([]byte(`{"age": -3}`)) {
		fmt.Printf("%q: expected %s, got %s\n", v.Path, v.Expected, v.Got)
	}
	fmt.Println(len(s.Validate([]byte(`{"name": "Rex", "age": 3}`))), "violations")
	// Output:
	// "": expected member "name", got nothing
	// "/age": expected at least 0, got -3
	// 0 violations
}

// Repair changes what leaves no doubt about the intended value, and lists the changes.
func ExampleSchema_Repair() {
	s, err := schema.Compile([]byte(`{"type":"object","properties":{"age":{"type":"integer"}},"required":["age"]}`), schema.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fixed, fixes, left := s.Repair([]byte(`{"age":"3"}`))
	fmt.Printf("%s\n%v %d left\n", fixed, fixes[0].Kind, len(left))
	// Output:
	// {"age":3}
	// parse-scalar 0 left
}
