package openapi_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon/openapi"
)

// golden compares got with a file, which is written only on request.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		if err := os.WriteFile(file, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(want) == 0 {
		t.Fatalf("%s is empty", file)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s: %s", file, d)
	}
}

// Names are what clients and their prompts refer to: a change to one is a
// change of the interface.
func TestNamesAreAsBefore(t *testing.T) {
	in, err := os.ReadFile("testdata/names.txt")
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for line := range strings.Lines(string(in)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		id := ""
		if len(f) == 3 {
			id = f[2]
		}
		paths = append(paths, fmt.Sprintf(`%q:{%q:{"operationId":%q}}`, f[1]+fmt.Sprintf("#%d", len(paths)), f[0], id))
	}
	offer := load(t, `{"openapi":"3.1.0","paths":{`+strings.Join(paths, ",")+`}}`, openapi.Options{})
	var got bytes.Buffer
	for _, tool := range offer.Tools {
		fmt.Fprintf(&got, "%s\n", tool.Name)
	}
	for _, f := range offer.Diagnostics {
		fmt.Fprintf(&got, "%s\n", f.Message)
	}
	golden(t, "testdata/names.golden", got.Bytes())
}
