package flowmcp

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/tenon-mcp/tenon/flowmcp/internal/format"
	"github.com/tenon-mcp/tenon/internal/watch"
)

// Watch reports changes of schema files, skills, prompts, shared lists, the
// selection and the index of the libraries.
func (s *Source) Watch(ctx context.Context, changed func()) error {
	held := func() watch.Sums {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.held
	}
	return watch.Files{Recorded: held, Paths: s.files}.Watch(ctx, changed)
}

// Files are the schema files, texts, shared lists and selections on disk that a
// load reads, sorted; without those of libraries, and without data.
func (s *Source) Files() []string {
	var all []string
	for _, name := range s.files() {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && filepath.Base(name) != format.IndexFile {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// files lists the files that a load reads and the folders in which more may
// appear.
func (s *Source) files() []string {
	paths := []string{s.spec}
	folders := map[string]bool{}
	schemas, err := format.SchemaFiles(s.spec)
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
		lists := s.options.ListsDir
		if lists == "" {
			lists = format.ListsNear(file)
		}
		if lists != "" && !folders[lists] {
			folders[lists] = true
			found, _ := filepath.Glob(filepath.Join(lists, "*.mjs"))
			paths = append(paths, found...)
		}
	}
	if choice := s.options.Selection; choice != "" {
		found, _ := filepath.Glob(filepath.Join(filepath.Dir(choice), "*", "*.mjs")) // its own texts
		paths = append(append(paths, choice), found...)
	}
	if dir := s.options.LibraryDir; dir != "" {
		paths = append(paths, filepath.Join(dir, format.IndexFile))
	}
	return append(paths, slices.Collect(maps.Keys(folders))...)
}
