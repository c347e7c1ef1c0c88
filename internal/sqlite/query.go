package sqlite

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"modernc.org/sqlite"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Query is a statement with its bound values and limits.
type Query struct {
	Statement

	Args     []any // nil, bool, int64, float64, string
	MaxRows  int   // 0: no limit
	MaxBytes int   // of the result; 0: 32 MiB
}

// Result is the result of a statement.
type Result struct {
	Rows    []byte // JSON array of objects, columns in order
	Count   int
	More    bool // there were more rows than MaxRows
	Changes int64
	LastID  int64
}

// Query runs a statement that reads, for ten seconds at most. No more than
// MaxRows rows are fetched, whatever limit the statement has. A result that is
// too large is an error.
func (d *DB) Query(ctx context.Context, q Query) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	conn, err := d.conn(ctx)
	if err != nil {
		return Result{}, cleanError(err)
	}
	defer conn.Close()
	rows, err := conn.QueryContext(ctx, verbatim(conn, q.Statement), q.Args...)
	if err != nil {
		return Result{}, contextError(ctx, err)
	}
	defer rows.Close()
	a, err := q.read(rows)
	if err != nil {
		return a, contextError(ctx, err)
	}
	return a, nil
}

// Exec runs a statement that modifies the database.
func (d *DB) Exec(ctx context.Context, q Query) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	conn, err := d.conn(ctx)
	if err != nil {
		return Result{}, cleanError(err)
	}
	defer conn.Close()
	res, err := conn.ExecContext(ctx, q.Text, q.Args...)
	if err != nil {
		return Result{}, contextError(ctx, err)
	}
	var a Result
	a.Changes, _ = res.RowsAffected() // the driver always knows both
	a.LastID, _ = res.LastInsertId()
	return a, nil
}

// contextError returns the context's error where it caused an error of SQLite.
func contextError(ctx context.Context, err error) error {
	if cause := ctx.Err(); cause != nil {
		return cause
	}
	return cleanError(err)
}

// cleanError removes the driver's additions from an error.
func cleanError(err error) error {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	text := strings.TrimPrefix(e.Error(), "SQL logic error: ")
	if at := strings.LastIndex(text, " ("); at > 0 {
		text = text[:at]
	}
	return &Error{Message: text, err: e}
}

// Error is an error that SQLite reported for a statement.
type Error struct {
	Message string
	err     error
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the driver's error.
func (e *Error) Unwrap() error { return e.err }

// verbatim makes the driver return dates as stored. The driver converts texts
// in columns declared as dates to time values; an expression has no declared
// type, and a unary plus does not change the value.
func verbatim(conn *sql.Conn, s Statement) string {
	if !s.Reads() {
		return s.Text
	}
	whole := "SELECT * FROM (\n" + s.Text + "\n)"
	var columns []sqlite.ColumnInfo
	err := conn.Raw(func(c any) error {
		asked, ok := c.(interface {
			ColumnInfo(query string) ([]sqlite.ColumnInfo, error)
		})
		if !ok {
			return errors.New("the driver does not name columns")
		}
		var err error
		columns, err = asked.ColumnInfo(whole)
		return err
	})
	if err != nil {
		return s.Text // running it will report the error
	}
	dated := false
	var names []string
	for _, c := range columns {
		switch strings.ToUpper(c.DeclType) {
		case "DATE", "DATETIME", "TIMESTAMP", "TIME":
			dated = true
		}
		quoted := `"` + strings.ReplaceAll(c.Name, `"`, `""`) + `"`
		names = append(names, "+"+quoted+" AS "+quoted)
	}
	if !dated {
		return s.Text
	}
	return "SELECT " + strings.Join(names, ", ") + " FROM (\n" + s.Text + "\n)"
}

// read writes the rows as JSON.
func (q Query) read(rows *sql.Rows) (Result, error) {
	var a Result
	names, err := rows.Columns()
	if err != nil {
		return a, err
	}
	keys := quotedKeys(names)
	most := q.MaxBytes
	if most == 0 {
		most = 32 << 20
	}
	cells := make([]any, len(names))
	places := make([]any, len(names))
	for i := range cells {
		places[i] = &cells[i]
	}
	out := []byte{'['}
	for rows.Next() {
		if q.MaxRows > 0 && a.Count == q.MaxRows {
			a.More = true
			break
		}
		if err := rows.Scan(places...); err != nil {
			return a, err
		}
		if a.Count > 0 {
			out = append(out, ',')
		}
		out = appendRow(out, keys, cells)
		a.Count++
		if len(out) > most {
			return a, fmt.Errorf("the result is larger than %d bytes: select fewer rows or columns", most)
		}
	}
	a.Rows = append(out, ']')
	return a, rows.Err()
}

// quotedKeys returns the members of a row. Duplicate column names get the
// suffixes that SQLite uses.
func quotedKeys(names []string) [][]byte {
	seen := map[string]bool{}
	keys := make([][]byte, len(names))
	for i, name := range names {
		unique := name
		for n := 1; seen[unique]; n++ {
			unique = name + ":" + strconv.Itoa(n)
		}
		seen[unique] = true
		keys[i] = append(rawjson.AppendString(nil, strings.ToValidUTF8(unique, "\uFFFD")), ':')
	}
	return keys
}

func appendRow(dst []byte, keys [][]byte, cells []any) []byte {
	dst = append(dst, '{')
	for i, cell := range cells {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, keys[i]...)
		dst = appendCell(dst, cell)
	}
	return append(dst, '}')
}

// appendCell writes a value. Infinity becomes null, bytes become base64.
func appendCell(dst []byte, cell any) []byte {
	switch v := cell.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, v)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return append(dst, "null"...)
		}
		text, err := json.Marshal(v)
		if err != nil {
			return append(dst, "null"...)
		}
		return append(dst, text...)
	case string:
		return rawjson.AppendString(dst, strings.ToValidUTF8(v, "\uFFFD"))
	case []byte:
		return rawjson.AppendString(dst, base64.StdEncoding.EncodeToString(v))
	case time.Time:
		return rawjson.AppendString(dst, v.Format(time.RFC3339Nano))
	}
	return append(dst, "null"...)
}

// Copy backs the database up into another file, which must not exist.
func (d *DB) Copy(ctx context.Context, to string) error {
	conn, err := d.pool.Conn(ctx)
	if err != nil {
		return cleanError(err)
	}
	defer conn.Close()
	return conn.Raw(func(c any) error {
		source, ok := c.(interface {
			NewBackup(to string) (*sqlite.Backup, error)
		})
		if !ok {
			return errors.New("the driver cannot copy")
		}
		b, err := source.NewBackup(to)
		if err != nil {
			return cleanError(err)
		}
		for more := true; more; {
			if err := ctx.Err(); err != nil {
				return errors.Join(err, b.Finish())
			}
			if more, err = b.Step(1000); err != nil {
				return errors.Join(cleanError(err), b.Finish())
			}
		}
		return b.Finish()
	})
}
