package jsonpath_test

import (
	"encoding/json"
	"os"
	"reflect"
	"testing"

	"github.com/tenon-mcp/tenon/internal/jsonpath"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// TestComplianceSuite runs the cts.json of the JSONPath compliance test suite,
// which TENON_JSONPATH_SUITE names.
func TestComplianceSuite(t *testing.T) {
	name := os.Getenv("TENON_JSONPATH_SUITE")
	if name == "" {
		t.Skip("TENON_JSONPATH_SUITE does not name the cts.json of the JSONPath compliance test suite")
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var suite struct {
		Tests []struct {
			Name            string
			Selector        string
			Document        json.RawMessage
			Result          []any
			Results         [][]any
			InvalidSelector bool `json:"invalid_selector"`
		}
	}
	if err := json.Unmarshal(text, &suite); err != nil {
		t.Fatal(err)
	}
	for _, c := range suite.Tests {
		p, err := jsonpath.Parse(c.Selector)
		if c.InvalidSelector || err != nil {
			if c.InvalidSelector != (err != nil) {
				t.Errorf("%s: %q: error %v, should be rejected: %t", c.Name, c.Selector, err, c.InvalidSelector)
			}
			continue
		}
		got := values(t, p, c.Document)
		results := c.Results
		if results == nil {
			results = [][]any{c.Result}
		}
		found := false
		for _, want := range results {
			found = found || len(want) == 0 && len(got) == 0 || reflect.DeepEqual(got, want)
		}
		if !found {
			t.Errorf("%s: %q selects %v, want %v", c.Name, c.Selector, got, results)
		}
	}
	t.Logf("%d cases", len(suite.Tests))
}

func values(t *testing.T, p *jsonpath.Path, document []byte) (got []any) {
	t.Helper()
	doc, err := rawjson.Parse(document)
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := p.Select(doc)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		var v any
		if err := json.Unmarshal(doc.Raw(n), &v); err != nil {
			t.Fatal(err)
		}
		got = append(got, v)
	}
	return got
}
