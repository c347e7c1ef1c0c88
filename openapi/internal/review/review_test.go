package review_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/openapi/internal/document"
	"github.com/tenon-mcp/tenon/openapi/internal/review"
)

const reviewed = `openapi: 3.0.3
info: {title: Pets, version: "1"}
servers: [{url: https://pets.example.com}]
paths:
  /pets/{id}:
    get:
      operationId: getPet
      summary: Get a pet
      description: The whole of it.
      tags: [pets]
      parameters:
        - {name: id, in: path, required: true, description: its number, schema: {type: integer}}
      responses:
        "200": {description: a pet, content: {application/json: {schema: {$ref: '#/components/schemas/Pet'}}}}
        default: {description: an error}
components:
  schemas:
    Pet: {type: object, properties: {name: {type: string, enum: [Tom, Tim], default: Tom}}}
`

// reviewOf reviews a document from its bytes.
func reviewOf(name string, raw []byte, lint bool) (*review.Report, error) {
	doc, err := document.Parse(name, raw)
	if err != nil {
		return nil, err
	}
	tool := func(_, method, path string) string { return method + " " + path }
	return review.Document(doc, review.Options{Lint: lint, ToolName: tool, MaxTitle: 120, MaxDescription: 1024}), nil
}

func TestReview(t *testing.T) {
	for _, tt := range []struct {
		name       string
		old, fresh string
		lint       bool
		want       string // "line severity rule pointer"; empty: nothing
	}{
		{name: "a document in order"},
		{name: "a document in order, linted", lint: true},
		{"no title", `title: Pets, `, ``, false, "2 error missing /info"},
		{"a member that nobody knows", `title: Pets`, `title: Pets, colour: red`, false, "2 error unknown-member /info/colour"},
		{"an extension", `title: Pets`, `title: Pets, x-colour: red`, false, ""},
		{"a member of a later version", `title: Pets`, `title: Pets, summary: all pets`, false, "2 error unknown-member /info/summary"},
		{"a wrong type", `version: "1"`, `version: 1`, false, "2 error type /info/version"},
		{"a reference that leads nowhere", `schemas/Pet'`, `schemas/Dog'`, false, "14 error reference /paths/~1pets~1{id}/get/responses/200/content/application~1json/schema/$ref"},
		{"a path without a slash", `  /pets/{id}:`, `  pets/{id}:`, false, "6 error path /paths/pets~1{id}"},
		{"a parameter that the path does not have", `/pets/{id}`, `/pets`, false, "12 error path-parameter /paths/~1pets/get"},
		{"a parameter that is not declared", `name: id,`, `name: di,`, false, "7 error path-parameter /paths/~1pets~1{id}/get 12 error path-parameter /paths/~1pets~1{id}/get"},
		{"a path parameter that may be missing", `required: true, `, ``, false, "12 error path-parameter /paths/~1pets~1{id}/get/parameters/0"},
		{"a place that does not exist", `in: path`, `in: body`, false, "7 error path-parameter /paths/~1pets~1{id}/get 12 error value /paths/~1pets~1{id}/get/parameters/0/in"},
		{"a status that is none", `"200"`, `"2000"`, false, "14 error responses /paths/~1pets~1{id}/get/responses/2000"},
		{"an answer without description", `{description: an error}`, `{}`, false, "15 error missing /paths/~1pets~1{id}/get/responses/default"},
		{"an unknown type", `type: integer`, `type: int`, false, "12 error value /paths/~1pets~1{id}/get/parameters/0/schema/type"},
		{"a scheme that is not there", `tags: [pets]`, `security: [{key: []}]`, false, "10 error security /paths/~1pets~1{id}/get/security/key"},
		{"a keyword that nobody knows", `type: integer`, `type: integer, minimun: 1`, false, "12 warning unknown-keyword /paths/~1pets~1{id}/get/parameters/0/schema/minimun"},
		{"a default that is not allowed", `default: Tom`, `default: Jim`, false, "18 warning default /components/schemas/Pet/properties/name"},
		{"nothing can fit", `type: integer`, `type: integer, minimum: 3, maximum: 2`, false, "12 error range /paths/~1pets~1{id}/get/parameters/0/schema"},
		{"no operationId", `operationId: getPet`, `x-no: 1`, true, "7 warning operation-id /paths/~1pets~1{id}/get"},
		{"no operationId is legal", `operationId: getPet`, `x-no: 1`, false, ""},
		{"no answers", `responses:`, `x-no:`, true, "7 error missing /paths/~1pets~1{id}/get 7 info responses /paths/~1pets~1{id}/get"},
		{"an answer without schema", `{schema: {$ref: '#/components/schemas/Pet'}}`, `{}`, true, "14 warning answer-schema /paths/~1pets~1{id}/get/responses/200/content/application~1json 18 info unused /components/schemas/Pet"},
		{"an enum beside an array", `type: integer`, `type: array, items: {type: string}, enum: [a, b]`, false, "12 warning enum /paths/~1pets~1{id}/get/parameters/0/schema/enum"},
		{"an enum of arrays", `type: integer`, `type: array, items: {type: string}, enum: [[a], [b]]`, false, ""},
		{"an object of which nothing is said", `{type: string, enum: [Tom, Tim], default: Tom}`, `{type: object}`, true, "18 info coverage /components/schemas/Pet/properties/name"},
		{"a list of which nothing is said", `{type: string, enum: [Tom, Tim], default: Tom}`, `{type: array, items: {}}`, true, "18 info coverage /components/schemas/Pet/properties/name/items"},
		{"a value of which nothing is said", `{type: string, enum: [Tom, Tim], default: Tom}`, `{description: a name}`, true, "18 info coverage /components/schemas/Pet/properties/name"},
		{"members of any kind", `{type: string, enum: [Tom, Tim], default: Tom}`, `{type: object, additionalProperties: true}`, true, "18 info coverage /components/schemas/Pet/properties/name"},
		{"members of one kind", `{type: string, enum: [Tom, Tim], default: Tom}`, `{type: object, additionalProperties: {type: string}}`, true, ""},
		{"no members", `{type: string, enum: [Tom, Tim], default: Tom}`, `{type: object, additionalProperties: false}`, true, ""},
		{"what a request alone has", `{type: string, enum: [Tom, Tim], default: Tom}`, `{writeOnly: true}`, true, ""},
		{"refinements say the rest", `{type: string, enum: [Tom, Tim], default: Tom}`, `{type: object, properties: {a: {type: string}}, anyOf: [{required: [a]}, {maxProperties: 0}]}`, true, ""},
		{"an alternative of which nothing is said", `{type: string, enum: [Tom, Tim], default: Tom}`, `{oneOf: [{type: string}, {description: x}]}`, true, "18 info coverage /components/schemas/Pet/properties/name/oneOf/1"},
		{"a definition within itself", `{type: string, enum: [Tom, Tim], default: Tom}`, `{type: array, items: {$ref: '#/components/schemas/Pet'}}`, true, ""},
		{"a server in the open", `https://`, `http://`, true, "3 warning server /servers/0"},
		{"a credential as an argument", `parameters:`, "parameters:\n        - {name: api_key, in: query, description: yours, schema: {type: string}}", true, "12 warning credential /paths/~1pets~1{id}/get"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := reviewOf("pets.yaml", []byte(strings.Replace(reviewed, tt.old, tt.fresh, 1)), tt.lint)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, brief(r)); diff != "" {
				t.Errorf("issues (-want +got):\n%s\n%v", diff, r.Issues)
			}
		})
	}
}

