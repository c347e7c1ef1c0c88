package sqlite

import (
	"slices"
	"strings"

	"modernc.org/sqlite"
)

// guard returns the authorizer that SQLite calls while it compiles a statement.
func guard(write bool) sqlite.AuthorizerFn {
	return func(action sqlite.AuthorizerActionCode, arg1, arg2, _, _ string) sqlite.AuthorizerReturnCode {
		if isRead(action, arg1, arg2) || write && isWrite(action, arg2) {
			return sqlite.AuthorizerOK
		}
		return sqlite.AuthorizerDeny
	}
}

// isRead reports whether an action only reads and stays within the file.
func isRead(action sqlite.AuthorizerActionCode, arg1, arg2 string) bool {
	switch action { //nolint:exhaustive // all others are denied
	case sqlite.AuthSelect, sqlite.AuthRecursive:
		return true
	case sqlite.AuthRead:
		return !strings.HasPrefix(strings.ToLower(arg1), "sqlite_dbpage")
	case sqlite.AuthFunction:
		return !slices.Contains([]string{"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"}, strings.ToLower(arg2))
	case sqlite.AuthPragma: // for the functions pragma_table_info(…) and so on
		return slices.Contains([]string{
			"table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "foreign_key_list", "data_version",
		}, strings.ToLower(arg1))
	}
	return false
}

// isWrite reports whether an action modifies only the file.
func isWrite(action sqlite.AuthorizerActionCode, arg2 string) bool {
	switch action { //nolint:exhaustive // all others are denied
	case sqlite.AuthInsert, sqlite.AuthUpdate, sqlite.AuthDelete,
		sqlite.AuthCreateTable, sqlite.AuthCreateIndex, sqlite.AuthCreateView, sqlite.AuthCreateTrigger,
		sqlite.AuthDropTable, sqlite.AuthDropIndex, sqlite.AuthDropView, sqlite.AuthDropTrigger, sqlite.AuthDropVTable,
		sqlite.AuthAlterTable, sqlite.AuthReindex, sqlite.AuthAnalyze:
		return true
	case sqlite.AuthCreateVTable:
		return slices.Contains([]string{"fts3", "fts4", "fts5", "rtree"}, strings.ToLower(arg2))
	}
	return false
}
