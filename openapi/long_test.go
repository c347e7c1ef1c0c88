package openapi_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/openapi"
)

// A long document is read, parsed and made into tools by several goroutines:
// the tools, their order and their lines are those of the document.
func TestLongDocument(t *testing.T) {
	const operations = 1500
	var b strings.Builder
	b.WriteString("{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"t\",\"version\":\"1\"},\n\"servers\":[{\"url\":\"https://example.com\"}],\"paths\":{\n")
	for i := range operations {
		comma := ","
		if i == operations-1 {
			comma = ""
		}
		fmt.Fprintf(&b, "\"/p%d\":{\"get\":{\"operationId\":\"op%d\",\"summary\":\"s%d\",\"description\":%q,\"responses\":{}}}%s\n", i, i, i, strings.Repeat("word ", 200), comma)
	}
	b.WriteString("}}")
	if b.Len() < 1<<20 {
		t.Fatalf("%d bytes are not long", b.Len())
	}
	path := filepath.Join(t.TempDir(), "long.json")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	offer, err := openapi.New(path, openapi.Options{}).Load(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(offer.Tools) != operations || len(offer.Diagnostics) > 0 {
		t.Fatalf("%d tools, diagnostics %v", len(offer.Tools), offer.Diagnostics)
	}
	for i := range offer.Tools {
		tool := &offer.Tools[i]
		if want := fmt.Sprintf("op%d", i); tool.Name != want || tool.Title != fmt.Sprintf("s%d", i) || tool.Origin.Line != 3+i {
			t.Fatalf("tool %d is %s, %q, described in line %d", i, tool.Name, tool.Title, tool.Origin.Line)
		}
	}
}
