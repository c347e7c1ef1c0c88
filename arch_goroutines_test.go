package tenon_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// bareGoroutines are the places where a goroutine is started without
// internal/incident, and why no foreign code runs there and no foreign data is
// read that could make it panic.
func bareGoroutines() map[string]string {
	return map[string]string{
		"internal/incident/incident.go":   "it is the one way",
		"internal/proc/proc.go":           "waits for a process, and looks at its memory",
		"internal/sandbox/worker_main.go": "runs in the worker, which the pool replaces",
		"functionapp/host/generation.go":  "waits for calls to end, then for a process",
		"functionapp/host/worker.go":      "waits for calls to end",
		"functionapp/worker/serve.go":     "net/http recovers for each request",
		"cmd/tenon/serve.go":              "a reload recovers itself; memory is given back by the runtime's own figures",
		"app/serve.go":                    "net/http recovers for each request",
		"cmd/tenon/review.go":             "net/http recovers for each request",
		"cmd/tenon/demo.go":               "net/http recovers for each request",
		"cmd/tenon/shell_target.go":       "a server on a pipe, which recovers itself",
		"tenontest/store.go":              "runs in tests",
		"tenontest/source.go":             "runs in tests",
		"tenontest/source_call.go":        "runs in tests",
		"tenontest/source_schema.go":      "runs in tests",
	}
}

// TestGoroutinesRecover fails for a goroutine that is started with a bare go
// statement or a WaitGroup: a panic there ends the process with everybody's
// calls.
func TestGoroutinesRecover(t *testing.T) {
	bare := bareGoroutines()
	met := map[string]bool{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && separate(d.Name()):
			return filepath.SkipDir
		case !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, at := range startsOf(f) {
			met[filepath.ToSlash(file)] = true
			if bare[filepath.ToSlash(file)] == "" {
				t.Errorf("%s: a goroutine without recover; use internal/incident", set.Position(at))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for file := range bare {
		if !met[file] {
			t.Errorf("%s starts no bare goroutine any more: take it off the list", file)
		}
	}
}

// startsOf finds go statements, and calls of a method Go with one argument:
// that of sync.WaitGroup. Those of internal/incident have more.
func startsOf(f *ast.File) (found []token.Pos) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = append(found, n.Pos())
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Go" && len(n.Args) == 1 {
				found = append(found, n.Pos())
			}
		}
		return true
	})
	return found
}
