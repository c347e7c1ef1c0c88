package library_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/flowmcp/library"
)

// TestAddEntry adds to lists in the forms that real files have.
func TestAddEntry(t *testing.T) {
	const meta = `meta: { name: 'a', version: '1.0.0', fields: [ { key: 'alias', type: 'string', description: 'x' }, { key: 'n', type: 'number', description: 'x', optional: true }, { key: 'on', type: 'boolean', description: 'x', optional: true } ] }`
	for name, tt := range map[string]struct {
		entries, want string
		given         map[string]string
		err           string
	}{
		"a line for each":         {"entries: [\n    { alias: 'A' },\n    { alias: 'B' }\n  ]", "entries: [\n    { alias: 'A' },\n    { alias: 'B' },\n    { alias: 'C', n: 2, on: true }\n  ]", map[string]string{"alias": "C", "n": "2", "on": "true"}, ""},
		"a comma behind the last": {"entries: [\n    { alias: 'A' }, // ]\n  ]", "entries: [\n    { alias: 'A' },\n    { alias: 'C' }, // ]\n  ]", map[string]string{"alias": "C"}, ""},
		"one line":                {"entries: [ { alias: ']}' } ]", "entries: [ { alias: ']}' }, { alias: 'C' } ]", map[string]string{"alias": "C"}, ""},
		"several lines for each":  {"entries: [\n  {\n    alias: 'A'\n  }\n]", "entries: [\n  {\n    alias: 'A'\n  },\n  { alias: 'C' }\n]", map[string]string{"alias": "C"}, ""},
		"a quote":                 {"'entries': [ { alias: 'A' } ]", `'entries': [ { alias: 'A' }, { alias: "it's" } ]`, map[string]string{"alias": "it's"}, ""},
		"a field too few":         {"entries: [ { alias: 'A' } ]", "", map[string]string{"n": "1"}, "the field alias is required"},
		"a field too many":        {"entries: [ { alias: 'A' } ]", "", map[string]string{"alias": "B", "m": "1"}, "unknown field m"},
		"no number":               {"entries: [ { alias: 'A' } ]", "", map[string]string{"alias": "B", "n": "1; x"}, "is not a number"},
		"no boolean":              {"entries: [ { alias: 'A' } ]", "", map[string]string{"alias": "B", "on": "yes"}, "neither true nor false"},
		"a list with errors":      {"entries: []", "", map[string]string{"alias": "B"}, "LST006"},
	} {
		t.Run(name, func(t *testing.T) {
			text := "// entries: [\nexport const list = { " + meta + ", " + tt.entries + " }\n"
			got, err := library.AddEntry([]byte(text), tt.given)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Replace(text, tt.entries, tt.want, 1), string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
