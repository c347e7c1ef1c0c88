package schema_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"sort"
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

// suiteSkips are the groups of the official suite that ask for what we refuse,
// with the reason.
func suiteSkips(file string) string {
	switch file {
	case "refRemote.json":
		return "other documents"
	case "vocabulary.json":
		return "a meta-schema of one's own"
	}
	return ""
}

// TestSuite runs the official JSON-Schema-Test-Suite. TENON_JSON_SCHEMA_SUITE
// names its folder tests/draft2020-12.
func TestSuite(t *testing.T) {
	dir := os.Getenv("TENON_JSON_SCHEMA_SUITE")
	if dir == "" {
		t.Skip("TENON_JSON_SCHEMA_SUITE does not name the folder tests/draft2020-12 of the official suite")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s: %v", dir, err)
	}
	sort.Strings(files)
	var run, inBytes, skipped int
	for _, file := range files {
		for _, g := range readSuite(t, file) {
			if why := suiteSkips(filepath.Base(file)); why != "" {
				t.Logf("skipped: %s: %s: %s", filepath.Base(file), g.Description, why)
				skipped += len(g.Tests)
				continue
			}
			t.Run(filepath.Base(file)+"/"+g.Description, func(t *testing.T) {
				if runSuiteGroup(t, g) {
					inBytes += len(g.Tests)
				}
			})
			run += len(g.Tests)
		}
	}
	t.Logf("%d cases run, %d of them by the byte tier; %d skipped", run, inBytes, skipped)
}

func readSuite(t *testing.T, file string) (groups []suiteGroup) {
	t.Helper()
	raw, err := os.ReadFile(file) //nolint:gosec // the operator's own test data
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &groups); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return groups
}

func runSuiteGroup(t *testing.T, g suiteGroup) (inBytes bool) {
	t.Helper()
	s, err := schema.Compile(g.Schema, schema.Options{})
	if err != nil {
		t.Fatalf("compile %s: %v", g.Schema, err)
	}
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
			t.Errorf("%s: places (-library +byte tier):\n%s\nschema %s\nvalue %s", test.Description, diff, g.Schema, test.Data)
		}
	}
	return s.Bytes()
}
