package schema_test

import (
	"fmt"
	"log"
	"reflect"

	"github.com/tenon-mcp/tenon/schema"
)

// A schema is compiled once and then holds JSON texts against it. Each
// violation names its place, what was expected there and what stands there.
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

// A Codec makes the schema of a Go type, and writes and reads its values so
// that they fit: doc describes a member, check constrains it.
func ExampleFor() {
	type Pet struct {
		Name string `json:"name" doc:"What it answers to." check:"min=1"`
		Legs int    `json:"legs,omitempty" check:"min=0,max=8"`
	}
	codec, err := schema.For(reflect.TypeFor[Pet](), schema.ForOptions{NoTitles: true})
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

// Repair changes what leaves no doubt about what was meant, and says what.
func ExampleSchema_Repair() {
	s, err := schema.Compile([]byte(`{"type":"object","properties":{"age":{"type":"integer"}},"required":["age"]}`), schema.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fixed, fixes, left := s.Repair([]byte(`{"age":"3"}`))
	fmt.Printf("%s\n%v %d left\n", fixed, fixes[0].Kind, len(left))
	// Output:
	// {"age":3}
	// read-text 0 left
}

// Some clients drop all tools of a server over one keyword that they cannot
// read. Compatible leaves such keywords out, and says which.
func ExampleCompatible() {
	safe, changes := schema.Compatible([]byte(`{"type":"object","properties":{"id":{"type":"string","pattern":"^(?<=x)y$"}}}`))
	fmt.Printf("%s\n", safe)
	for _, c := range changes {
		fmt.Println(c.Path, c.Keyword)
	}
	// Output:
	// {"type":"object","properties":{"id":{"type":"string"}}}
	// /properties/id pattern
}
