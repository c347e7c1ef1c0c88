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

// Bounds of every statement.
const (
	maxText  = 100 << 10 // bytes of SQL
	maxCell  = 8 << 20   // bytes of one value or row while it is worked on
	maxConns = 4         // statements at a time in one database
	maxTime  = 10 * time.Second
	idle     = 30 * time.Second
)

// The limits of sqlite3_limit that are set; their numbers are part of SQLite's
// interface.
const (
	limitLength    = 0
	limitSQLLength = 1
	limitDepth     = 3
	limitAttached  = 7
)

// DB is one database file. It is safe for concurrent use. Files are held open
// only while they are used and shortly after, so that one that is put in the
// place of another is found.
type DB struct {
	path  string
	pool  *sql.DB
	write bool
}

// Open returns the database in a file that exists. With write its statements
// may change it.
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
		return nil, fmt.Errorf("%s is no file", filepath.Base(path))
	}
	mode := "ro"
	if write {
		mode = "rw"
	}
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") { // a drive of Windows
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

// Close ends what is open, after the statements under way.
func (d *DB) Close() error { return d.pool.Close() }

// connector opens connections that are guarded from their first statement on.
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
	// What is sorted goes to temporary files, which end with their statement:
	// this build of SQLite counts no memory and could keep no limit of it.
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

// take returns a connection with its limits set.
func (d *DB) take(ctx context.Context) (*sql.Conn, error) {
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

// IsReadOnly reports whether an error says that a statement would have
// written where it may not.
func IsReadOnly(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return false
	}
	const readOnly, denied = 8, 23
	return e.Code()&0xFF == readOnly || e.Code()&0xFF == denied
}
