package tenon_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestErrorsAreDocumented compares the codes in error.go with the tables of
// docs/errors.md, in both directions.
func TestErrorsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if cell, ok := strings.CutPrefix(line, "| `"); ok {
			name, _, _ := strings.Cut(cell, "`")
			documented[name] = true
		}
	}
	for _, name := range []string{"executed", "retry"} {
		delete(documented, name)
	}
	codes := codeConstants(t)
	for code := range codes {
		if !documented[code] {
			t.Errorf("docs/errors.md does not explain code %q", code)
		}
	}
	for name := range documented {
		if !codes[name] {
			t.Errorf("docs/errors.md explains %q, which is no code", name)
		}
	}
}

// codeConstants returns the values of the Code constants in error.go.
func codeConstants(t *testing.T) map[string]bool {
	f, err := parser.ParseFile(token.NewFileSet(), "error.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	codes := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) == 0 {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); !ok || typ.Name != "Code" {
			return true
		}
		lit, ok := spec.Values[0].(*ast.BasicLit)
		if !ok {
			t.Fatalf("%s is not a literal", spec.Names[0])
		}
		value, _ := strconv.Unquote(lit.Value)
		codes[value] = true
		return true
	})
	if len(codes) < 10 {
		t.Fatalf("found only %d codes: the reading is broken", len(codes))
	}
	return codes
}
