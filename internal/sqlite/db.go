package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
)

// Limits of every statement.
const (
	maxText  = 100 << 10 // bytes of SQL
	maxCell  = 8 << 20   // bytes of one value or row during execution
	maxConns = 4         // concurrent statements in one database
	maxTime  = 10 * time.Second
	idle     = 30 * time.Second
)

// The limits set with sqlite3_limit, by their numbers in SQLite's interface.
const (
	limitLength    = 0
	limitSQLLength = 1
	limitDepth     = 3
	limitAttached  = 7
)

// DB is one database file. It is safe for concurrent use. Connections are
// closed soon after use, so that a file that replaces the database is found.
type DB struct {
	path  string
	pool  *sql.DB
	write bool
}

// Open opens an existing database file. With write its statements may modify
// it.
func Open(path string, write bool) (*DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", filepath.Base(path))
	}
	mode := "ro"
	if write {
		mode = "rw"
	}
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") { // a Windows drive
		slashed = "/" + slashed
	}
	query := url.Values{"mode": {mode}, "_defensive": {"1"}, "_error_rc": {"1"}, "_busy_timeout": {"5000"}}
	if write {
		query.Set("_journal_mode", "WAL")
	}
	name := url.URL{Scheme: "file", Path: slashed, RawQuery: query.Encode()}
	pool := sql.OpenDB(connector{driver: &sqlite.Driver{}, name: name.String(), write: write})
	pool.SetMaxOpenConns(maxConns)
	pool.SetConnMaxIdleTime(idle)
	return &DB{path: path, pool: pool, write: write}, nil
}

// Close closes the database after running statements.
func (d *DB) Close() error { return d.pool.Close() }

// connector opens connections with the authorizer installed.
type connector struct {
	driver *sqlite.Driver
	name   string
	write  bool
}

func (c connector) Driver() driver.Driver { return c.driver }

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	conn, err := c.driver.Open(c.name)
	if err != nil {
		return nil, err
	}
	if err := c.prepare(ctx, conn); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

func (c connector) prepare(ctx context.Context, conn driver.Conn) error {
	exec, canExec := conn.(driver.ExecerContext)
	guarded, canGuard := conn.(sqlite.AuthorizerRegisterer)
	if !canExec || !canGuard {
		return errors.New("the driver cannot guard a connection")
	}
	// Sorting uses temporary files that end with their statement: this build of
	// SQLite does not count memory and cannot limit it.
	settings := []string{"PRAGMA trusted_schema=OFF", "PRAGMA cell_size_check=ON", "PRAGMA temp_store=FILE"}
	if !c.write {
		settings = append(settings, "PRAGMA query_only=ON")
	}
	for _, s := range settings {
		if _, err := exec.ExecContext(ctx, s, nil); err != nil {
			return err
		}
	}
	return guarded.RegisterAuthorizer(guard(c.write))
}

// conn returns a connection with its limits set.
func (d *DB) conn(ctx context.Context) (*sql.Conn, error) {
	conn, err := d.pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	for id, most := range map[int]int{limitLength: maxCell, limitSQLLength: maxText, limitDepth: 200, limitAttached: 0} {
		if _, err := sqlite.Limit(conn, id, most); err != nil {
			_ = conn.Close()
			return nil, err
		}
	}
	return conn, nil
}

// IsReadOnly reports whether a statement failed because it would have written.
func IsReadOnly(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return false
	}
	const readOnly, denied = 8, 23
	return e.Code()&0xFF == readOnly || e.Code()&0xFF == denied
}
