package app

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/tenon-mcp/tenon"
)

// Bounds of a folder of documents.
const (
	maxDocuments = 1000
	sniffed      = 64 << 10 // bytes in which a document says what it is
)

// folders puts the OpenAPI documents of each folder in its place. A folder of
// schema files and one of a function app stay what they are, and files that are
// no OpenAPI documents are left alone.
func folders(sources []Source) ([]Source, error) {
	var all []Source
	for _, p := range sources {
		documents, err := documentsIn(p.Spec)
		if err != nil {
			return nil, p.located(err)
		}
		if documents == nil {
			all = append(all, p)
		}
		for _, path := range documents {
			one := p
			one.Name, _ = SplitSpec(path)
			one.Spec = path
			all = append(all, one)
		}
	}
	return all, nil
}

// documentsIn are the OpenAPI documents of a folder; nil: it is no folder of
// them.
func documentsIn(dir string) ([]string, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() || isApp(dir) || holdsSchemaFiles(dir) {
		return nil, nil //nolint:nilerr // whoever reads it tells
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, BadSource(dir, err)
	}
	var documents []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.Type().IsRegular() && slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(path)) && isDocument(path) {
			documents = append(documents, path)
		}
	}
	switch {
	case documents == nil:
		return nil, &tenon.Error{Code: tenon.CodeBadSource, Message: "the folder " + dir + " has no descriptions; " + kinds + ", or a folder of OpenAPI documents"}
	case len(documents) > maxDocuments:
		return nil, invalid("", "the folder %s has more than %d OpenAPI documents; name those that are to be served", dir, maxDocuments)
	}
	return documents, nil
}

// holdsSchemaFiles reports whether a schema file stands in a folder or in one
// below it.
func holdsSchemaFiles(dir string) bool {
	found := false
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) == ".mjs" {
			found = true
			return filepath.SkipAll
		}
		return nil // what cannot be read holds none
	})
	return found
}

var documentKey = regexp.MustCompile(`(?m)(^|[{,]\s*)\s*["']?(openapi|swagger)["']?\s*:\s*["']?[23]\.`)

// isDocument reports whether a file says of itself that it is an OpenAPI
// document.
func isDocument(path string) bool {
	f, err := os.Open(path) //nolint:gosec // the operator names the folder
	if err != nil {
		return false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, sniffed))
	return err == nil && documentKey.Match(text)
}
