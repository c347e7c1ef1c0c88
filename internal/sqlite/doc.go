// Package sqlite asks SQLite databases that somebody else made, with SQL that
// somebody else wrote, and answers with JSON.
//
// It does not know schema files, tools or who may ask: it opens the file that
// it is given and keeps every statement inside of it. Whether a statement may
// write is decided when the database is opened and kept by SQLite's own
// authorizer, not by reading the SQL.
//
// It stands at the far end of a call, where another source has its upstream.
//
// What holds for every statement, whatever it says:
//
//   - It touches one file. Nothing is attached, nothing is loaded, no setting
//     is changed.
//   - A database that is opened for reading is not changed.
//   - The number of rows and of bytes is counted on what comes back.
//   - It ends with its context, after ten seconds at the latest. What it sorts
//     goes to temporary files, which end with it.
package sqlite
