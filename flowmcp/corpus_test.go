package flowmcp_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/tenon-mcp/tenon/flowmcp"
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

// TestCorpusHashes compares schemaHash, and with it the evaluation of every
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
