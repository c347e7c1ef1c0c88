package library

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/flowmcp/internal/format"
)

// Registry is the file registry.json of a catalog: a folder with lists,
// providers and selections. Its paths are below that folder.
type Registry struct {
	Name        string           `json:"name"` // of the folder
	Version     string           `json:"version"`
	Description string           `json:"description"`
	SchemaSpec  string           `json:"schemaSpec"`
	ContentHash string           `json:"contentHash,omitempty"` // SHA-256 of "path:content\n" of all files that are named, sorted by path
	Shared      []RegistryFile   `json:"shared"`
	Schemas     []RegistrySchema `json:"schemas"`
	Agents      []RegistryFile   `json:"agents"`
	Selections  []RegistryFile   `json:"selections,omitempty"`
}

// RegistryFile names a file of a catalog.
type RegistryFile struct {
	File        string `json:"file,omitempty"`
	Manifest    string `json:"manifest,omitempty"` // of an agent
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
}

// RegistrySchema names a schema file of a catalog.
type RegistrySchema struct {
	Namespace            string   `json:"namespace"`
	File                 string   `json:"file"`
	Name                 string   `json:"name"`
	RequiredServerParams []string `json:"requiredServerParams"`
	HasHandlers          bool     `json:"hasHandlers"`
	SharedLists          []string `json:"sharedLists"`
}

// MakeRegistry describes the catalog in a folder. Version and description are
// taken from the existing registry.
func MakeRegistry(ctx context.Context, dir string) (Registry, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Registry{}, err
	}
	r := Registry{Name: filepath.Base(abs), Version: "1.0.0", SchemaSpec: "4.0.0", Shared: []RegistryFile{}, Schemas: []RegistrySchema{}, Agents: []RegistryFile{}}
	if old, err := readRegistry(dir); err == nil {
		r.Version, r.Description, r.Agents = old.Version, old.Description, append(r.Agents, old.Agents...)
	}
	files, err := format.ReadFiles(ctx, filepath.Join(dir, "providers"), format.Options{}, false)
	if err != nil {
		return r, err
	}
	for _, f := range files {
		lists := []string{}
		for _, n := range f.Main.Get("sharedLists").List() {
			lists = append(lists, n.Get("ref").Str())
		}
		r.Schemas = append(r.Schemas, RegistrySchema{
			Namespace: f.Namespace, File: below(dir, f.Path), Name: f.Name, HasHandlers: f.Handlers.Line > 0, SharedLists: lists,
			RequiredServerParams: append([]string{}, f.Main.Get("requiredServerParams").Strings()...),
		})
	}
	for _, folder := range []string{"_lists", "_shared"} {
		lists, err := format.SharedLists(filepath.Join(dir, folder))
		for _, l := range lists {
			r.Shared = append(r.Shared, RegistryFile{File: below(dir, l.File), Name: l.Name})
		}
		if err == nil {
			break
		}
	}
	for _, path := range format.SelectionsIn(dir) {
		s, _ := format.ReadSelection(path, format.Options{})
		r.Selections = append(r.Selections, RegistryFile{File: below(dir, path), Name: s.Name})
	}
	r.ContentHash, err = r.hash(dir)
	return r, err
}

func below(dir, path string) string {
	rest, err := filepath.Rel(dir, path)
	if err != nil {
		return filepath.ToSlash(path)
	}
	return filepath.ToSlash(rest)
}

func readRegistry(dir string) (Registry, error) {
	var r Registry
	const most = 16 << 20
	text, err := format.ReadUpTo(filepath.Join(dir, "registry.json"), most)
	if err == nil && len(text) > most {
		err = fmt.Errorf("it is larger than %d bytes", most)
	}
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	return r, err
}

// paths returns all files that a registry names, each with the code of the rule
// for it.
func (r *Registry) paths() (paths, codes []string) {
	add := func(code, path string) {
		if path != "" {
			paths, codes = append(paths, path), append(codes, code)
		}
	}
	for _, f := range r.Shared {
		add("CAT003", f.File)
	}
	for _, f := range r.Schemas {
		add("CAT004", f.File)
	}
	for _, f := range r.Agents {
		add("CAT005", f.Manifest)
	}
	for _, f := range r.Selections {
		add("CAT005", f.File)
	}
	return paths, codes
}

// hash computes the contentHash of the files.
func (r *Registry) hash(dir string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", format.WithoutPath(err)
	}
	defer root.Close()
	paths, _ := r.paths()
	slices.Sort(paths)
	sum := sha256.New()
	for _, path := range slices.Compact(paths) {
		text, err := root.ReadFile(filepath.FromSlash(path))
		if err != nil {
			return "", fmt.Errorf("%s: %w", path, format.WithoutPath(err))
		}
		sum.Write([]byte(path + ":"))
		sum.Write(text)
		sum.Write([]byte("\n"))
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// CheckRegistry compares the registry of a catalog with its folder.
func CheckRegistry(dir string) []Finding {
	var all []Finding
	add := func(code string, s Severity, path, message string, args ...any) {
		all = append(all, Finding{Code: code, Severity: s, Path: path, Message: fmt.Sprintf(message, args...)})
	}
	r, err := readRegistry(dir)
	if err != nil {
		add("CAT001", format.Fatal, "registry.json", "cannot be read: %v", format.WithoutPath(err))
		return all
	}
	if abs, err := filepath.Abs(dir); err == nil && r.Name != filepath.Base(abs) {
		add("CAT002", format.Fatal, "name", "is %q in the folder %q", r.Name, filepath.Base(abs))
	}
	if !format.Semver.MatchString(r.SchemaSpec) || !strings.Contains("234", r.SchemaSpec[:1]) {
		add("CAT007", format.Fatal, "schemaSpec", "%q is not known", r.SchemaSpec)
	}
	paths, codes := r.paths()
	named, missing := map[string]bool{}, false
	for i, path := range paths {
		named[path] = true
		if _, err := format.Inside(dir, filepath.FromSlash(path)); err != nil {
			missing = true
			add(codes[i], format.Fatal, path, "is listed, but is not a file below the folder")
		}
	}
	orphans(dir, named, func(path string) { add("CAT006", format.Warning, path, "is not listed") })
	if r.ContentHash != "" && !missing {
		if sum, err := r.hash(dir); err == nil && sum != strings.TrimPrefix(r.ContentHash, "sha256:") {
			add("CAT008", format.Warning, "contentHash", "does not match the files; it is %s", sum)
		}
	}
	return all
}

// orphans reports the schema files that a registry does not name.
func orphans(dir string, named map[string]bool, tell func(path string)) {
	files, err := format.SchemaFiles(filepath.Join(dir, "providers"))
	if err != nil {
		return
	}
	for _, path := range files {
		if rest := below(dir, path); !named[rest] && fs.ValidPath(rest) {
			tell(rest)
		}
	}
}
