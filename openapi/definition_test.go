package openapi_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/openapi"
)

// TestWhereDefinitionsAre: a schema that tools share has one place, in whatever file it
// is, and of what conversion made the nearest place that is described.
func TestWhereDefinitionsAre(t *testing.T) {
	dir := t.TempDir()
	main := filepath.Join(dir, "api.yaml")
	for name, text := range map[string]string{
		"api.yaml": `openapi: 3.0.3
info: {title: t, version: "1"}
servers: [{url: "https://api.test"}]
paths:
  /a:
    get:
      operationId: a
      responses:
        "200":
          description: d
          content: {application/json: {schema: {$ref: "#/components/schemas/Book"}}}
components:
  schemas:
    Book:
      type: object
      properties:
        price:
          type: number
        author: {$ref: "people.yaml#/Person"}
        kind:
          anyOf:
            - type: string
            - type: object
              properties:
                a/b:
                  type: integer
          nullable: true
`,
		"people.yaml": "Person:\n  type: object\n  properties:\n    name:\n      type: string\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tool := offer(t, main, openapi.Options{}).Tools[0]
	c, err := tool.Contract.Contract()
	if err != nil {
		t.Fatal(err)
	}
	person := "/$defs/" + regexp.MustCompile(`Person_[0-9a-f]+`).FindString(string(c.Responses[0].Schema)) // its name depends on the folder
	for pointer, want := range map[string]string{
		"/$defs/Book":                                         "api.yaml:15",
		"/$defs/Book/properties/price":                        "api.yaml:18",
		"/$defs/Book/properties/price/nothing/of/this":        "api.yaml:18",
		"/$defs/Book/properties/kind/anyOf/1/properties/a~1b": "api.yaml:26",
		"/$defs/Book/properties/kind/anyOf/9":                 "api.yaml:22",
		person + "/properties/name":                           "people.yaml:5",
		"/$defs/Nobody":                                       ".:0",
		"/properties/price":                                   ".:0",
		"":                                                    ".:0",
	} {
		at := tool.DefinitionAt(pointer)
		if d := cmp.Diff(want, fmt.Sprintf("%s:%d", filepath.Base(at.File), at.Line)); d != "" {
			t.Errorf("%s (-want +got): %s", pointer, d)
		}
	}
}
