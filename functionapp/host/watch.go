package host

import (
	"context"
	"os"
	"path/filepath"

	"github.com/tenon-mcp/tenon/functionapp"
	"github.com/tenon-mcp/tenon/internal/watch"
)

// Watch tells when a file that describes the app has changed, or a function
// came or went. The worker's own files are its own affair.
func (s *Source) Watch(ctx context.Context, changed func()) error {
	held := func() watch.Held {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.held
	}
	return watch.Files{Held: held, Paths: s.files}.Watch(ctx, changed)
}

// files lists what Read reads, and the folders in which functions appear.
func (s *Source) files() []string {
	paths := []string{s.dir, filepath.Join(s.dir, functionapp.HostFile), filepath.Join(s.dir, functionapp.SettingsFile)}
	entries, _ := os.ReadDir(s.dir) // that it cannot be read shows in its files
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
