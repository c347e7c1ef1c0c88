package convert

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestEveryComponentOfTheCorpusCompiles goes over a folder of descriptions of
// all versions, in both notations.
func TestEveryComponentOfTheCorpusCompiles(t *testing.T) {
	root := os.Getenv("TENON_OPENAPI_CORPUS")
	if root == "" {
		t.Skip("NOT TESTED against a corpus: TENON_OPENAPI_CORPUS names no folder")
	}
	documents, schemas := 0, 0
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(path)) {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(raw, []byte("openapi")) && !bytes.Contains(raw, []byte("swagger")) || e.Name() == "package.json" {
			return err
		}
		d, err := parseConverter(filepath.Base(path), raw)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return nil
		}
		documents++
		for _, f := range everyComponent(d) {
			schemas++
			if err := compiles(Assemble(f.Body, f.Deps)); err != nil {
				t.Errorf("%s: %.300s: %v", path, f.Body, err)
			}
		}
		for _, f := range d.Diagnostics() {
			t.Log(f)
		}
		return nil
	})
	if err != nil || documents == 0 {
		t.Errorf("%d documents, %v", documents, err)
	}
	t.Logf("%d documents, %d schemas", documents, schemas)
}
