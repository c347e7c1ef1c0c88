package flowmcp_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
)

// asking returns a file with a database, and a tool a whose handlers query it.
func asking(handlers string) string {
	return `export const main = { namespace: 'shop', name: 'Asking', description: 'x', version: '4.0.0', root: 'https://shop.example',
  tools: { a: { method: 'GET', path: '/a', description: 'x', parameters: [ { position: { key: 'genre', value: '{{USER_PARAM}}', location: 'query' }, z: { primitive: 'string()', options: [ 'optional()' ] } } ] } },
  resources: { stock: { source: 'sqlite', mode: 'file-based', origin: 'project', name: 'stock.db', description: 'Books', queries: {
    byGenre: { sql: 'SELECT title FROM books WHERE genre = ? ORDER BY title LIMIT ?', description: 'x', parameters: [
      { position: { key: 'genre', value: '{{USER_PARAM}}' }, z: { primitive: 'string()', options: [ 'min(2)' ] } },
      { position: { key: 'limit', value: '{{USER_PARAM}}' }, z: { primitive: 'number()', options: [ 'optional()', 'default(2)' ] } } ] },
    add: { sql: 'INSERT INTO books(title) VALUES(?)', description: 'x', parameters: [
      { position: { key: 'title', value: '{{USER_PARAM}}' }, z: { primitive: 'string()', options: [] } } ] } } } } }
export const handlers = () => ({ a: { ` + handlers + ` } })`
}

// TestHandlersAskDatabases tries what executeRequest can and cannot query in
// the databases of its file.
func TestHandlersAskDatabases(t *testing.T) {
	execute := func(answer string) string {
		return `executeRequest: async ({ payload, resources }) => ({ response: ` + answer + ` })`
	}
	for name, tt := range map[string]struct{ handlers, want, failure string }{
		"a query of the file":          {execute(`await resources.stock.byGenre({ genre: payload.genre })`), `[{"title":"Emma"},{"title":"Evelina"}]`, ""},
		"with an argument":             {execute(`await resources.stock.byGenre({ genre: 'poem', limit: 1 })`), `[{"title":"Odes"}]`, ""},
		"SQL of its own":               {execute(`await resources.stock.runSql({ sql: 'SELECT count(*) AS n FROM books WHERE genre = ? AND price > ?', values: [ payload.genre, 6 ] })`), `[{"n":2}]`, ""},
		"what the database holds":      {execute(`(await resources.stock.describeTables()).length`), `4`, ""},
		"two at once":                  {execute(`(await Promise.all([ resources.stock.byGenre({ genre: 'poem' }), resources.stock.byGenre({ genre: 'novel' }) ])).length`), `2`, ""},
		"more rows than it may":        {execute(`(await resources.stock.runSql({ sql: 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT x FROM c', limit: 1000 })).length`), `1000`, ""},
		"a change":                     {execute(`await resources.stock.add({ title: 'x' })`), "", "may only read"},
		"a change in SQL of its own":   {execute(`await resources.stock.runSql({ sql: 'DELETE FROM books' })`), "", "may only read"},
		"a change in disguise":         {execute(`await resources.stock.runSql({ sql: 'WITH a AS (SELECT 1) DELETE FROM books' })`), "", "SQL error"},
		"another file":                 {execute(`await resources.stock.runSql({ sql: "ATTACH DATABASE 'x.db' AS x" })`), "", "may only read"},
		"an argument that is missing":  {execute(`await resources.stock.byGenre({})`), "", "needs genre"},
		"an argument of another type":  {execute(`await resources.stock.byGenre({ genre: 5 })`), "", "genre is invalid"},
		"values that are too few":      {execute(`await resources.stock.runSql({ sql: 'SELECT ?' })`), "", "1 parameters, but there are 0 values"},
		"a value that is an object":    {execute(`await resources.stock.runSql({ sql: 'SELECT ?', values: [ {} ] })`), "", "texts, numbers"},
		"too often":                    {execute(`await (async () => { for (let i = 0; i < 99; i++) await resources.stock.byGenre({ genre: 'poem' }) })()`), "", "limit exceeded"},
		"before the request":           {`preRequest: async ({ struct, resources }) => ({ struct: { ...struct, url: resources.stock } })`, "", "stock"},
		"names that cannot be changed": {execute(`(() => { resources.stock.byGenre = 1 })()`), "", "read-only"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			makeDatabase(t, filepath.Join(dir, "resources", "stock.db"), books()...)
			path := filepath.Join(dir, "Asking.mjs")
			writeAt(t, path, asking(tt.handlers))
			source := flowmcp.New(path, flowmcp.Options{Worker: worker(), ProjectDir: dir, HandlerTimeout: time.Minute, Timeout: 2 * time.Minute})
			t.Cleanup(func() { _ = source.Close() })
			features, err := source.Load(t.Context())
			if err != nil || len(features.Tools) == 0 {
				t.Fatal(features.Diagnostics, err)
			}
			response, err := features.Tools[0].Handler(t.Context(), &tenon.Call{Args: []byte(`{"genre":"novel"}`)})
			if tt.failure != "" {
				if err == nil || !strings.Contains(err.Error(), tt.failure) {
					t.Errorf("%s, %v; want %q", response.Body, err, tt.failure)
				}
				return
			}
			if err != nil || string(response.Body) != tt.want {
				t.Errorf("%s, %v; want %s", response.Body, err, tt.want)
			}
		})
	}
}

// TestOldHandlersFindAllParams covers what files converted from version 1 read.
func TestOldHandlersFindAllParams(t *testing.T) {
	tool := load(t, handled(`executeRequest: async ({ payload: { userParams } }) => ({ response: [ userParams._allParams.chain, Object.keys(userParams) ] })`),
		flowmcp.Options{Env: shopKey})
	response, err := tool.Handler(t.Context(), &tenon.Call{Args: []byte(`{"chain":"x"}`)})
	if err != nil || string(response.Body) != `["x",["chain"]]` {
		t.Errorf("%s, %v", response.Body, err)
	}
}
