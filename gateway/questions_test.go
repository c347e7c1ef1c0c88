package gateway_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/tenon-mcp/tenon/internal/rawjson"
	"github.com/tenon-mcp/tenon/openapi"
)

// question is one line of a file in testdata/questions.
type question struct {
	operations []string // operationIds that answer it
	text       string
}

func questions(t *testing.T, file string) (all []question) {
	t.Helper()
	text, err := os.ReadFile("../testdata/questions/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		ids, asked, _ := strings.Cut(strings.TrimSpace(line), "\t")
		all = append(all, question{strings.Fields(ids), asked})
	}
	return all
}

// TestQuestionsGiveNothingAway holds each question against its operations: they
// exist, and neither the operationId nor three consecutive words of the
// summary stand in the question.
func TestQuestionsGiveNothingAway(t *testing.T) {
	t.Run("bookshop", func(t *testing.T) {
		offer, err := openapi.New("../internal/bookshop/openapi.yaml", openapi.Options{}).Load(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		summaries := map[string]string{}
		for _, tool := range offer.Tools {
			summaries[tool.Name] = tool.Title
		}
		giveNothingAway(t, questions(t, "bookshop.tsv"), summaries, 9)
	})
	t.Run("GitHub", func(t *testing.T) {
		doc, err := rawjson.Parse(gitHub(t))
		if err != nil {
			t.Fatal(err)
		}
		summaries := map[string]string{}
		paths := doc.Get(doc.Root(), "paths")
		for path := doc.First(paths); path != rawjson.None; path = doc.Next(path) {
			for op := doc.First(path); op != rawjson.None; op = doc.Next(op) {
				if id := doc.Str(doc.Get(op, "operationId")); id != "" {
					summaries[id] = doc.Str(doc.Get(op, "summary"))
				}
			}
		}
		giveNothingAway(t, questions(t, "github.tsv"), summaries, 60)
	})
}

func giveNothingAway(t *testing.T, all []question, summaries map[string]string, atLeast int) {
	t.Helper()
	if len(all) < atLeast {
		t.Errorf("there are %d questions, want at least %d", len(all), atLeast)
	}
	for _, q := range all {
		asked := " " + strings.Join(lettersAndDigits(q.text), " ") + " "
		for _, id := range q.operations {
			summary, found := summaries[id]
			words := lettersAndDigits(summary)
			switch {
			case !found:
				t.Errorf("%q: the document has no operation %q", q.text, id)
			case strings.Contains(strings.ToLower(q.text), strings.ToLower(id)):
				t.Errorf("%q holds the operationId %q", q.text, id)
			}
			for i := range max(0, len(words)-2) {
				if three := strings.Join(words[i:i+3], " "); strings.Contains(asked, " "+three+" ") {
					t.Errorf("%q holds %q of the summary %q", q.text, three, summary)
				}
			}
		}
	}
}

func lettersAndDigits(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
