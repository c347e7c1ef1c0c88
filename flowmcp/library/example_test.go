package library_test

import (
	"fmt"

	"github.com/tenon-mcp/tenon/flowmcp/library"
)

// A file of version 3 becomes one of version 4; all else in it stays.
func ExampleMigrate() {
	migrated, done, err := library.Migrate([]byte("export const main = { version: '3.0.0', routes: {} }"))
	fmt.Println(string(migrated), done, err)
	// Output: export const main = { version: '4.0.0', tools: {} } [changed version 3.0.0 to 4.0.0 renamed routes to tools] <nil>
}
