package flowmcp

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

// MakeRegistry describes the catalog in a folder. What the files do not say,
// version and description, is taken from the registry that is there.
func MakeRegistry(ctx context.Context, dir string) (Registry, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Registry{}, err
	}
	r := Registry{Name: filepath.Base(abs), Version: "1.0.0", SchemaSpec: "4.0.0", Shared: []RegistryFile{}, Schemas: []RegistrySchema{}, Agents: []RegistryFile{}}
	if old, err := readRegistry(dir); err == nil {
		r.Version, r.Description, r.Agents = old.Version, old.Description, append(r.Agents, old.Agents...)
	}
	files, err := readFiles(ctx, filepath.Join(dir, "providers"), Options{}, false)
	if err != nil {
		return r, err
	}
	for _, f := range files {
		lists := []string{}
		for _, n := range f.main.get("sharedLists").list() {
			lists = append(lists, n.get("ref").str())
		}
		r.Schemas = append(r.Schemas, RegistrySchema{
			Namespace: f.namespace, File: below(dir, f.path), Name: f.name, HasHandlers: f.handlers.line > 0, SharedLists: lists,
			RequiredServerParams: append([]string{}, f.main.get("requiredServerParams").strs()...),
		})
	}
	for _, folder := range []string{"_lists", "_shared"} {
		lists, err := SharedLists(filepath.Join(dir, folder))
		for _, l := range lists {
			r.Shared = append(r.Shared, RegistryFile{File: below(dir, l.File), Name: l.Name})
		}
		if err == nil {
			break
		}
	}
	for _, path := range selectionsIn(dir) {
		s, _ := readSelection(path, Options{})
		r.Selections = append(r.Selections, RegistryFile{File: below(dir, path), Name: s.name})
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
	text, err := readUpTo(filepath.Join(dir, "registry.json"), most)
	if err == nil && len(text) > most {
		err = fmt.Errorf("it is larger than %d bytes", most)
	}
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	return r, err
}

// paths are all files that a registry names, with where it names them.
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

// hash is the contentHash of the files as they are.
func (r *Registry) hash(dir string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", plain(err)
	}
	defer root.Close()
	paths, _ := r.paths()
	slices.Sort(paths)
	sum := sha256.New()
	for _, path := range slices.Compact(paths) {
		text, err := root.ReadFile(filepath.FromSlash(path))
		if err != nil {
			return "", fmt.Errorf("%s: %w", path, plain(err))
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
	add := func(code string, s Severity, path, format string, args ...any) {
		all = append(all, Finding{Code: code, Severity: s, Path: path, Message: fmt.Sprintf(format, args...)})
	}
	r, err := readRegistry(dir)
	if err != nil {
		add("CAT001", Fatal, "registry.json", "cannot be read: %v", plain(err))
		return all
	}
	if abs, err := filepath.Abs(dir); err == nil && r.Name != filepath.Base(abs) {
		add("CAT002", Fatal, "name", "is %q in the folder %q", r.Name, filepath.Base(abs))
	}
	if !semver.MatchString(r.SchemaSpec) || !strings.Contains("234", r.SchemaSpec[:1]) {
		add("CAT007", Fatal, "schemaSpec", "%q is not known", r.SchemaSpec)
	}
	paths, codes := r.paths()
	named, missing := map[string]bool{}, false
	for i, path := range paths {
		named[path] = true
		if _, err := inside(dir, filepath.FromSlash(path)); err != nil {
			missing = true
			add(codes[i], Fatal, path, "is named, and is no file below the folder")
		}
	}
	orphans(dir, named, func(path string) { add("CAT006", Warning, path, "is not named") })
	if r.ContentHash != "" && !missing {
		if sum, err := r.hash(dir); err == nil && sum != strings.TrimPrefix(r.ContentHash, "sha256:") {
			add("CAT008", Warning, "contentHash", "is not that of the files, which is %s", sum)
		}
	}
	return all
}

// orphans tells the schema files that a registry does not name.
func orphans(dir string, named map[string]bool, tell func(path string)) {
	files, err := schemaFiles(filepath.Join(dir, "providers"))
	if err != nil {
		return
	}
	for _, path := range files {
		if rest := below(dir, path); !named[rest] && fs.ValidPath(rest) {
			tell(rest)
		}
	}
}
