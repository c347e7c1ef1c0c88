package tenon_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestChangesPage looks for the files that docs/changes.md names.
func TestChangesPage(t *testing.T) {
	text, err := os.ReadFile("docs/changes.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([a-z_/*-]+\\.(?:go|md))`").FindAllSubmatch(text, -1)
	if len(named) < 20 {
		t.Fatalf("%d files are named: the pattern is wrong", len(named))
	}
	for _, n := range named {
		if found, err := filepath.Glob(string(n[1])); err != nil || len(found) == 0 {
			t.Errorf("docs/changes.md names %s, which does not exist", n[1])
		}
	}
}
