package openapi_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/openapi"
)

// Each archive holds a document (in.json or in.yaml) and what its tools
// contract.
func TestContracts(t *testing.T) {
	files, err := filepath.Glob("testdata/contract/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no archives", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			in := archive.Files[0]
			offer, err := openapi.Parse(in.Name, in.Data, openapi.Options{MaxOutputSchema: -1})
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			for _, tool := range offer.Tools {
				writeContract(t, &got, tool)
			}
			for _, f := range offer.Diagnostics {
				fmt.Fprintln(&got, "fault", f)
			}
			archive.Files = []txtar.File{in, {Name: "contracts", Data: got.Bytes()}}
			golden(t, file, txtar.Format(archive))
		})
	}
}

func writeContract(t *testing.T, w *bytes.Buffer, tool tenon.Tool) {
	t.Helper()
	published, diagnostics := tool.Contract.PublishedContract()
	full, err := tool.Contract.Contract()
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(w, "%s\n  input %s\n", tool.Name, full.Input)
	if !bytes.Equal(full.Input, published.Input) {
		fmt.Fprintf(w, "  published %s\n", published.Input)
	}
	for i, v := range full.Responses {
		schema := string(v.Schema)
		switch {
		case v.Open:
			schema = "open"
		case v.Schema == nil:
			schema = "not described"
		}
		if p := published.Responses[i]; !bytes.Equal(p.Schema, v.Schema) {
			schema = "(not published) " + schema
		}
		fmt.Fprintf(w, "  answer %s %s %s\n", v.Status, strings.ReplaceAll(fmt.Sprintf("%q", v.MediaType), `"`, "'"), schema)
	}
	for _, f := range diagnostics {
		fmt.Fprintf(w, "  fault %v\n", f)
	}
}
