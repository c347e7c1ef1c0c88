package format_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/flowmcp/internal/format"
)

const goodList = `export const list = { meta: { name: 'bookGenres', version: '1.2.0', description: 'x',
  fields: [ { key: 'alias', type: 'string', description: 'x' }, { key: 'n', type: 'number', description: 'x', optional: true } ] },
  entries: [ { alias: 'A', n: 1 }, { alias: 'B' } ] }`

// TestLists changes one thing in a shared list or in the reference to it.
func TestLists(t *testing.T) {
	const e, w = format.Fatal, format.Warning
	reference := strings.Replace(file(`a: { method: 'GET', path: '/a', description: 'x', parameters: [
		{ position: { key: 'g', value: '{{USER_PARAM}}', location: 'query' }, z: { primitive: 'enum({{bookGenres:alias}})', options: [] } } ] }`),
		"docs:", "sharedLists: [ { ref: 'bookGenres', version: '1.2.0' } ], docs:", 1)
	for _, c := range []struct {
		name, from, to, code string
		strict, compat       format.Severity
	}{
		{"another patch", "'1.2.0', description", "'1.2.1', description", "VAL073", e, w},
		{"another major", "'1.2.0', description", "'2.0.0', description", "VAL073", e, e},
		{"no list", "export const list", "export const lists", "VAL072", e, w},
		{"no name", "name: 'bookGenres',", "", "VAL072", e, w},
		{"no entries", "[ { alias: 'A', n: 1 }, { alias: 'B' } ]", "[]", "VAL072", e, w},
		{"no fields", "key: 'alias', ", "", "VAL072", e, w},
		{"no version", "version: '1.2.0', description", "version: 'one', description", "VAL072", e, w},
		{"no meta's fields", "fields: [ { key: 'alias', type: 'string', description: 'x' }, { key: 'n', type: 'number', description: 'x', optional: true } ]", "fields: []", "VAL072", e, w},
		{"an entry without a field", "{ alias: 'B' }", "{ n: 2 }", "VAL072", e, ""},
		{"an entry of another type", "alias: 'B'", "alias: 2", "VAL072", e, ""},
		{"code in the list", "alias: 'B'", "alias: 'B' + 1", "SEC019", e, w},
		{"a function in the list", "alias: 'B'", "alias: () => 'B'", "SEC019", e, w},
		{"what is forbidden in the list", "alias: 'B'", "alias: process.env.B", "SEC018", e, w},
		{"no module", "export", "expert", "VAL072", e, w},
		{"a field of another name", "key: 'alias', type: 'string',", "key: 'other', type: 'string', optional: true,", "VAL049", e, w},
		{"a list that is not there", "version: '1.2.0',", "version: '1.2.0', dependsOn: [ { ref: 'none', version: '1.0.0' } ],", "LST009", e, w},
		{"a chain that is too long", "version: '1.2.0',", "version: '1.2.0', dependsOn: [ { ref: 'b', version: '1.0.0' } ],", "LST011", e, e},
		{"a circle", "version: '1.2.0',", "version: '1.2.0', dependsOn: [ { ref: 'bookGenres', version: '1.2.0' } ],", "LST010", e, e},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			text := strings.Replace(goodList, c.from, c.to, 1)
			if text == goodList {
				t.Fatal("nothing changed")
			}
			writeAt(t, filepath.Join(dir, "_lists", "book-genres.mjs"), text)
			for name, next := range map[string]string{"b": "c", "c": "d", "d": "e"} {
				writeAt(t, filepath.Join(dir, "_lists", name+".mjs"), strings.Replace(strings.Replace(goodList, "bookGenres", name, 1),
					"'1.2.0',", "'1.0.0', dependsOn: [ { ref: '"+next+"', version: '1.0.0' } ],", 1))
			}
			path := filepath.Join(dir, "providers", "shop", "Test.mjs")
			writeAt(t, path, reference)
			for strict, want := range map[bool]format.Severity{true: c.strict, false: c.compat} {
				reports, err := format.Check(t.Context(), path, format.Options{Strict: strict})
				if err != nil {
					t.Fatal(err)
				}
				if want != "" && !has(reports[0], c.code, want) {
					t.Errorf("strict %v: want %s %s among %v", strict, want, c.code, reports[0].Findings)
				}
			}
		})
	}
}
