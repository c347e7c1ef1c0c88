package flowmcp

import (
	"context"
	"maps"
	"path/filepath"
	"slices"

	"github.com/tenon-mcp/tenon/internal/watch"
)

// Watch tells when a schema file has changed, come or gone, a skill, a prompt, a
// shared list, the selection or the index of the libraries.
func (s *Source) Watch(ctx context.Context, changed func()) error {
	held := func() watch.Held {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.held
	}
	return watch.Files{Held: held, Paths: s.files}.Watch(ctx, changed)
}

// files lists what a load reads, and the folders in which more may appear.
func (s *Source) files() []string {
	paths := []string{s.spec}
	folders := map[string]bool{}
	schemas, err := schemaFiles(s.spec)
	if err == nil {
		paths = append(paths, schemas...)
	}
	for _, file := range schemas {
		if folders[filepath.Dir(file)] {
			continue
		}
		folders[filepath.Dir(file)] = true
		for _, texts := range []string{"skills", "prompts"} {
			found, _ := filepath.Glob(filepath.Join(filepath.Dir(file), texts, "*.mjs"))
			paths = append(append(paths, filepath.Join(filepath.Dir(file), texts)), found...)
		}
		lists := s.options.Lists
		if lists == "" {
			lists = listsNear(file)
		}
		if lists != "" && !folders[lists] {
			folders[lists] = true
			found, _ := filepath.Glob(filepath.Join(lists, "*.mjs"))
			paths = append(paths, found...)
		}
	}
	if choice := s.options.Selection; choice != "" {
		found, _ := filepath.Glob(filepath.Join(filepath.Dir(choice), "*", "*.mjs")) // texts of its own
		paths = append(append(paths, choice), found...)
	}
	if dir := s.options.LibraryDir; dir != "" {
		paths = append(paths, filepath.Join(dir, indexFile))
	}
	return append(paths, slices.Collect(maps.Keys(folders))...)
}
