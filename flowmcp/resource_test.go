package flowmcp_test

import (
	"database/sql"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite" // tests make their databases

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
	"github.com/tenon-mcp/tenon/gateway"
)

// makeDatabase runs statements in a new database.
func makeDatabase(t *testing.T, path string, statements ...string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatal(s, err)
		}
	}
}

func books() []string {
	return []string{
		`CREATE TABLE books(title TEXT, genre TEXT, price REAL, bought DATE)`,
		`INSERT INTO books VALUES('Emma','novel',9,'2024-02-03'),('Persuasion','novel',7.5,NULL),('Evelina','novel',5,NULL),('Odes','poem',3,NULL)`,
	}
}

// shopWith puts the file and what it brings into a folder.
func shopWith(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	about, err := os.ReadFile("testdata/resources/about.md")
	if err != nil {
		t.Fatal(err)
	}
	makeDatabase(t, filepath.Join(dir, "resources", "stock.db"), books()...)
	writeAt(t, filepath.Join(dir, "resources", "about.md"), string(about))
	writeAt(t, filepath.Join(dir, "Resources.mjs"), text)
	return filepath.Join(dir, "Resources.mjs")
}

// serve loads a file and makes a gateway of it.
func serveFiles(t *testing.T, path string, o flowmcp.Options) (*gateway.Gateway, *gateway.Catalog) {
	t.Helper()
	source := flowmcp.New(path, o)
	t.Cleanup(func() { _ = source.Close() })
	features, err := source.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := gateway.Build([]gateway.Mount{{Name: "files", Features: features}}, gateway.BuildOptions{})
	return gateway.New(c, gateway.Options{}), c
}

func callTool(t *testing.T, g *gateway.Gateway, tool, args string) *tenon.Result {
	t.Helper()
	res, err := g.Call(t.Context(), &tenon.Call{Tool: tool, Args: []byte(args), Subject: "owner"})
	if err != nil {
		t.Fatal(tool, args, err)
	}
	return res
}

