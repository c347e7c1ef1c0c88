package publish_test

import (
	"fmt"

	"github.com/tenon-mcp/tenon/internal/publish"
)

// Some clients drop all tools of a server over one keyword that they cannot
// read. Compatible leaves such keywords out, and reports them.
func ExampleCompatible() {
	safe, changes := publish.Compatible([]byte(`{"type":"object","properties":{"id":{"type":"string","pattern":"^(?<=x)y$"}}}`))
	fmt.Printf("%s\n", safe)
	for _, c := range changes {
		fmt.Println(c.Path, c.Keyword)
	}
	// Output:
	// {"type":"object","properties":{"id":{"type":"string"}}}
	// /properties/id pattern
}
