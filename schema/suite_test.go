package schema_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/schema"
)

type suiteGroup struct {
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
	Tests       []suiteCase     `json:"tests"`
}

type suiteCase struct {
	Description string          `json:"description"`
	Data        json.RawMessage `json:"data"`
	Valid       bool            `json:"valid"`
}

// suiteSkip returns why a group of the official suite is not for us, with
// what Compile said about its schema; empty if it is.
func suiteSkip(file string, err error) string {
	switch {
	case filepath.Base(file) == "vocabulary.json":
		return "a meta-schema of one's own is not looked at"
	case err != nil && strings.Contains(err.Error(), "which is another document"):
		return err.Error()
	}
	return ""
}

// suiteFiles are the files of the official suite, none where it is not at hand.
func suiteFiles(tb testing.TB) []string {
	tb.Helper()
	dir := os.Getenv("TENON_JSON_SCHEMA_SUITE")
	if dir == "" {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("no files in %s: %v", dir, err)
	}
	sort.Strings(files)
	return files
}

// TestSuite runs the official JSON-Schema-Test-Suite. TENON_JSON_SCHEMA_SUITE
// names its folder tests/draft2020-12.
func TestSuite(t *testing.T) {
	files := suiteFiles(t)
	if files == nil {
		t.Skip("TENON_JSON_SCHEMA_SUITE does not name the folder tests/draft2020-12 of the official suite")
	}
	var run, inBytes, skipped int
	for _, file := range files {
		for _, g := range readSuite(t, file) {
			s, err := schema.Compile(g.Schema, schema.Options{})
			if why := suiteSkip(file, err); why != "" {
				t.Logf("skipped: %s: %s: %s", filepath.Base(file), g.Description, why)
				skipped += len(g.Tests)
				continue
			}
			t.Run(filepath.Base(file)+"/"+g.Description, func(t *testing.T) {
				if err != nil {
					t.Fatalf("compile %s: %v", g.Schema, err)
				}
				if runSuiteGroup(t, g, s); s.Bytes() {
					inBytes += len(g.Tests)
				}
			})
			run += len(g.Tests)
		}
	}
	t.Logf("%d cases run, %d of them by the byte validator; %d skipped", run, inBytes, skipped)
}

func readSuite(t testing.TB, file string) (groups []suiteGroup) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &groups); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return groups
}

func runSuiteGroup(t *testing.T, g suiteGroup, s *schema.Schema) {
	t.Helper()
	library, err := newJudge(g.Schema, false)
	if err != nil {
		t.Fatalf("the library does not compile it: %v", err)
	}
	for _, test := range g.Tests {
		got := s.Validate(test.Data)
		if (got == nil) != test.Valid {
			t.Errorf("%s: valid is %v, got %v\nschema %s\nvalue %s", test.Description, test.Valid, got, g.Schema, test.Data)
		}
		if diff := cmp.Diff(library.pointers(test.Data), violated(got)); diff != "" && s.Bytes() {
			t.Errorf("%s: locations (-library +byte validator):\n%s\nschema %s\nvalue %s", test.Description, diff, g.Schema, test.Data)
		}
	}
}
