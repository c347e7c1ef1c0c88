package library_test

import (
	"os"
	"path/filepath"
	"testing"
)

// file returns a schema file with these tools and no findings of its own.
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
