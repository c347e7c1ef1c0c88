package openapi_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/tenon-mcp/tenon/openapi"
)

// TestReviewOfGitHub: the document is good, but for two paths that are one.
func TestReviewOfGitHub(t *testing.T) {
	_, raw := github(t)
	r, err := openapi.Review("github.json", raw, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range r.Issues {
		if i.Rule != "path" || !strings.Contains(i.Pointer, "attestation") {
			t.Errorf("%s", i)
		}
	}
	if r.Operations < 1000 {
		t.Errorf("%d operations were looked at", r.Operations)
	}
}

// TestReviewOfAFile: a file is reviewed as its bytes are.
func TestReviewOfAFile(t *testing.T) {
	const reviewed = `openapi: 3.0.3
info: {title: Pets, colour: red}
paths:
  /pets/{id}:
    get:
      parameters:
        - {name: id, in: path, schema: {type: int}}
      responses:
        "200": {description: a pet, content: {application/json: {schema: {$ref: '#/components/schemas/Dog'}}}}
`
	name := t.TempDir() + "/pets.yaml"
	rapid.Check(t, func(rt *rapid.T) {
		cut := rapid.IntRange(0, len(reviewed)).Draw(rt, "cut")
		text := reviewed[:cut]
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			rt.Fatal(err)
		}
		one, err1 := openapi.New(name, openapi.Options{}).Review(context.Background(), true)
		two, err2 := openapi.Review(name, []byte(text), true)
		if (err1 == nil) != (err2 == nil) {
			rt.Fatalf("%v, %v", err1, err2)
		}
		if diff := cmp.Diff(one, two, cmpopts.IgnoreUnexported(openapi.Issue{})); diff != "" {
			rt.Errorf("file and bytes differ:\n%s", diff)
		}
	})
}
