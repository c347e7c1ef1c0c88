package flowmcp_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
)

// guided loads the files with guides; asked collects what is sent upstream.
func guided(t *testing.T, asked *[]string) []tenon.Prompt {
	t.Helper()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.Method+" "+r.URL.String())
		_, _ = w.Write([]byte(`["{{input:reader}}"]`))
	}))
	t.Cleanup(upstream.Close)
	_, c := serveFiles(t, filepath.Join("testdata", "guided"), flowmcp.Options{Client: upstream.Client(), BaseURL: upstream.URL})
	if len(c.Diagnostics()) > 0 {
		t.Error(c.Diagnostics())
	}
	return c.Prompts()
}

func get(t *testing.T, prompts []tenon.Prompt, name string, args map[string]string) (string, error) {
	t.Helper()
	i := slices.IndexFunc(prompts, func(p tenon.Prompt) bool { return p.Name == name })
	if i < 0 {
		t.Fatalf("no prompt %s", name)
	}
	m, err := prompts[i].Get(t.Context(), args, &tenon.Call{})
	if err != nil {
		return "", err
	}
	return string(m[0].Content.Text), nil
}

func TestGuidesAreFilled(t *testing.T) {
	var asked []string
	prompts := guided(t, &asked)
	text, err := get(t, prompts, "guided/skill/choose-book", map[string]string{"reader": "{{tool:findBooks}}", "many": "3"})
	if err != nil {
		t.Fatal(err)
	}
	want := `Choose a book for {{tool:findBooks}} ((not given)).

### find_books_guided

Finds books of a genre

| parameter | type | required | description |
|---|---|---|---|
| genre | enum | yes | short name of a genre |
| limit | number | no |  |

For example call the tool ` + "`find_books_guided` with `{\"genre\":\"SEA\",\"limit\":2}`" + `. In stock: ["{{input:reader}}"]
Orders: [PREFILL ERROR: the tool buyBook is not read-only and is not called by prefill]; [ERROR: token "tool:guided/nothing" not found]; [ERROR: token "other:thing" not found]; The shop sells SEA, CRIME, POEMS. For more: **skill choose-book**: Chooses a book for a reader`
	if diff := cmp.Diff(want, text); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"GET /books?genre=SEA&limit=3"}, asked); diff != "" {
		t.Error(diff)
	}
	text, err = get(t, prompts, "guided/prompt/about", nil)
	if err != nil || !strings.Contains(text, "The shop sells SEA, CRIME, POEMS. For more: Choose a book for (not given)") {
		t.Error(text, err)
	}
}

func TestInputsOfGuidesAreChecked(t *testing.T) {
	var asked []string
	prompts := guided(t, &asked)
	for want, args := range map[string]map[string]string{
		"reader is required":        {},
		"must be one of gay, grave": {"reader": "Ann", "mood": "blue"},
		"many must be a number":     {"reader": "Ann", "many": "some"},
		"":                          {"reader": "Ann", "mood": "gay", "many": "1"},
	} {
		_, err := get(t, prompts, "guided/skill/choose-book", args)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q", args, err, want)
		}
	}
	i := slices.IndexFunc(prompts, func(p tenon.Prompt) bool { return p.Complete != nil })
	proposed, err := prompts[i].Complete(t.Context(), "mood", "gr", nil)
	if diff := cmp.Diff([]string{"grave"}, proposed); diff != "" || err != nil {
		t.Error(diff, err)
	}
}
