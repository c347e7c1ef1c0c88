package flowmcp_test

import (
	_ "embed"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tenon-mcp/tenon/flowmcp"
)

// ruled is a file without findings.
//
//go:embed internal/format/testdata/Ruled.mjs
var ruled string

// oneTool is a tool without handlers.
const oneTool = `a: { method: 'GET', path: '/a', description: 'x', parameters: [] }`

// file returns a schema file with these tools and no other findings in compat
// mode than theirs.
func file(tools string) string {
	return `export const main = { namespace: 'shop', name: 'Test', description: 'x', version: '4.0.0', docs: ['https://shop.example'],
root: 'https://shop.example', tools: { ` + tools + ` } }`
}

// write writes a file into a folder of its own and returns the path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// check returns the report on one text.
func check(t *testing.T, text string, o flowmcp.Options) flowmcp.Report {
	t.Helper()
	reports, err := flowmcp.Check(t.Context(), write(t, "Test.mjs", text), o)
	if err != nil {
		t.Fatal(err)
	}
	return reports[0]
}

func has(r flowmcp.Report, code string, s flowmcp.Severity) bool {
	return slices.ContainsFunc(r.Findings, func(f flowmcp.Finding) bool { return f.Code == code && f.Severity == s })
}
