package flowmcp_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/flowmcp"
	"github.com/tenon-mcp/tenon/gateway"
)

// corpus opens a file of the corpus of public schema files, which is no part
// of the repository: TENON_CORPUS names its folder.
func corpus[T any](t *testing.T, name string) []T {
	t.Helper()
	dir := os.Getenv("TENON_CORPUS")
	if dir == "" {
		t.Skip("SKIPPED: TENON_CORPUS does not name the folder of the corpus; nothing of the public library is checked")
	}
	f, err := os.Open(filepath.Join(dir, "flowmcp", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows []T
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var row T
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	if lines.Err() != nil || len(rows) == 0 {
		t.Fatalf("%s: %d rows, %v", name, len(rows), lines.Err())
	}
	return rows
}

type mainRow struct {
	Schema string
	Main   json.RawMessage
}

// corpusFolder writes every main as a schema file and returns the folder.
func corpusFolder(t *testing.T) (string, []mainRow) {
	t.Helper()
	rows := corpus[mainRow](t, "mains.jsonl")
	dir := filepath.Join(t.TempDir(), "providers")
	for _, r := range rows {
		path := filepath.Join(dir, filepath.FromSlash(r.Schema))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append([]byte("export const main = "), r.Main...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, rows
}

// TestCorpusHashes compares Hash, and with it the evaluation of every
// main, with the oracle.
func TestCorpusHashes(t *testing.T) {
	dir, _ := corpusFolder(t)
	reports, err := flowmcp.Check(t.Context(), dir, flowmcp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]flowmcp.Report{}
	for _, r := range reports {
		rel, err := filepath.Rel(dir, r.File)
		if err != nil {
			t.Fatal(err)
		}
		got[filepath.ToSlash(rel)] = r
	}
	rows := corpus[struct{ Schema, CanonicalSha8 string }](t, "hashes.jsonl")
	for _, row := range rows {
		if got[row.Schema].Hash != row.CanonicalSha8 {
			t.Errorf("%s: schemaHash %q, want %q", row.Schema, got[row.Schema].Hash, row.CanonicalSha8)
		}
	}
	loads, counts := 0, map[string]int{}
	for _, r := range reports {
		if r.Loads {
			loads++
		}
		for _, f := range r.Findings {
			counts[f.Code+" "+string(f.Severity)]++
			if f.Severity == flowmcp.Fatal {
				t.Logf("%s: %s", r.File[len(dir):], f)
			}
		}
	}
	t.Logf("%d hashes compared; %d of %d files load in compat; findings %v", len(rows), loads, len(reports), counts)
}

// TestCorpusMains compares every evaluated main with the oracle, value by
// value.
func TestCorpusMains(t *testing.T) {
	for _, row := range corpus[mainRow](t, "mains.jsonl") {
		got, findings := flowmcp.MainJSON(append([]byte("export const main = "), row.Main...))
		var want, have any
		if err := json.Unmarshal(got, &have); err != nil {
			t.Fatalf("%s: %v %v", row.Schema, err, findings)
		}
		if err := json.Unmarshal(row.Main, &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, have); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.Schema, diff)
		}
	}
}

// TestCorpusNames compares wire names with the oracle, and makes sure that no
// two tools are served under one.
func TestCorpusNames(t *testing.T) {
	dir, _ := corpusFolder(t)
	reports, err := flowmcp.Check(t.Context(), dir, flowmcp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, r := range reports {
		for _, tool := range r.Tools {
			_, route, _ := strings.Cut(tool.ID, "::")
			got[r.Namespace+" "+route] = tool.Name
		}
	}
	for _, row := range corpus[struct{ Namespace, RouteName, ToolName string }](t, "toolnames.jsonl") {
		if name := got[row.Namespace+" "+row.RouteName]; name != row.ToolName {
			t.Errorf("%s %s: %q, want %q", row.Namespace, row.RouteName, name, row.ToolName)
		}
	}
	features, err := flowmcp.New(dir, flowmcp.Options{Env: func(string) (string, bool) { return "x", true }}).Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, tool := range features.Tools {
		if seen[tool.Name] || tool.Name != tenon.ToolName(tool.Name) {
			t.Errorf("%s is taken or not legal", tool.Name)
		}
		seen[tool.Name] = true
	}
	t.Logf("%d tools served", len(features.Tools))
}

// TestCorpusContracts renders every tool: what is published compiles and
// nothing has to be taken out for clients.
func TestCorpusContracts(t *testing.T) {
	dir, _ := corpusFolder(t)
	features, err := flowmcp.New(dir, flowmcp.Options{Env: func(string) (string, bool) { return "x", true }, MaxInputSchema: -1, MaxOutputSchema: -1}).Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	catalog := gateway.Build([]gateway.Mount{{Name: "library", Features: features}}, gateway.BuildOptions{})
	for _, e := range catalog.Tools() {
		if diagnostics := e.Diagnostics(); len(diagnostics) > 0 {
			t.Errorf("%s: %v", e.Name(), diagnostics)
		}
	}
}
