package sqlite

import (
	"slices"
	"strings"

	"modernc.org/sqlite"
)

// guard decides what a statement may do, as SQLite compiles it.
func guard(write bool) sqlite.AuthorizerFn {
	return func(action sqlite.AuthorizerActionCode, arg1, arg2, _, _ string) sqlite.AuthorizerReturnCode {
		if allowed(action, arg1, arg2) || write && changes(action, arg2) {
			return sqlite.AuthorizerOK
		}
		return sqlite.AuthorizerDeny
	}
}

// allowed tells what changes nothing and stays inside the file.
func allowed(action sqlite.AuthorizerActionCode, arg1, arg2 string) bool {
	switch action { //nolint:exhaustive // what is not named is denied
	case sqlite.AuthSelect, sqlite.AuthRecursive:
		return true
	case sqlite.AuthRead:
		return !strings.HasPrefix(strings.ToLower(arg1), "sqlite_dbpage")
	case sqlite.AuthFunction:
		return !slices.Contains([]string{"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"}, strings.ToLower(arg2))
	case sqlite.AuthPragma: // they stand behind the functions pragma_table_info(…) and so on
		return slices.Contains([]string{
			"table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "foreign_key_list", "data_version",
		}, strings.ToLower(arg1))
	}
	return false
}

// changes tells what may change the file, and nothing beside it.
func changes(action sqlite.AuthorizerActionCode, arg2 string) bool {
	switch action { //nolint:exhaustive // what is not named is denied
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
