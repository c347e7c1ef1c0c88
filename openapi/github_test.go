package openapi_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/openapi"
)

// github is GitHub's document: the file generated/api.github.com.json of the
// npm package @octokit/openapi.
func github(tb testing.TB) (file string, doc []byte) {
	tb.Helper()
	file = os.Getenv("TENON_OPENAPI_GITHUB")
	if file == "" {
		tb.Skip("TENON_OPENAPI_GITHUB names no file: GitHub's document is NOT tested")
	}
	doc, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	return file, doc
}

// tally counts what became of the success schemas of a document.
type tally struct{ schemas, whole, withoutTexts, cut, empty, inputsCut int }

func (n *tally) add(t *testing.T, tool tenon.Tool) {
	t.Helper()
	published, diagnostics := tool.Contract.PublishedContract()
	for _, f := range diagnostics {
		switch {
		case !strings.Contains(f.Message, "relaxed"):
		case strings.HasPrefix(f.Message, "input"):
			n.inputsCut++
		case strings.HasSuffix(f.Message, "descriptions"):
			n.withoutTexts++
		default:
			n.cut++
		}
	}
	full, err := tool.Contract.Contract()
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range published.Responses {
		if v.Schema == nil {
			continue
		}
		n.schemas++
		switch {
		case !bytes.Equal(v.Schema, []byte("{}")):
		case bytes.Equal(full.Responses[i].Schema, []byte("{}")):
			n.empty++
			t.Logf("%s %s is {} in the document", tool.Name, v.Status)
		default:
			t.Errorf("%s %s of %d bytes became {}", tool.Name, v.Status, len(full.Responses[i].Schema))
		}
	}
}

func TestGitHubBecomesTools(t *testing.T) {
	file, doc := github(t)
	offer, err := openapi.Parse(file, doc, openapi.Options{Client: &http.Client{Transport: &wire{}}})
	if err != nil {
		t.Fatal(err)
	}
	if want := countOperations(t, doc); len(offer.Tools) != want || want < 1000 || len(offer.Diagnostics) > 0 {
		t.Errorf("%d tools of %d operations, diagnostics %v", len(offer.Tools), want, offer.Diagnostics)
	}
	legal := regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)
	seen := map[string]bool{}
	var n tally
	for _, tool := range offer.Tools {
		if !legal.MatchString(tool.Name) || seen[tool.Name] {
			t.Errorf("name %q", tool.Name)
		}
		seen[tool.Name] = true
		n.add(t, tool)
	}
	n.whole = n.schemas - n.withoutTexts - n.cut
	t.Logf("%d tools, %d output schemas: %d whole, %d without texts, %d cut, %d empty; %d inputs relaxed",
		len(offer.Tools), n.schemas, n.whole, n.withoutTexts, n.cut, n.empty, n.inputsCut)
	if 100*(n.schemas-n.cut) < 95*n.schemas {
		t.Error("less than 95 of 100 output schemas are whole but for descriptions")
	}
}

// countOperations counts in another way than the package does.
func countOperations(t *testing.T, doc []byte) int {
	t.Helper()
	var d struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(doc, &d); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, item := range d.Paths {
		for _, method := range []string{"get", "put", "post", "delete", "options", "head", "patch", "trace"} {
			if item[method] != nil {
				n++
			}
		}
	}
	return n
}

func BenchmarkLoadGitHub(b *testing.B) {
	file, doc := github(b)
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := openapi.Parse(file, doc, openapi.Options{Client: &http.Client{}}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPublishGitHub(b *testing.B) {
	file, doc := github(b)
	b.ReportAllocs()
	for b.Loop() {
		offer, err := openapi.Parse(file, doc, openapi.Options{Client: &http.Client{}})
		if err != nil {
			b.Fatal(err)
		}
		for _, tool := range offer.Tools {
			_, _ = tool.Contract.PublishedContract()
		}
	}
}
