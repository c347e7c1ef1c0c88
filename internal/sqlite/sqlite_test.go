package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	driver "modernc.org/sqlite"

	"github.com/tenon-mcp/tenon/internal/sqlite"
)

// library is a database with 3 books, 5000 numbers and columns of every type.
func library(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a library.db")
	_ = driver.Driver{} // it registers itself as "sqlite"
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range []string{
		`CREATE TABLE books(id INTEGER PRIMARY KEY, title TEXT, price REAL, bought DATE, seen DATETIME, cover BLOB, lent BOOLEAN)`,
		`INSERT INTO books VALUES(1,'Möbius',9.5,'2024-02-03','2024-02-03 04:05:06',x'0102',1),(9007199254740993,'Tenon',NULL,'spring',NULL,NULL,0),(3,'Joint',1e400,'2020-01-01','2020-01-01T00:00:00Z',NULL,NULL)`,
		`CREATE TABLE numbers(n)`,
		`WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM c WHERE n<5000) INSERT INTO numbers SELECT n FROM c`,
		`CREATE VIRTUAL TABLE words USING fts5(text)`,
		`INSERT INTO words VALUES('dovetail joint'),('mortise')`,
	} {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatal(s, err)
		}
	}
	return path
}

func open(t *testing.T, path string, write bool) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(path, write)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func ask(ctx context.Context, db *sqlite.DB, text string, limit int, args ...any) (sqlite.Result, error) {
	s, err := sqlite.Parse(text)
	if err != nil {
		return sqlite.Result{}, err
	}
	return db.Query(ctx, sqlite.Query{Statement: s, Args: args, MaxRows: limit, MaxBytes: 1 << 20})
}

func TestRowsAreJSONAsTheyStandInTheFile(t *testing.T) {
	db := open(t, library(t), false)
	for name, tt := range map[string]struct {
		sql  string
		args []any
		want string
	}{
		"every kind of value":          {`SELECT * FROM books WHERE id=?`, []any{int64(1)}, `[{"id":1,"title":"Möbius","price":9.5,"bought":"2024-02-03","seen":"2024-02-03 04:05:06","cover":"AQI=","lent":1}]`},
		"large integers and no date":   {`SELECT id, bought, price, lent FROM books WHERE title='Tenon'`, nil, `[{"id":9007199254740993,"bought":"spring","price":null,"lent":0}]`},
		"infinity is null":             {`SELECT price, seen FROM books WHERE id=3`, nil, `[{"price":null,"seen":"2020-01-01T00:00:00Z"}]`},
		"two columns of one name":      {`SELECT 1 AS a, 2 AS a`, nil, `[{"a":1,"a:1":2}]`},
		"dates keep the order of rows": {`SELECT id, bought FROM books ORDER BY title DESC -- by title`, nil, `[{"id":9007199254740993,"bought":"spring"},{"id":1,"bought":"2024-02-03"},{"id":3,"bought":"2020-01-01"}]`},
		"full text":                    {`SELECT text FROM words WHERE words MATCH ?`, []any{"joint"}, `[{"text":"dovetail joint"}]`},
		"columns of a table":           {`SELECT name FROM pragma_table_info('numbers')`, nil, `[{"name":"n"}]`},
		"nothing":                      {`SELECT 1 WHERE 0;`, nil, `[]`},
		"a semicolon in a text":        {`SELECT ';' AS a /* ; */;  -- ;`, nil, `[{"a":";"}]`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ask(t.Context(), db, tt.sql, 0, tt.args...)
			if err != nil || string(got.Rows) != tt.want {
				t.Errorf("got %s, %v\nwant %s", got.Rows, err, tt.want)
			}
		})
	}
}

// TestLimit tries to evade a limit with the SQL itself.
func TestLimitCannotBeWalkedAround(t *testing.T) {
	db := open(t, library(t), false)
	for _, text := range []string{
		`SELECT n FROM numbers`, `SELECT n, 'limit' FROM numbers`, `SELECT n FROM numbers --`, `SELECT n FROM numbers LIMIT 4999`,
		`SELECT n FROM numbers LIMIT -1`, `SELECT n FROM numbers /* LIMIT 3 */`, `WITH a AS (SELECT n FROM numbers LIMIT 4000) SELECT * FROM a`,
		`SELECT n FROM numbers UNION ALL SELECT n FROM numbers;`, `VALUES(1),(2),(3),(4),(5),(6),(7),(8),(9),(10),(11),(12),(13)`,
	} {
		got, err := ask(t.Context(), db, text, 10)
		if err != nil || got.Count != 10 || !got.More {
			t.Errorf("%s: %d rows, more %v, %v", text, got.Count, got.More, err)
		}
	}
}

func TestReadingChangesNothing(t *testing.T) {
	path := library(t)
	db := open(t, path, false)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.db")
	for _, text := range []string{
		`DELETE FROM books`, `WITH a AS (SELECT 1) DELETE FROM books`, `UPDATE books SET title='x'`, `INSERT INTO books(title) VALUES('x') RETURNING *`,
		`DROP TABLE books`, `CREATE TABLE x(a)`, `CREATE TEMP TABLE x(a)`, `ATTACH DATABASE '` + other + `' AS o`, `VACUUM INTO '` + other + `'`, `VACUUM`,
		`PRAGMA query_only=OFF`, `PRAGMA writable_schema=ON`, `PRAGMA temp_store=MEMORY`, `SELECT * FROM pragma_journal_mode`, `SELECT * FROM pragma_database_list`,
		`SELECT load_extension('x')`, `SELECT writefile('` + other + `','x')`, `SELECT readfile('/etc/hostname')`, `BEGIN`, `COMMIT`, `REINDEX`, `ANALYZE`,
		`SELECT fts3_tokenizer('simple')`, `SELECT data FROM sqlite_dbpage`, `EXPLAIN DELETE FROM books`,
		`SELECT 1; DELETE FROM books`, `;;SELECT 1;;DELETE FROM books`,
	} {
		if got, err := ask(t.Context(), db, text, 10); err == nil {
			t.Errorf("%s was run: %s", text, got.Rows)
		}
		if s, err := sqlite.Parse(text); err == nil {
			if _, err := db.Exec(t.Context(), sqlite.Query{Statement: s}); err == nil {
				t.Errorf("%s was executed", text)
			}
		}
	}
	after, err := os.ReadFile(path)
	if err != nil || string(before) != string(after) {
		t.Error("the file was changed", err)
	}
	if _, err := os.Stat(other); !errors.Is(err, os.ErrNotExist) {
		t.Error("another file was written")
	}
}