func TestQueriesAreTools(t *testing.T) {
	text, err := os.ReadFile("testdata/Resources.mjs")
	if err != nil {
		t.Fatal(err)
	}
	g, c := serveFiles(t, shopWith(t, string(text)), flowmcp.Options{Worker: worker()})
	if len(c.Diagnostics()) > 0 {
		t.Error(c.Diagnostics())
	}
	var names []string
	for _, e := range c.Tools() {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff([]string{"byGenre_shop", "counted_shop", "runSql_shop", "describeTables_shop", "about_shop"}, names); diff != "" {
		t.Error(diff)
	}
	for name, tt := range map[string]struct{ tool, args, want string }{
		"defaults are bound":              {"byGenre_shop", `{"genre":"novel"}`, `{"status":true,"messages":[],"data":[{"title":"Emma","price":9,"bought":"2024-02-03"},{"title":"Evelina","price":5,"bought":null}]}`},
		"arguments are bound":             {"byGenre_shop", `{"genre":"novel","from":6.5,"limit":9}`, `{"status":true,"messages":[],"data":[{"title":"Emma","price":9,"bought":"2024-02-03"},{"title":"Persuasion","price":7.5,"bought":null}]}`},
		"arguments are checked":           {"byGenre_shop", `{"genre":"novel' OR 1=1 --"}`, `E002`},
		"a handler changes the answer":    {"counted_shop", `{}`, `{"status":true,"messages":[],"data":{"novel":3,"poem":1}}`},
		"the caller's SQL":                {"runSql_shop", `{"sql":"SELECT count(*) AS n FROM books;"}`, `{"status":true,"messages":[],"data":[{"n":4}]}`},
		"a limit of the caller":           {"runSql_shop", `{"sql":"SELECT title FROM books LIMIT 4 -- x","limit":1}`, `{"status":true,"messages":[],"data":[{"title":"Emma"}]}`},
		"no change by the caller":         {"runSql_shop", `{"sql":"WITH a AS (SELECT 1) DELETE FROM books"}`, `E002`},
		"no plain change by the caller":   {"runSql_shop", `{"sql":"DELETE FROM books"}`, `only one SELECT is allowed`},
		"no second statement":             {"runSql_shop", `{"sql":"SELECT 1; DELETE FROM books"}`, `more than one statement`},
		"a mistake of the caller":         {"runSql_shop", `{"sql":"SELECT * FROM boks"}`, `SQL error: no such table: boks`},
		"what the database holds":         {"describeTables_shop", `{}`, `"data":[{"table_name":"books","column":"title","type":"TEXT"},{"table_name":"books","column":"genre","type":"TEXT"}`},
		"a section with what is below it": {"about_shop", `{"section":"## Opening hours"}`, "\"data\":\"## Opening hours\\n\\nFrom nine to five.\\n\\n```\\n# no heading\\n```\\n\\n### Holidays\\n\\nClosed.\"}"},
		"lines":                           {"about_shop", `{"lines":"1-3"}`, `"data":"# The shop\n\nA shop of books."}`},
		"lines that are none":             {"about_shop", `{"lines":"3-1"}`, `lines end at 1 before they begin at 3`},
		"places of a word":                {"about_shop", `{"search":"CLOSED"}`, `"data":[{"lines":"13-17","content":"### Holidays\n\nClosed.\n\n## Returns"}]}`},
		"a section that is not there":     {"about_shop", `{"section":"Prices"}`, `not found`},
	} {
		t.Run(name, func(t *testing.T) {
			res := callTool(t, g, tt.tool, tt.args)
			if got := string(res.Structured); !strings.Contains(got, tt.want) {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if m := string(res.Meta); strings.Contains(m, `"violated"`) && tt.tool != "counted_shop" {
				t.Error(m)
			}
		})
	}
	t.Run("the text is a resource too", func(t *testing.T) {
		r := c.Resources()
		if len(r) != 1 || r[0].URI != "flowmcp://shop/resource/about" {
			t.Fatal(r)
		}
		blocks, err := r[0].Read(t.Context(), r[0].URI, &tenon.Call{})
		if err != nil || len(blocks) != 1 || !strings.HasPrefix(string(blocks[0].Text), "# The shop") {
			t.Error(blocks, err)
		}
	})
}

const notes = `export const main = { namespace: 'desk', name: 'Notes', description: 'Notes of the project', version: '4.0.0', tools: {},
  resources: { notes: { source: 'sqlite', mode: 'file-based', origin: 'project', name: 'notes.db', description: 'Notes', queries: {
    add: { sql: 'INSERT INTO notes(text) VALUES(?)', description: 'Adds a note', parameters: [
      { position: { key: 'text', value: '{{USER_PARAM}}' }, z: { primitive: 'string()', options: [ 'min(1)' ] } } ] } } } } }`

// TestFileBasedDatabases change their file, and nothing else.
func TestFileBasedDatabases(t *testing.T) {
	dir := t.TempDir()
	database := filepath.Join(dir, "resources", "notes.db")
	makeDatabase(t, database, `CREATE TABLE notes(text)`, `INSERT INTO notes VALUES('first')`)
	writeAt(t, filepath.Join(dir, "Notes.mjs"), notes)
	g, c := serveFiles(t, filepath.Join(dir, "Notes.mjs"), flowmcp.Options{ProjectDir: dir, Confirm: tenon.ConfirmOff})
	if h := c.Find("runSql_desk").Tool().Annotations; h.ReadOnly != nil || h.Destructive == nil || !*h.Destructive {
		t.Error("runSql says that it changes nothing")
	}
	other := filepath.Join(dir, "other.db")
	for _, step := range []struct{ tool, args, want string }{
		{"add_desk", `{"text":"x'); DROP TABLE notes; --"}`, `"data":{"changes":1,"lastInsertRowid":2}`},
		{"runSql_desk", `{"sql":"UPDATE notes SET text='second' WHERE rowid=2"}`, `"data":{"changes":1,`},
		{"runSql_desk", `{"sql":"SELECT text FROM notes"}`, `"data":[{"text":"first"},{"text":"second"}]`},
		{"runSql_desk", `{"sql":"WITH a AS (SELECT 2 AS n) DELETE FROM notes WHERE rowid IN (SELECT n FROM a)"}`, `"data":{"changes":1,`},
		{"runSql_desk", `{"sql":"ATTACH DATABASE '` + other + `' AS o"}`, `"status":false`},
		{"runSql_desk", `{"sql":"VACUUM INTO '` + other + `'"}`, `"status":false`},
		{"runSql_desk", `{"sql":"SELECT count(*) AS n FROM notes"}`, `"data":[{"n":1}]`},
	} {
		if got := string(callTool(t, g, step.tool, step.args).Structured); !strings.Contains(got, step.want) {
			t.Errorf("%s: got %s, want %s", step.args, got, step.want)
		}
	}
	if _, err := os.Stat(other); err == nil {
		t.Error("another file was written")
	}
	db, err := sql.Open("sqlite", database+".bak")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var n int
	if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM notes`).Scan(&n); err != nil || n != 1 {
		t.Error("the copy from before the first change has", n, err)
	}
}

func TestResourcesStayBelowTheirOrigin(t *testing.T) {
	for name, tt := range map[string]struct{ place, want string }{
		"a way up":            {"../stock.db", "RES004"},
		"an absolute name":    {"/etc/stock.db", "RES004"},
		"another kind":        {"stock.txt", "RES027"},
		"nothing there":       {"none.db", "RES020"},
		"a link to elsewhere": {"link.db", "RES020"},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile("testdata/Resources.mjs")
			if err != nil {
				t.Fatal(err)
			}
			path := shopWith(t, strings.Replace(string(text), "'stock.db'", "'"+tt.place+"'", 1))
			outside := filepath.Join(t.TempDir(), "secret.db")
			makeDatabase(t, outside, books()...)
			if err := os.Symlink(outside, filepath.Join(filepath.Dir(path), "resources", "link.db")); err != nil {
				t.Skip("no links here:", err)
			}
			_, c := serveFiles(t, path, flowmcp.Options{Worker: worker()})
			if c.Find("runSql_shop") != nil || len(c.Diagnostics()) != 1 || !strings.Contains(c.Diagnostics()[0].String(), tt.want) {
				t.Error(c.Diagnostics())
			}
		})
	}
}

// fetchResult answers every request with one file.
type fetchResult struct {
	body  []byte
	calls *int
	fail  *bool
}

func (f fetchResult) RoundTrip(r *http.Request) (*http.Response, error) {
	*f.calls++
	if *f.fail {
		return nil, fs.ErrClosed
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{}, Body: readCloser{strings.NewReader(string(f.body))}, Request: r, ContentLength: int64(len(f.body)),
	}, nil
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }

func TestDatabasesFromTheWebAreKept(t *testing.T) {
	dir := t.TempDir()
	makeDatabase(t, filepath.Join(dir, "web.db"), books()...)
	body, err := os.ReadFile(filepath.Join(dir, "web.db"))
	if err != nil {
		t.Fatal(err)
	}
	writeAt(t, filepath.Join(dir, "Web.mjs"), `export const main = { namespace: 'web', name: 'Web', description: 'Books in the web', version: '4.0.0', tools: {},
		resources: { stock: { source: 'http', url: 'https://shop.example/stock.db', cacheTtl: 3600, description: 'Stock', queries: {} } } }`)
	calls, fail := 0, false
	o := flowmcp.Options{Client: &http.Client{Transport: fetchResult{body, &calls, &fail}}, CacheDir: filepath.Join(dir, "cache")}
	g, _ := serveFiles(t, filepath.Join(dir, "Web.mjs"), o)
	const question = `{"sql":"SELECT count(*) AS n FROM books"}`
	for range 2 {
		if got := string(callTool(t, g, "runSql_web", question).Structured); !strings.Contains(got, `[{"n":4}]`) {
			t.Error(got)
		}
	}
	if calls != 1 {
		t.Errorf("it was fetched %d times", calls)
	}
	kept, err := filepath.Glob(filepath.Join(dir, "cache", "resources", "*.db"))
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	info, err := os.Stat(kept[0])
	if err != nil {
		t.Fatal(err)
	}
	old := info.ModTime().AddDate(-1, 0, 0)
	if err := os.Chtimes(kept[0], old, old); err != nil {
		t.Fatal(err)
	}
	fail = true
	res := callTool(t, g, "runSql_web", question)
	if !strings.Contains(string(res.Structured), `[{"n":4}]`) || !strings.Contains(string(res.Meta), `"stale":true`) {
		t.Error(string(res.Structured), string(res.Meta))
	}
	fail = false
	copy(body, "<html>log in</html>") // under a status that says that all is well
	res = callTool(t, g, "runSql_web", question)
	if !strings.Contains(string(res.Structured), `[{"n":4}]`) || !strings.Contains(string(res.Meta), `"stale":true`) {
		t.Error(string(res.Structured), string(res.Meta))
	}
	if now, err := os.ReadFile(kept[0]); err != nil || !strings.HasPrefix(string(now), "SQLite format 3") {
		t.Errorf("a page took the place of the database: %.20q, %v", now, err)
	}
}
