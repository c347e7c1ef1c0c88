package tenon_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
)

// TestCodes: every constant has a row with all that belongs there, and a number of
// its own in the envelope flowmcp.
func TestCodes(t *testing.T) {
	constants := codeConstants(t)
	numbers := map[int]tenon.Code{1: "an error status", 99: "a code of an author's own"}
	rows := map[tenon.Code]tenon.CodeInfo{tenon.CodeUsage: {}, tenon.CodeBadSource: {}} // no tool fails with these two
	for _, c := range tenon.Codes() {
		if other, taken := numbers[c.Number]; taken || c.Number < 1 || c.Number > 99 {
			t.Errorf("%s has the number %d, %s too", c.Code, c.Number, other)
		}
		if _, twice := rows[c.Code]; twice || c.When == "" || c.Acts == "" {
			t.Errorf("%s is there twice or has no text", c.Code)
		}
		numbers[c.Number], rows[c.Code] = c.Code, c
		if !constants[string(c.Code)] {
			t.Errorf("%s is no constant", c.Code)
		}
		delete(constants, string(c.Code))
	}
	for code := range constants {
		if _, ok := rows[tenon.Code(code)]; !ok {
			t.Errorf("%s has no row in Codes", code)
		}
	}
	advised := map[tenon.Code]bool{}
	for status := 300; status < 1000; status++ {
		advised[tenon.CodeOfStatus(status)] = true
	}
	for _, c := range tenon.Codes() {
		if (c.Advice != "") != advised[c.Code] {
			t.Errorf("the advice of %s is %q, and that a status has this code is %t", c.Code, c.Advice, advised[c.Code])
		}
	}
}

// TestErrorsAreDocumented compares docs/errors.md with Codes, UPDATE_GOLDEN=1
// writes it; and with the codes of errors at start.
func TestErrorsAreDocumented(t *testing.T) {
	const page, head, end = "docs/errors.md", "| code | number | when | who acts |\n|---|---|---|---|\n", "\n\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), head)
	got, after, _ := strings.Cut("\n"+rest, end)
	if !found {
		t.Fatalf("%s has no table of codes", page)
	}
	var want strings.Builder
	for _, c := range tenon.Codes() {
		fmt.Fprintf(&want, "\n| `%s` | E%03d | %s | %s |", c.Code, c.Number, c.When, c.Acts)
	}
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(page, []byte(before+head+want.String()[1:]+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want.String(), got); diff != "" {
		t.Errorf("%s is not of these codes; UPDATE_GOLDEN=1 writes it (-want +got):\n%s", page, diff)
	}
	for _, code := range []tenon.Code{tenon.CodeUsage, tenon.CodeBadSource} {
		if !strings.Contains(after, "\n| `"+string(code)+"` | ") {
			t.Errorf("%s does not explain %s", page, code)
		}
	}
}

func TestCodeOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want tenon.Code
	}{
		{nil, ""},
		{errors.New("something"), tenon.CodeInternal},
		{&tenon.Error{Message: "something"}, tenon.CodeInternal},
		{fmt.Errorf("wrapped: %w", tenon.Errorf("out_of_stock", "none is left")), "out_of_stock"},
		{&tenon.Error{Message: "it took too long", Err: context.DeadlineExceeded}, tenon.CodeTimeout},
	} {
		if got := tenon.CodeOf(c.err); got != c.want {
			t.Errorf("%v: %q, not %q", c.err, got, c.want)
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