func TestWritingStaysInItsFile(t *testing.T) {
	path := library(t)
	db := open(t, path, true)
	other := filepath.Join(t.TempDir(), "other.db")
	for _, text := range []string{
		`ATTACH DATABASE '` + other + `' AS o`, `VACUUM INTO '` + other + `'`, `PRAGMA writable_schema=ON`, `SELECT load_extension('x')`,
		`PRAGMA journal_mode=DELETE`, `CREATE VIRTUAL TABLE v USING dbstat`, `UPDATE sqlite_master SET sql='x'`,
	} {
		if s, err := sqlite.Parse(text); err != nil {
			t.Error(err)
		} else if _, err := db.Exec(t.Context(), sqlite.Query{Statement: s}); err == nil {
			t.Errorf("%s was executed", text)
		}
	}
	for _, test := range []struct {
		text string
		want int64
	}{{`UPDATE books SET lent=1`, 3}, {`DELETE FROM books WHERE id=?`, 1}} {
		text, want := test.text, test.want
		s, err := sqlite.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		q := sqlite.Query{Statement: s}
		if strings.Contains(text, "?") {
			q.Args = []any{int64(1)}
		}
		got, err := db.Exec(t.Context(), q)
		if err != nil || got.Changes != want {
			t.Errorf("%s: %d changes, %v", text, got.Changes, err)
		}
	}
	backup := filepath.Join(t.TempDir(), "copy.db")
	if err := db.Copy(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	got, err := ask(t.Context(), open(t, backup, false), `SELECT count(*) AS n FROM books`, 0)
	if err != nil || string(got.Rows) != `[{"n":2}]` {
		t.Errorf("the copy has %s, %v", got.Rows, err)
	}
	if _, err := os.Stat(other); !errors.Is(err, os.ErrNotExist) {
		t.Error("another file was written")
	}
}

// TestStatementsAreBounded runs statements that would exhaust time or memory.
func TestStatementsAreBounded(t *testing.T) {
	db := open(t, library(t), false)
	const forever = `WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT `
	t.Run("time", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := ask(ctx, db, forever+`count(*) FROM c`, 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
	for name, text := range map[string]string{
		"one value":     `SELECT zeroblob(1000000000)`,
		"a long text":   `SELECT replace(hex(zeroblob(4000000)), '0', 'xxxxxxxxxx')`,
		"the answer":    forever + `x, hex(randomblob(100000)) FROM c`,
		"depth":         `SELECT ` + strings.Repeat("(", 5000) + `1` + strings.Repeat(")", 5000),
		"the SQL":       `SELECT '` + strings.Repeat("x", 200_000) + `'`,
		"a row of many": `WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x < 100) SELECT group_concat(hex(zeroblob(1000000))) FROM c`,
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if _, err := ask(ctx, db, text, 0); err == nil || ctx.Err() != nil { // ten seconds end it where nothing else does
				t.Errorf("not refused: %v", err)
			}
		})
	}
	if got, err := ask(t.Context(), db, `SELECT count(*) AS n FROM numbers`, 0); err != nil || string(got.Rows) != `[{"n":5000}]` {
		t.Errorf("afterwards: %s, %v", got.Rows, err)
	}
}

func TestOpenWantsAFile(t *testing.T) {
	if _, err := sqlite.Open(filepath.Join(t.TempDir(), "none.db"), true); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := sqlite.Open(t.TempDir(), false); err == nil {
		t.Error("a folder was opened")
	}
	text := filepath.Join(t.TempDir(), "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ask(t.Context(), open(t, text, false), `SELECT * FROM sqlite_master`, 0); err == nil {
		t.Error(got)
	}
}

// FuzzOne: what Parse accepts as one statement is one for SQLite, too: nothing
// after it is run.
func FuzzOne(f *testing.F) {
	for _, s := range []string{`SELECT 1`, `SELECT ';'; -- x`, "SELECT [;] FROM `a;`", `/* ; */ SELECT "a"";"`, `SELECT 1;;`, `SELECT '`, `SELECT 1 /*`, "\uFEFFSELECT 1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := sqlite.Parse(text)
		if err != nil {
			return
		}
		again, err := sqlite.Parse(s.Text)
		if err != nil || again != s {
			t.Errorf("%q became %q and then %q, %v", text, s.Text, again.Text, err)
		}
		if !strings.Contains(text, s.Text) {
			t.Errorf("%q is no part of %q", s.Text, text)
		}
		closed := s.Text + "\n;" // a quote that is open would take this in
		if one, err := sqlite.Parse(closed); err == nil && one == s {
			if _, err := sqlite.Parse(closed + "SELECT 2"); err == nil {
				t.Errorf("a statement behind %q is not seen", s.Text)
			}
		}
	})
}
