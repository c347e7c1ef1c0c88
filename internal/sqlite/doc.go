// Package sqlite runs untrusted SQL on untrusted SQLite databases and returns
// JSON.
//
// It does not know schema files, tools or callers: it opens the file that it is
// given and confines every statement to it. Whether a statement may write is
// decided when the database is opened and enforced by SQLite's authorizer, not
// by parsing the SQL.
//
// For a resource of a schema file it takes the place that an upstream has for
// other tools.
//
// Invariants, whatever the statement:
//
//   - It accesses one file. Nothing is attached, no extension is loaded, no
//     setting is changed.
//   - A database opened for reading is not modified.
//   - Rows and bytes of the result are limited.
//   - It ends with its context, after ten seconds at the latest. Sorting uses
//     temporary files, which end with it.
package sqlite
