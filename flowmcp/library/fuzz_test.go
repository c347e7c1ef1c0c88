package library_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/flowmcp/library"
)

// FuzzMigrate: what is migrated is read as before, has nothing left to do, and
// names no routes.
func FuzzMigrate(f *testing.F) {
	f.Add([]byte(`export const main = { version: '3.0.0', 'routes': { a: {} } }`))
	f.Add([]byte("export const main = { routes, version: \"3.1.2\" }"))
	f.Add([]byte("export const main = { namespace: 'shop', version: '4.0.0', tools: {} }\nexport const handlers = () => ({})\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		migrated, done, err := library.Migrate(text)
		if err != nil {
			return
		}
		again, more, err := library.Migrate(migrated)
		if err != nil || len(more) > 0 || !bytes.Equal(again, migrated) {
			t.Errorf("%q became %q (%v): %v, %v", text, migrated, done, more, err)
		}
	})
}

// FuzzAddEntry: an entry that is added is the last one, and nothing else
// changes.
func FuzzAddEntry(f *testing.F) {
	f.Add([]byte(goodList), "x", "1")
	f.Add([]byte("export const list = { meta: { name: 'a', version: '1.0.0', fields: [ { key: 'alias', type: 'string' } ] }, 'entries': [ { alias: ']' }, /* ] */ ] }"), "'\\\n", "")
	f.Fuzz(func(t *testing.T, text []byte, alias, n string) {
		given := map[string]string{"alias": alias}
		if n != "" {
			given["n"] = n
		}
		added, err := library.AddEntry(text, given)
		if err != nil {
			return
		}
		size := len(added) - len(text)
		begins := 0
		for begins < len(text) && added[begins] == text[begins] {
			begins++
		}
		if size <= 0 || !bytes.HasSuffix(added, text[begins:]) {
			t.Errorf("%q became %q", text, added)
		}
		if again, err := library.AddEntry(added, given); err == nil || !strings.HasSuffix(err.Error(), "is the same") {
			t.Errorf("%q became %q and then %q, %v", text, added, again, err)
		}
	})
}

const goodList = `export const list = { meta: { name: 'bookGenres', version: '1.2.0', description: 'x',
  fields: [ { key: 'alias', type: 'string', description: 'x' }, { key: 'n', type: 'number', description: 'x', optional: true } ] },
  entries: [ { alias: 'A', n: 1 }, { alias: 'B' } ] }`
