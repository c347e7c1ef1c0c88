package host

import (
	"context"
	"os"
	"path/filepath"

	"github.com/tenon-mcp/tenon/functionapp"
	"github.com/tenon-mcp/tenon/internal/watch"
)

// Watch reports changes of the files that describe the app, and added or
// removed functions. The worker's own files are not watched.
func (s *Source) Watch(ctx context.Context, changed func()) error {
	held := func() watch.Sums {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.held
	}
	return watch.Files{Recorded: held, Paths: s.files}.Watch(ctx, changed)
}

// files lists the files that Read reads and the folders in which functions
// appear.
func (s *Source) files() []string {
	paths := []string{s.dir, filepath.Join(s.dir, functionapp.HostFile), filepath.Join(s.dir, functionapp.SettingsFile)}
	entries, _ := os.ReadDir(s.dir) // an error shows in its files
	for _, e := range entries {
		if e.IsDir() {
			folder := filepath.Join(s.dir, e.Name())
			paths = append(paths, folder)
			if file := filepath.Join(folder, functionapp.FunctionFile); exists(file) {
				paths = append(paths, file)
			}
		}
	}
	return paths[:min(len(paths), 3*maxFunctions)]
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
