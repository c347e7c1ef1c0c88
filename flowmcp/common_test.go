package flowmcp_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tenon-mcp/tenon/flowmcp"
)

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
