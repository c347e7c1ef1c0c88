package clientconfig

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Command is how a client starts tenon: the words before "serve". self is the
// running program, absolute and without links, temp the system's folder for
// temporary files. A program that may be gone tomorrow is refused, or started by the
// package manager that brought it.
func Command(self, temp string, s System) ([]string, error) {
	parts := strings.Split(filepath.ToSlash(strings.ToLower(self)), "/")
	has := func(name string) bool { return slices.Contains(parts, name) }
	switch {
	case slices.ContainsFunc(parts, func(p string) bool { return strings.HasPrefix(p, "go-build") }):
		return nil, fmt.Errorf("%s was built by 'go run' and will be gone; 'go install' keeps it, or name another tenon with --binary", self)
	case has("_npx"): // the cache of npx, https://docs.npmjs.com/cli/commands/npx
		words := []string{"npx", "-y", "tenon-mcp"}
		if s.OS == "windows" { // npx is a script there
			words = append([]string{"cmd", "/c"}, words...)
		}
		return words, nil
	case has("uv") && slices.ContainsFunc(parts, func(p string) bool {
		return strings.HasPrefix(p, "archive-v") || strings.HasPrefix(p, "environments-v")
	}):
		return []string{"uvx", "tenon-mcp"}, nil // the cache of uvx, https://docs.astral.sh/uv/concepts/cache/
	}
	for _, dir := range []string{temp, "/tmp", "/var/tmp", "/private/tmp", "/var/folders", "/private/var/folders"} {
		if rest, err := filepath.Rel(dir, self); dir != "" && err == nil && filepath.IsLocal(rest) {
			return nil, fmt.Errorf("%s is in a folder for temporary files and may be gone tomorrow; put it elsewhere, or name another tenon with --binary", self)
		}
	}
	return []string{self}, nil
}
