package format_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tenon-mcp/tenon/flowmcp/internal/format"
)

// file returns a schema file with these tools and no other findings in compat
// mode than theirs.
func file(tools string) string {
	return `export const main = { namespace: 'shop', name: 'Test', description: 'x', version: '4.0.0', docs: ['https://shop.example'],
root: 'https://shop.example', tools: { ` + tools + ` } }`
}

func writeAt(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// write writes a file into a folder of its own and returns the path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	writeAt(t, path, text)
	return path
}

// check returns the report on one text.
func check(t *testing.T, text string, o format.Options) format.Report {
	t.Helper()
	reports, err := format.Check(t.Context(), write(t, "Test.mjs", text), o)
	if err != nil {
		t.Fatal(err)
	}
	return reports[0]
}
