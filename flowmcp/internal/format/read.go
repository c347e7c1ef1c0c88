package flowmcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
)

// Bounds of a folder.
const (
	maxFiles  = 20_000
	maxFolder = 16 // levels
)

// readFiles reads the schema files under spec, in the order of their paths.
func readFiles(ctx context.Context, spec string, o Options, tests bool) ([]*file, error) {
	paths, err := schemaFiles(spec)
	if err != nil {
		return nil, &tenon.Error{Code: tenon.CodeBadSource, Message: "read " + spec, Err: err}
	}
	shelves := map[string]*shelf{}
	var files []*file
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		text, err := readFile(path)
		if err != nil && len(paths) == 1 {
			return nil, &tenon.Error{Code: tenon.CodeBadSource, Message: "read " + path, Err: err}
		}
		if err != nil {
			files = append(files, &file{path: path, failed: true, findings: []Finding{{Code: "VAL001", Severity: Fatal, Path: "file", Message: err.Error()}}})
			continue
		}
		files = append(files, readSchema(path, text, rules{strict: o.Strict, tests: tests, callers: o.CallerMarks, libraries: o.Libraries, shelf: shelfFor(shelves, path, o), reads: o.HandlerReads, writes: o.HandlerWrites}))
	}
	return files, nil
}

// unreadable is an error where no file has a main that could be looked at:
// such files describe nothing, as a document describes nothing that is no JSON.
// What is wrong inside a main costs only the part that it is in.
func unreadable(spec string, files []*file) error {
	if slices.ContainsFunc(files, func(f *file) bool { return f.main.is(objectKind) }) {
		return nil
	}
	first := files[0]
	if kind := kindOf(first.path); kind != "" {
		return &tenon.Error{Code: tenon.CodeBadSource, Message: first.path + " is a " + kind + " and no schema file; 'tenon flowmcp check' checks it"}
	}
	message := first.path + ": cannot be read"
	if len(first.findings) > 0 {
		x := first.findings[0]
		message = tenon.Diagnostic{File: first.path, Line: x.Line, Message: x.Code + " " + x.Path + ": " + x.Message}.String()
	}
	if len(files) > 1 {
		message = fmt.Sprintf("none of the %d schema files of %s can be read; the first is %s", len(files), spec, message)
	}
	return &tenon.Error{Code: tenon.CodeBadSource, Message: message}
}

func shelfFor(shelves map[string]*shelf, path string, o Options) *shelf {
	dir := o.Lists
	if dir == "" {
		dir = listsNear(path)
	}
	if shelves[dir] == nil {
		shelves[dir] = newShelf(dir, o.Strict)
	}
	return shelves[dir]
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// schemaFiles lists the schema files of a folder, or the one file. Names that
// begin with _ or . and the folders of other things are left out.
func schemaFiles(spec string) ([]string, error) {
	info, err := os.Stat(spec)
	if err != nil {
		return nil, plain(err)
	}
	if !info.IsDir() {
		return []string{spec}, nil
	}
	var paths []string
	err = filepath.WalkDir(spec, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return plain(err)
		case path != spec && d.IsDir() && (hidden(d.Name()) || otherThing(d.Name())):
			return filepath.SkipDir
		case d.IsDir() && strings.Count(path, string(filepath.Separator))-strings.Count(spec, string(filepath.Separator)) > maxFolder:
			return filepath.SkipDir
		case d.IsDir() || hidden(d.Name()) || filepath.Ext(path) != ".mjs":
			return nil
		}
		if paths = append(paths, path); len(paths) > maxFiles {
			return fmt.Errorf("more than %d files", maxFiles)
		}
		return nil
	})
	if err == nil && paths == nil {
		err = errors.New("the folder has no schema files (.mjs)")
	}
	return paths, err
}

func hidden(name string) bool { return strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") }

func otherThing(name string) bool {
	switch name {
	case "skills", "prompts", "resources", "selections", "agents", "node_modules":
		return true
	}
	return false
}

func readFile(path string) ([]byte, error) { return readUpTo(path, maxFile) }

// readUpTo reads a file, and one byte more than limit where it is larger.
func readUpTo(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path) //nolint:gosec // the operator names the file or its folder
	if err != nil {
		return nil, plain(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, plain(err)
	}
	return text, nil
}

// plain takes the path out of an error that is printed behind the path.
func plain(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}
