package tenon_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestExamples fails for an exported package that shows no use of itself: an
// example with its output, which runs as a test, and a comment that says what
// the package does not know.
func TestExamples(t *testing.T) {
	for folder := range packages() {
		if strings.Contains("/"+folder, "/internal/") || strings.HasPrefix(folder, "cmd/") {
			continue
		}
		if _, err := os.Stat(folder); err != nil {
			continue // planned
		}
		var examples []*doc.Example
		described := false
		for _, f := range parsed(t, folder) {
			examples = append(examples, doc.Examples(f)...)
			about := f.Doc.Text()
			described = described || strings.HasPrefix(about, "Package ") && strings.Contains(strings.ToLower(about), "does not know")
		}
		if !slices.ContainsFunc(examples, func(e *doc.Example) bool { return e.Output != "" }) {
			t.Errorf("package %s has no example with an output", folder)
		}
		for _, e := range examples {
			if e.Output == "" && !e.EmptyOutput {
				t.Errorf("package %s: Example%s has no output: it is not run", folder, e.Name)
			}
		}
		if !described {
			t.Errorf("package %s has no comment that says what it is and what it does not know", folder)
		}
	}
}

// parsed reads all Go files of a folder.
func parsed(t *testing.T, folder string) (files []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}
