package worker

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/tenon-mcp/tenon/functionapp"
)

// generator marks the files that Emit may delete.
const generator = "tenon"

// File is a file of the app's folder.
type File struct {
	Path string // relative path, with slashes
	Text []byte
}

// Files returns host.json and a function.json for each function. The output is
// deterministic.
func (a *App) Files() ([]File, error) {
	if err := a.Err(); err != nil {
		return nil, err
	}
	host := functionapp.Host{
		Server:     functionapp.ServerInfo{Name: a.o.Name, Version: a.o.Version, Instructions: a.o.Instructions},
		Anonymous:  a.o.Anonymous,
		Timeout:    a.o.Timeout,
		Bundle:     "[4.*, 5.0.0)",
		Executable: a.o.Executable,
	}
	files := []File{{functionapp.HostFile, host.Append(nil)}}
	add := func(f function, binding functionapp.Object) {
		files = append(files, File{path.Join(f.folder(), functionapp.FunctionFile), functionText(binding)})
	}
	catalog := a.gateway().Catalog()
	for _, t := range a.tools {
		described, err := t.describe(catalog.Find(t.described.Name))
		if err != nil {
			return nil, err
		}
		add(t.function, described.Object())
	}
	for _, r := range a.resources {
		described := r.described
		described.Meta = metaText(r.meta)
		add(r.function, described.Object())
	}
	for _, p := range a.prompts {
		described := p.described
		described.Meta = metaText(p.meta)
		add(p.function, described.Object())
	}
	return files, nil
}

func functionText(binding functionapp.Object) []byte {
	mark := functionapp.Member{Key: "generatedBy", Value: []byte(`"` + generator + `"`)}
	return functionapp.Function{Bindings: []functionapp.Object{binding}, Others: functionapp.Object{mark}}.Append(nil)
}

// Change is a file of the folder that differs from the app.
type Change struct {
	Path string
	What string // "missing", "different" or "left over" (of a removed function)
	text []byte
}

// String formats c as "path: what".
func (c Change) String() string { return c.Path + ": " + c.What }

// Check compares the folder with the app without changing it.
func (a *App) Check(folder string) ([]Change, error) {
	files, err := a.Files()
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return missing(files), nil
	}
	if err != nil {
		return nil, err
	}
	changes, err := compare(root.FS(), files)
	return changes, errors.Join(err, root.Close())
}

func missing(files []File) (changes []Change) {
	for _, f := range files {
		changes = append(changes, Change{f.Path, "missing", f.Text})
	}
	return changes
}

func compare(folder fs.FS, files []File) ([]Change, error) {
	var changes []Change
	for _, f := range files {
		there, err := fs.ReadFile(folder, f.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			changes = append(changes, Change{f.Path, "missing", f.Text})
		case err != nil:
			return nil, err
		case !bytes.Equal(there, f.Text):
			changes = append(changes, Change{f.Path, "different", f.Text})
		}
	}
	old, err := fs.Glob(folder, "*/"+functionapp.FunctionFile)
	if err != nil {
		return nil, err
	}
	for _, file := range old {
		if !slices.ContainsFunc(files, func(f File) bool { return f.Path == file }) && ours(folder, file) {
			changes = append(changes, Change{Path: file, What: "left over"})
		}
	}
	return changes, nil
}

// ours reports whether an earlier Emit wrote the file; false for unreadable
// files.
func ours(folder fs.FS, file string) bool {
	text, err := fs.ReadFile(folder, file)
	if err != nil {
		return false
	}
	f, err := functionapp.ParseFunction(text)
	if err != nil {
		return false
	}
	mark, _ := f.Others.Text("generatedBy")
	return mark == generator
}

// settings are for development hosts. They are created where missing and never
// overwritten.
const settings = `{
  "IsEncrypted": false,
  "Values": {
    "FUNCTIONS_WORKER_RUNTIME": "custom",
    "AzureWebJobsStorage": "UseDevelopmentStorage=true"
  }
}
`

// Emit updates the folder of the app: it writes missing and different files and
// deletes those of removed functions that an earlier Emit wrote. It returns the
// changes.
func (a *App) Emit(folder string) ([]Change, error) {
	changes, err := a.Check(folder)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if _, err := root.Stat(functionapp.SettingsFile); errors.Is(err, fs.ErrNotExist) {
		changes = append(changes, Change{functionapp.SettingsFile, "missing", []byte(settings)})
	}
	for _, c := range changes {
		if err := apply(root, c); err != nil {
			return nil, fmt.Errorf("write %s: %w", c.Path, err)
		}
	}
	return changes, nil
}

// apply makes one change. Files are written atomically, because hosts watch the
// folder.
func apply(root *os.Root, c Change) error {
	if c.text == nil {
		if err := root.Remove(c.Path); err != nil {
			return err
		}
		if err := root.Remove(path.Dir(c.Path)); err != nil {
			return nil //nolint:nilerr // the folder contains other files and stays
		}
		return nil
	}
	if err := root.MkdirAll(path.Dir(c.Path), 0o755); err != nil {
		return err
	}
	beside := c.Path + ".new"
	if err := root.WriteFile(beside, c.text, 0o644); err != nil {
		return err
	}
	return root.Rename(beside, c.Path)
}
