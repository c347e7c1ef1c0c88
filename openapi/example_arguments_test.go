package openapi_test

import (
	"testing"

	"github.com/tenon-mcp/tenon/openapi"
)

// TestExampleArguments puts calls together from the examples of a document, and none
// where a required one is missing.
func TestExampleArguments(t *testing.T) {
	offer, err := openapi.Parse("shop.yaml", []byte(`
openapi: 3.1.0
info: { title: Shop, version: "1" }
servers: [ { url: "https://shop.example" } ]
paths:
  /a/{id}:
    get:
      operationId: all
      parameters:
        - { name: id, in: path, required: true, example: b1, schema: { type: string } }
        - { name: limit, in: query, schema: { type: integer, examples: [5, 6] } }
        - { name: other, in: query, schema: { type: integer, default: 9 } }
        - { name: kind, in: query, required: true, schema: { $ref: "#/components/schemas/kind" } }
        - { name: named, in: query, examples: { one: { value: [1] } }, schema: { type: array } }
      responses: { "204": { description: done } }
  /b:
    post:
      operationId: body
      requestBody: { required: true, content: { application/json: { example: { x: 1 }, schema: { type: object } } } }
      responses: { "204": { description: done } }
  /c:
    post:
      operationId: members
      requestBody: { required: true, content: { application/json: { schema: { type: object, required: [a, b], properties: {
        a: { type: string, example: A }, b: { type: object, required: [c], properties: { c: { const: 7 } } }, d: { type: string }, e: { type: string, example: E, readOnly: true } } } } } }
      responses: { "204": { description: done } }
  /d/{id}:
    get:
      operationId: none
      parameters: [ { name: id, in: path, required: true, schema: { type: string } } ]
      responses: { "204": { description: done } }
  /e:
    post:
      operationId: lacking
      requestBody: { required: true, content: { application/json: { schema: { type: object, required: [a, z], properties: { a: { type: string, example: A } } } } } }
      responses: { "204": { description: done } }
  /f:
    post:
      operationId: recursive
      requestBody: { required: true, content: { application/json: { schema: { $ref: "#/components/schemas/node" } } } }
      responses: { "204": { description: done } }
components:
  schemas:
    kind: { type: string, enum: [only] }
    node: { type: object, required: [next], properties: { next: { $ref: "#/components/schemas/node" } } }
`), openapi.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"all": `{"id":"b1","limit":5,"kind":"only","named":[1]}`, "body": `{"body":{"x":1}}`, "members": `{"body":{"a":"A","b":{"c":7}}}`,
	}
	for _, tool := range offer.Tools {
		from, ok := tool.Contract.(interface{ ExampleArguments() []byte })
		if !ok {
			t.Fatalf("%s has no examples", tool.Name)
		}
		if got := string(from.ExampleArguments()); got != want[tool.Name] {
			t.Errorf("%s: %s, want %s", tool.Name, got, want[tool.Name])
		}
	}
}
