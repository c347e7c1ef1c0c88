package flowmcp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/flowmcp"
)

func writeAt(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const goodList = `export const list = { meta: { name: 'bookGenres', version: '1.2.0', description: 'x',
  fields: [ { key: 'alias', type: 'string', description: 'x' }, { key: 'n', type: 'number', description: 'x', optional: true } ] },
  entries: [ { alias: 'A', n: 1 }, { alias: 'B' } ] }`

// TestListFilters keeps the entries that a filter wants.
func TestListFilters(t *testing.T) {
	for filter, want := range map[string]string{
		"":                                    `["A","B"]`,
		"filter: { key: 'n', exists: true }":  `["A"]`,
		"filter: { key: 'n', exists: false }": `["B"]`,
		"filter: { key: 'n', value: 1 }":      `["A"]`,
		"filter: { key: 'n', value: '1' }":    ``,
		"filter: { key: 'alias', in: ['B'] }": `["B"]`,
	} {
		dir := t.TempDir()
		writeAt(t, filepath.Join(dir, "lists", "book-genres.mjs"), goodList)
		path := filepath.Join(dir, "Test.mjs")
		writeAt(t, path, strings.Replace(file(`a: { method: 'GET', path: '/a', description: 'x', parameters: [
			{ position: { key: 'g', value: '{{USER_PARAM}}', location: 'query' }, z: { primitive: 'enum({{bookGenres:alias}})', options: [] } } ] }`),
			"docs:", "sharedLists: [ { ref: 'bookGenres', version: '1.2.0', "+filter+" } ], docs:", 1))
		features, err := flowmcp.New(path, flowmcp.Options{ListsDir: filepath.Join(dir, "lists")}).Load(t.Context())
		if err != nil || len(features.Tools) != 1 {
			t.Fatalf("%s: %v %v", filter, features.Diagnostics, err)
		}
		contract, err := features.Tools[0].Contract.Contract()
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			if strings.Contains(string(contract.Input), "enum") {
				t.Errorf("%s: %s", filter, contract.Input)
			}
		} else if !strings.Contains(string(contract.Input), `"enum":`+want) {
			t.Errorf("%s: %s, want %s", filter, contract.Input, want)
		}
	}
}