func brief(r *review.Report) string {
	var all []string
	for _, i := range r.Issues {
		line := strings.TrimPrefix(i.String(), "pets.yaml:")
		line, _, _ = strings.Cut(line, ":")
		all = append(all, line, string(i.Severity), i.Rule, i.Pointer)
	}
	return strings.Join(all, " ")
}

func TestReviewOfTwo(t *testing.T) {
	const doc = `{"swagger":"2.0","info":{"title":"t","version":"1"},"paths":{"/a/{x}":{"get":{"operationId":"a",
"parameters":[{"name":"x","in":"path","required":true,"type":"string"},{"name":"b","in":"body"}],"responses":{"200":{"description":"d"}}}},
"/a/{y}":{"get":{"operationId":"a","parameters":[{"name":"y","in":"path","required":true}],"responses":{"200":{"description":"d","content":{}}}}}}}`
	r, err := reviewOf("pets.yaml", []byte(doc), false)
	if err != nil {
		t.Fatal(err)
	}
	want := "2 error missing /paths/~1a~1{x}/get/parameters/1 3 error missing /paths/~1a~1{y}/get/parameters/0 3 error unknown-member /paths/~1a~1{y}/get/responses/200/content " +
		"3 error path /paths/~1a~1{y} 3 error operation-id /paths/~1a~1{y}/get/operationId"
	if diff := cmp.Diff(want, brief(r)); diff != "" {
		t.Errorf("issues (-want +got):\n%s", diff)
	}
}

// FuzzReview: whatever the bytes, a review ends, is bounded, and every issue
// has a rule and a message.
func FuzzReview(f *testing.F) {
	f.Add([]byte(reviewed))
	f.Add([]byte(`{"openapi":"3.1.0","info":{},"paths":{"/a":{"$ref":"#/paths/~1a"}},"components":{"schemas":{"a":{"$ref":"#/components/schemas/a"}}}}`))
	f.Add([]byte(`{"swagger":"2.0","paths":[]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := reviewOf("doc", raw, true)
		if err != nil {
			return
		}
		for _, i := range r.Issues {
			if i.Rule == "" || i.Message == "" || i.Severity == "" {
				t.Errorf("an issue says nothing: %+v", i)
			}
		}
	})
}
