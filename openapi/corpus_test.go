package openapi_test

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/openapi"
)

// Every document of the folder becomes tools whose contracts are JSON. The
// folder is the npm package @readme/oas-examples, or any other.
func TestCorpus(t *testing.T) {
	folder := os.Getenv("TENON_OPENAPI_CORPUS")
	if folder == "" {
		t.Skip("TENON_OPENAPI_CORPUS names no folder: public documents are NOT tested")
	}
	documents, operations, refused := 0, 0, 0
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		ext := filepath.Ext(path)
		if err != nil || d.IsDir() || d.Name() == "package.json" || ext != ".json" && ext != ".yaml" && ext != ".yml" {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		offer, err := openapi.Parse(path, raw, openapi.Options{Client: &http.Client{Transport: &wire{}}})
		if err != nil {
			refused++
			t.Logf("refused: %v", err)
			if tenon.CodeOf(err) != tenon.CodeBadSource {
				t.Errorf("%s: %v", path, err)
			}
			return nil
		}
		documents++
		for _, tool := range offer.Tools {
			operations++
			checkContract(t, tool)
		}
		for _, f := range offer.Diagnostics {
			t.Log(f)
		}
		return nil
	})
	if err != nil || documents == 0 {
		t.Fatal(documents, err)
	}
	t.Logf("%d documents, %d operations, %d refused", documents, operations, refused)
}
