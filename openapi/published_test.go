package openapi_test

import (
	"bytes"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/publish"
	"github.com/tenon-mcp/tenon/openapi"
	"github.com/tenon-mcp/tenon/schema"
)

// TestGitHubIsPublishedSafely looks at every schema as a client gets it, in
// its envelope and under its policy: nothing is left to make safe, both
// validators compile it, and hardly any needs the second.
func TestGitHubIsPublishedSafely(t *testing.T) {
	file, doc := github(t)
	offer, err := openapi.Parse(file, doc, openapi.Options{})
	if err != nil {
		t.Fatal(err)
	}
	catalog := gateway.Build([]gateway.Mount{{Name: "github", Features: offer}}, gateway.BuildOptions{})
	published, first := 0, 0
	for _, e := range catalog.Tools() {
		input, output := e.Schemas()
		for _, s := range [][]byte{input, output} {
			if s == nil {
				continue
			}
			published++
			if inFirstTier(t, e.Name(), s) {
				first++
			}
		}
	}
	t.Logf("%d of %d published schemas need no second tier (%.2f %%)", first, published, 100*float64(first)/float64(published))
	if published < 2000 || 100*first < 98*published {
		t.Error("fewer than 98 of 100 published schemas are served by the first tier")
	}
}

func inFirstTier(t *testing.T, tool string, doc []byte) bool {
	t.Helper()
	if safe, changes := publish.Compatible(doc); len(changes) > 0 || !bytes.Equal(safe, doc) {
		t.Errorf("%s: not safe yet: %v", tool, changes)
	}
	s, err := schema.Compile(doc, schema.Options{})
	if err != nil {
		t.Errorf("%s: %v", tool, err)
		return false
	}
	decoded, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	library := jsonschema.NewCompiler()
	if err := library.AddResource("tool.json", decoded); err != nil {
		t.Fatal(err)
	}
	if _, err := library.Compile("tool.json"); err != nil {
		t.Errorf("%s: the library does not compile it: %v", tool, err)
	}
	return s.Bytes()
}
