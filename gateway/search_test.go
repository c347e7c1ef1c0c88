package gateway_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/openapi"
	"github.com/tenon-mcp/tenon/search"
)

// TestSearchFinds asks the questions of testdata/questions: among the first
// five tools must be one that answers, for 85 of 100 of them.
func TestSearchFinds(t *testing.T) {
	t.Run("bookshop", func(t *testing.T) {
		offer, err := openapi.New("../internal/bookshop/openapi.yaml", openapi.Options{}).Load(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		recall(t, offer, questions(t, "bookshop.tsv"), 2, 1)
	})
	t.Run("GitHub", func(t *testing.T) {
		offer, err := openapi.Parse("github", gitHub(t), openapi.Options{})
		if err != nil {
			t.Fatal(err)
		}
		recall(t, offer, questions(t, "github.tsv"), 5, 0.85)
	})
}

func recall(t *testing.T, offer tenon.Features, all []question, at int, least float64) {
	t.Helper()
	catalog := gateway.Build([]gateway.Mount{{Name: "api", Features: offer}}, gateway.BuildOptions{Describe: gateway.ToggleOn})
	g := gateway.New(search.Wrap(catalog), gateway.Options{})
	found, first := 0, 0
	for i, q := range all {
		args, err := json.Marshal(map[string]any{"query": q.text, "limit": at})
		if err != nil {
			t.Fatal(err)
		}
		res, err := g.Call(context.Background(), &tenon.Call{Tool: "search_tools", Args: args})
		if err != nil || res.IsError {
			t.Fatalf("%q: %v %v", q.text, err, res)
		}
		var answer struct{ Tools []struct{ Tool string } }
		if err := json.Unmarshal(res.Structured, &answer); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, h := range answer.Tools {
			names = append(names, h.Tool)
		}
		rank := slices.IndexFunc(names, func(n string) bool {
			return slices.ContainsFunc(q.operations, func(id string) bool { return tenon.ToolName(id) == n })
		})
		switch {
		case rank < 0:
			t.Logf("%d %q: want one of %q, found %q", i, q.text, q.operations, names)
		case rank == 0:
			first++
		}
		if rank >= 0 {
			found++
		}
	}
	n := float64(len(all))
	t.Logf("recall@%d %.3f, first %.3f, of %d questions over %d tools", at, float64(found)/n, float64(first)/n, len(all), len(offer.Tools))
	if float64(found)/n < least {
		t.Errorf("recall@%d is %.3f, want %.2f", at, float64(found)/n, least)
	}
}
